/* vocab.h - opens vocabularies; reads words to learn one. */
#ifndef CMD_CONTENT_VOCAB_H
#define CMD_CONTENT_VOCAB_H

#include "cmd/formats/record.h"

/* Loads a tokenizer.json or a vocab.txt, and prints its note about the file. Exits with 3 on
 * failure.
 */
struct ran_tokenizer *cmd_vocab_open(const char *path);

/* Scratch for reading words, one a thread. Zero-initialise. */
struct cmd_vocab_words {
        bool pairs; /* set by the caller: of source and target only */
        struct ran_encoding encoding;
        struct ran_buf text;
};
void cmd_vocab_words_release(struct cmd_vocab_words *w);
/* One on the heap, for cmd_loop.free_scratch. */
void cmd_vocab_words_free(void *words);

/* Appends the words of a record for ran_counter_add: of tokens, else of text, else of source and
 * target. RAN_EFORMAT when it has none of these members. */
int cmd_vocab_words_read(struct cmd_vocab_words *w, const struct record *record,
                         const struct ran_counter *counter, struct ran_buf *words,
                         struct ran_error *err);

#endif
