/* perplexity.h - how likely texts are, in numbers that can be compared. */
#ifndef CMD_LM_PERPLEXITY_H
#define CMD_LM_PERPLEXITY_H

#include "cmd/records/document.h"
#include "ran.h"

/* Sums over predicted tokens. Those of a whole are the sums of those of its parts; perplexities are
 * made of sums at the end, never averaged. Zero-initialise. */
struct perplexity {
        size_t records;
        double nll;         /* nats */
        double nll_unknown; /* that of the unknown words */
        size_t tokens, unknown;
        size_t words, bytes; /* of the texts that the tokens are from */
        size_t uncounted;    /* records of which these are not known: bare ids, encodings */
};
void perplexity_add_token(struct perplexity *f, double nll, bool unknown);
/* Adds the words and bytes of a text, or of a list of words that stands in the member `words_name`:
 * what white space parts is a word, and each line feed is one, and so is the end of the document if
 * that was predicted. These would be the tokens of a vocabulary of all words with an end-of-line
 * token, so that perplexity per word does not depend on the vocabulary that there is. */
int perplexity_count(struct perplexity *f, const struct cmd_document *d,
                     const struct ran_record *record, const char *words_name, bool ended,
                     struct ran_buf *scratch, struct ran_error *err);
/* Code points of a text. */
size_t perplexity_points(const struct ran_buf *text);
void perplexity_merge(struct perplexity *f, const struct perplexity *from);
/* The members of an object, without its braces. */
void perplexity_json(const struct perplexity *f, struct ran_buf *out);

#endif
