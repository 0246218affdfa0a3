/* text.h - a tokeniser as a file: tokenizer.json and vocab.txt. */
#ifndef RAN_TEXT_HF_TEXT_H
#define RAN_TEXT_HF_TEXT_H

#include "text/tokenizer.h"

/* Writes the text, unless it is there. Any thread may call it. */
const struct ran_tokenizer_text *ran_tokenizer_text(const struct ran_tokenizer *t);

/* read.c and vocab-txt.c: the two kinds of files. */
/* exact: as an encoder needs it that others have trained, also where the rules would do otherwise:
 * ids and offsets are those of the library of Hugging Face, and the text that is written keeps the
 * post_processor, so that ran_tokenizer_load reads it alike. */
struct ran_tokenizer *ran_tokenizer_read_json(const char *data, size_t n, bool exact,
                                              struct ran_error *err);
/* Adds the tokens of a vocab.txt, one a line. */
int ran_tokenizer_add_lines(struct ran_tokenizer *t, const char *data, size_t n,
                            struct ran_error *err);
/* That of FOLDER/BASE, where BASE may be "". lower: texts are made lower case before all else. The
 * sentence begins with the file inside of FOLDER, or with "it has". */
struct ran_tokenizer *ran_tokenizer_read_folder(const char *folder, const char *base, bool lower,
                                                struct ran_error *err);
/* A vocab.txt as settings say, of which those for learning have no meaning; or as BERT reads it:
 * cased if a token has a capital letter. RAN_EFORMAT. */
struct ran_tokenizer *ran_tokenizer_import(const char *data, size_t n,
                                           const struct ran_vocab_settings *settings,
                                           struct ran_error *err);
struct ran_tokenizer *ran_tokenizer_read_lines(const char *data, size_t n, struct ran_error *err);

#endif
