/* ran/eval.h - metrics of classifiers and taggers. Conventions: ran.h. */
#ifndef RAN_RAN_EVAL_H
#define RAN_RAN_EVAL_H

#include "ran/base.h"
#include "ran/record.h"

#include <stdio.h>

/* ---- metrics (eval/) ------------------------------------------------------------------------ */

/* Counts and sums (in double) over scored documents of a classifier. What is added in the same
 * order gives the same numbers to the last bit. */
struct ran_eval;
/* names (C): not owned, or NULL for "0", "1" ...; multilabel: any number of labels a document. */
struct ran_eval *ran_eval_new(size_t C, const char *const *names, bool multilabel,
                              struct ran_error *err);
void ran_eval_free(struct ran_eval *e);
/* Before the first document, of a model with one label: counts sets, too, of the classes with p >=
 * cut. */
void ran_eval_sets(struct ran_eval *e, float cut);
/* One document: its gold classes (n_gold of them, each < C; exactly one with a single label, unless
 * it is unknown), how many more gold labels it has that the model does not know (they count as
 * missed), and probabilities p (C). thresholds (C) decide with several labels; NULL: 0.5. Can fail
 * for lack of memory only, and then adds nothing. */
int ran_eval_add(struct ran_eval *e, const uint32_t *gold, size_t n_gold, size_t unknown,
                 const float *p, const float *thresholds, struct ran_error *err);
/* Remembers the name of an unknown label for the report (the first hundred; all are counted). */
int ran_eval_unknown(struct ran_eval *e, const char *name, size_t n, struct ran_error *err);
/* Adds all that `from` holds to e; same C and kind. On failure, for lack of memory, only a part. */
int ran_eval_merge(struct ran_eval *e, const struct ran_eval *from, struct ran_error *err);

struct ran_prf {
        double precision, recall, f1; /* 0 where the denominator is 0 */
};
struct ran_eval_class {
        size_t tp, fp, fn, support;
        struct ran_prf rates;
};
struct ran_eval_cell {
        uint32_t gold, predicted;
        size_t count;
};
struct ran_eval_label {
        char *name;
        size_t length, count;
};
enum { RAN_EVAL_TOP = 5, RAN_EVAL_BINS = 15 };
struct ran_eval_report {
        size_t n;         /* documents */
        size_t n_skipped; /* documents without a gold label: for the caller to set */
        size_t C;
        const char *const *names;
        bool multilabel;
        double accuracy; /* several labels: share of documents with exactly the gold set; NaN
                            without any */
        /* macro: mean over classes that are in the gold data or were predicted; weighted: by
         * support. */
        struct ran_prf micro, macro, weighted;
        /* Over the documents whose labels are all known (n_known); NaN without any.
         * One label: -log p of the gold class; sum over classes of (p - y)^2; confidence in the
         * predicted class against its accuracy. Several: binary, mean over documents and classes.
         * ece: 15 bins of equal width. */
        size_t n_known;
        double log_loss, brier, ece;
        double top[RAN_EVAL_TOP]; /* one label: top[k-1], share with gold among the k most probable
                                   */
        bool sets;                /* ran_eval_sets: */
        double covered, set_size; /* share of sets that hold the gold class; classes in the mean */
        double single, empty;     /* share of sets that hold one class, none */
        double single_accuracy;   /* of those that hold one; NaN without any */
        const struct ran_eval_class *classes; /* (C) */
        const struct ran_eval_cell
                *confusion; /* one label: cells above 0, by gold, then predicted */
        size_t cells;
        const struct ran_eval_label *unknown; /* by their bytes */
        size_t n_unknown, unknown_total;      /* names; occurrences */
};
/* The pointers in the report are e's and are good until e is added to or freed. */
void ran_eval_finish(struct ran_eval *e, struct ran_eval_report *report);
/* One JSON object; a table for people. */
void ran_eval_json(const struct ran_eval_report *report, struct ran_buf *out);
void ran_eval_text(const struct ran_eval_report *report, struct ran_buf *out);

