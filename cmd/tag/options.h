/* options.h - the options of ran-tag. */
#ifndef CMD_TAG_OPTIONS_H
#define CMD_TAG_OPTIONS_H

#include "cmd/options/options.h"
#include "cmd/content/document.h"
#include "cmd/records/io.h"

/* And then 2 + RAN_SEGMENT_... */
enum { TAG_SPLIT_AUTO, TAG_SPLIT_VOCABULARY, TAG_SPLIT_SEGMENT };

struct tag_options {
        char *model, *label_names, *conll_out;
        bool verify, logits, eval, conlleval;
        int eval_format, output_format, offsets, split_at;
};
extern struct tag_options tag_options;
extern struct cmd_document_options tag_document_options;
extern struct cmd_input tag_input;
extern struct cmd_output tag_output;
extern const struct cmd_program tag_program;

/* Exits with 2 if options do not go together. */
void tag_options_check(void);

#endif
