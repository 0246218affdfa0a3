/* options.h - the options of ran-classify. */
#ifndef CMD_CLASSIFY_OPTIONS_H
#define CMD_CLASSIFY_OPTIONS_H

#include "cmd/classify/evidence.h"
#include "cmd/options/options.h"
#include "cmd/content/document.h"
#include "cmd/records/io.h"

enum {
        CLASSIFY_EVAL_JSON,
        CLASSIFY_EVAL_TEXT,
        CLASSIFY_EVAL_CSV,
        CLASSIFY_EVAL_TSV,
        CLASSIFY_EVAL_HTML
};

struct classify_options {
        char *model, *labels, *label_texts, *label_names, *cost, *against, *vector_cache;
        struct ran_list threshold_for, among;
        size_t top, nearest, select;
        double threshold, coverage, least;
        bool abstain, probs, logits, embed, eval, verify;
        int eval_format;  /* CLASSIFY_EVAL_... */
        int join_windows; /* RAN_UPPER_..., or 0: as the model says */
        int output_format, among_format;
        struct classify_evidence_options evidence;
        struct cmd_document_options document;
        struct cmd_input input;
        struct cmd_output output;
};
extern const struct cmd_program classify_program;

/* The only one there is. */
extern struct classify_options classify_options;
/* Whether vectors of documents are needed. */
bool classify_options_embed(const struct classify_options *o);
/* Exits with 2 if options contradict each other or the model. */
void classify_options_check(struct classify_options *o);
void classify_options_check_model(const struct classify_options *o, const struct ran_model *m);

#endif