/* What a tagger found of one type, or in all. */
struct ran_tag_score {
        const char *type; /* no NUL at its end; NULL in all */
        size_t length;
        size_t gold, found, correct; /* phrases, or entities */
        struct ran_prf rates;
};

/* The score of conlleval, the script of the CoNLL shared tasks, as its version of 2004-01-26
 * computes and prints it. Fed token by token with tags as they stand: the script takes any string,
 * knows IOB2 and IOB1 and more by rules of its own, and is blind to S-, L- and U-. */
struct ran_conll;
struct ran_conll *ran_conll_new(struct ran_error *err);
void ran_conll_free(struct ran_conll *c);
/* Can fail for lack of memory only. */
int ran_conll_add_token(struct ran_conll *c, const char *correct, size_t correct_n,
                        const char *guessed, size_t guessed_n, struct ran_error *err);
void ran_conll_end_sentence(struct ran_conll *c);

struct ran_conll_report {
        size_t tokens, correct_tokens;
        double accuracy; /* of tokens; 0 without any */
        struct ran_tag_score all;
        /* Those in the data or found, by their bytes. Rates of one can exceed 1: the script may
         * credit it with a phrase that it counted under another. */
        const struct ran_tag_score *types;
        size_t n_types;
};
/* The pointers in the report are c's and are good until c is added to or freed. */
void ran_conll_finish(struct ran_conll *c, struct ran_conll_report *report);
/* What the script prints, byte for byte; one JSON object (rates as shares of 1, as elsewhere). */
void ran_conll_text(const struct ran_conll_report *report, struct ran_buf *out);
void ran_conll_json(const struct ran_conll_report *report, struct ran_buf *out);

/* Reads the files of columns that the script reads, by its rules: fields between single spaces, the
 * last the guessed tag, the one before it the correct one. Set `in`, leave the rest zero. */
struct ran_conll_reader {
        FILE *in;                      /* the caller's */
        const char *correct, *guessed; /* of a token, good until the next call */
        size_t correct_n, guessed_n;
        int status;             /* of a refused file: what the script exits with */
        struct ran_buf message; /* and its message, newline included */
        char *line;
        size_t cap, fields;
};
enum ran_conll_line {
        RAN_CONLL_END, /* no more lines */
        RAN_CONLL_TOKEN,
        RAN_CONLL_BREAK,   /* the sentence ends: an empty line, or a boundary "-X-" */
        RAN_CONLL_REFUSED, /* the script gives up here, and prints no score */
        RAN_CONLL_FAILED,  /* the file cannot be read, or memory ran out: see err */
};
enum ran_conll_line ran_conll_read(struct ran_conll_reader *r, struct ran_error *err);
void ran_conll_reader_release(struct ran_conll_reader *r);

/* The strict score: an entity is right when its type and both its ends are. Only what is valid IOB2
 * counts, see ran_tags_entities. */
struct ran_strict;
struct ran_strict *ran_strict_new(struct ran_error *err);
void ran_strict_free(struct ran_strict *s);
/* A sentence of L tokens, in IOB2. Can fail for lack of memory only. */
int ran_strict_add(struct ran_strict *s, const struct ran_tag *gold, const struct ran_tag *found,
                   size_t L, struct ran_error *err);

struct ran_strict_report {
        size_t sentences, tokens;
        struct ran_tag_score all;          /* rates: micro average */
        struct ran_prf macro;              /* mean over the types */
        const struct ran_tag_score *types; /* those in the data or found, by their bytes */
        size_t n_types;
        /* Of the entities found that are not correct: those with the ends of one in the data and
         * another type; and those that share the type and a token, but not both ends. */
        size_t boundary_only, type_only;
        size_t invalid_gold, invalid_found; /* tags that IOB2 does not allow where they stand */
};
/* The pointers in the report are s's and are good until s is added to or freed. */
void ran_strict_finish(struct ran_strict *s, struct ran_strict_report *report);
/* One JSON object; a table for people. */
void ran_strict_json(const struct ran_strict_report *report, struct ran_buf *out);
void ran_strict_text(const struct ran_strict_report *report, struct ran_buf *out);

#endif
