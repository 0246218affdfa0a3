/* vocab.h - vocabularies for the programs that read or learn one. */
#ifndef CMD_RECORDS_VOCAB_H
#define CMD_RECORDS_VOCAB_H

#include "ran.h"

/* Loads a tokenizer.json or a vocab.txt; says what the file leaves open. Dies with 3. */
struct ran_tokenizer *cmd_vocab_open(const char *path);

/* Scratch for reading words, one a thread. Zero-initialise. */
struct cmd_vocab_words {
        bool pairs; /* set by the caller: those of source and target, whatever else there is */
        struct ran_encoding encoding;
        struct ran_buf text;
};
void cmd_vocab_words_release(struct cmd_vocab_words *w);

/* Members that words are read from, for cmd_loop.reads. */
#define CMD_VOCAB_WORDS_MEMBERS "tokens", "text", "data", "source", "target"

/* Appends the words of a record for ran_counter_add: those of tokens, else of text, else of source
 * and target. RAN_EFORMAT when it has none of these members. */
int cmd_vocab_words_read(struct cmd_vocab_words *w, const struct ran_record *record,
                         const struct ran_counter *counter, struct ran_buf *words,
                         struct ran_error *err);

#endif
