/* perplexity.h - the perplexity of texts, in measures that can be compared. */
#ifndef CMD_LM_PERPLEXITY_H
#define CMD_LM_PERPLEXITY_H

#include "cmd/content/document.h"
#include "cmd/pages/report.h"
#include "ran.h"

/* Sums over predicted tokens. The sums of several texts add up; perplexities are computed from sums
 * at the end, never averaged. Zero-initialise. */
struct perplexity {
        size_t records;
        double nll;         /* nats */
        double nll_unknown; /* that of the unknown words */
        size_t tokens, unknown;
        size_t spelled;      /* bytes of the unknown words, and an end for each */
        size_t words, bytes; /* of the texts of these tokens */
        size_t uncounted;    /* records without known words: bare ids, encodings */
};
void perplexity_add_token(struct perplexity *p, double nll);
/* A word that the vocabulary lacks; bytes: of the word in the text. */
void perplexity_add_unknown(struct perplexity *p, double nll, size_t bytes);
double perplexity_unknown_share(const struct perplexity *p); /* of the tokens */
/* nll with `cost` bits for each byte and the end of each unknown word. That is the length of a code
 * for the text itself, which [UNK] alone is not: with PERPLEXITY_COST_UNIFORM or more, models with
 * different vocabularies compare. */
#define PERPLEXITY_COST_UNIFORM 8.005624549193879 /* log2(257): any byte, or the end */
double perplexity_spelled(const struct perplexity *p, double cost);
/* Adds the words and bytes of a text, or of the list of words in the member `words_name`. Words are
 * separated by white space; each line feed is a word, and so is the predicted end of the document.
 * These are the tokens of a vocabulary of all words with an end-of-line token, so perplexity per
 * word does not depend on the vocabulary of the model if it knows all words. */
int perplexity_count(struct perplexity *p, const struct cmd_document *d,
                     const struct record *record, const char *words_name, bool ended,
                     struct ran_buf *scratch, struct ran_error *err);
/* Code points of a text. */
size_t perplexity_points(const struct ran_buf *text);
void perplexity_merge(struct perplexity *p, const struct perplexity *from);
/* Adds the measures to a report; with a cost above 0, those of words and bytes have unknown words
 * spelled. all: people see all measures; else the few that stand beside a text. */
void perplexity_tree(const struct perplexity *p, double cost, bool all, struct report *r);

#endif
