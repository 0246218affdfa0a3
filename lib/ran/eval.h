/* ran/eval.h - metrics of classifiers and taggers. Conventions: ran.h. */
#ifndef RAN_RAN_EVAL_H
#define RAN_RAN_EVAL_H

#include "ran/base.h"
#include "ran/record.h"

#include <stdio.h>

/* ---- intervals (eval/interval.c) --------------------------------------------------------------
 */

/* 95 % confidence intervals: of a share, `hits` of n (n 0: 0 to 1), and of the F1 of `hits` true
 * positives with so many false positives and false negatives together. Documents, or entities,
 * count as independent. */
struct ran_interval {
        double low, high;
};
struct ran_interval ran_interval_share(double hits, double n);
struct ran_interval ran_interval_f1(double hits, double errors);

/* ---- metrics (eval/) ------------------------------------------------------------------------ */

size_t ran_most_probable(const float *p, size_t C); /* the first of equals */

/* Counts, and sums in double, over the scored documents of a classifier. The same documents in the
 * same order give the same bits. */
struct ran_eval;
/* names (C): the caller's, which must outlive e; NULL for "0", "1" ... multilabel: any number of
 * labels for a document. */
struct ran_eval *ran_eval_new(size_t C, const char *const *names, bool multilabel);
void ran_eval_free(struct ran_eval *e);
/* Also evaluates prediction sets: the classes with p >= cut. Call it before the first document; one
 * label only. */
void ran_eval_sets(struct ran_eval *e, float cut);
/* Adds a document: its n_gold gold classes (each < C; exactly one with a single label, unless that
 * is unknown), the number of further gold labels that the model does not know (they count as
 * missed), and its probabilities p (C). With several labels a class is predicted if p reaches its
 * threshold (C; NULL: 0.5). Fails only for lack of memory, and then adds nothing. */
void ran_eval_add(struct ran_eval *e, const uint32_t *gold, size_t n_gold, size_t unknown,
                  const float *p, const float *thresholds);
/* The same with a single label, gold NULL if it is unknown, where something else than p decided
 * which class is predicted; >= C: none. */
void ran_eval_add_decided(struct ran_eval *e, const uint32_t *gold, size_t unknown, const float *p,
                          uint32_t predicted);
/* Adds an unknown label to the report, which counts all of them and names the first hundred. */
void ran_eval_unknown(struct ran_eval *e, const char *name, size_t n);
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
        size_t n_skipped; /* documents without a gold label; the caller sets it */
        size_t C;
        const char *const *names;
        bool multilabel;
        double accuracy; /* several labels: share of documents whose set is exactly the gold set;
                            NaN without any */
        size_t most_frequent; /* one label: the gold class of most documents, */
        double baseline;      /* and the accuracy of always predicting it */
        /* macro: mean over the classes that are gold or predicted; weighted: by support. */
        struct ran_prf micro, macro, weighted;
        /* Over the n_known documents whose labels are all known; NaN without any. One label: mean
         * of -log p of the gold class, of the sum over classes of (p - y)^2, and the expected
         * calibration error. Several labels: the same for each class as a binary decision, mean
         * over documents and classes. ece: 15 bins of equal width. */
        size_t n_known;
        double log_loss, brier, ece;
        double top[RAN_EVAL_TOP]; /* one label: top[k-1], accuracy among the k most probable */
        bool sets;                /* of prediction sets (ran_eval_sets): */
        double covered, set_size; /* coverage: share with the gold class; mean size */
        double single, empty;     /* share with one class, with none */
        double single_accuracy;   /* of sets with one class; NaN without any */
        const struct ran_eval_class *classes; /* (C) */
        const struct ran_eval_cell
                *confusion; /* one label: cells above 0, ordered by gold, then predicted */
        size_t cells;
        const struct ran_eval_label *unknown; /* ordered by their bytes */
        size_t n_unknown, unknown_total;      /* names listed; occurrences of all */
};
/* Computes the report. Its pointers are e's, valid until e changes or is freed. */
void ran_eval_finish(struct ran_eval *e, struct ran_eval_report *report);

/* ---- labels that are probably wrong (eval/suspects.c) ---------------------------------------- */

#define RAN_NO_LABEL UINT32_MAX
struct ran_suspect {
        size_t document;           /* its index */
        uint32_t label, suggested; /* its own; the most probable other one; or RAN_NO_LABEL */
        float own;                 /* the probability of what is said */
        double order;              /* the smaller, the more suspicious */
        double margin; /* by how much `suggested` is more probable than `label`: -1 to 1 */
};
struct ran_suspects {
        struct ran_suspect *suspect; /* (n) the most suspicious first */
        size_t n;
        double *threshold; /* (C) of each label; INFINITY: no document has it */
        size_t wrong;      /* about so many labels are wrong */
};
/* Orders n documents by how probably their label is wrong, from out-of-fold probabilities p (n, C)
 * and their labels, each below C. RAN_EINVAL: all have one label.
 *
 * With several labels a document, those of document i are label[first[i]] to label[first[i + 1] -
 * 1]; else first is NULL. A suspect is then one label of one document: to be removed (`suggested`
 * is RAN_NO_LABEL) or added (`label` is), where the other is more probable. Release `found`,
 * whatever it returns. */
int ran_suspects_find(struct ran_suspects *found, const float *p, const size_t *first,
                      const uint32_t *label, size_t n, size_t C, struct ran_error *err);
void ran_suspects_release(struct ran_suspects *found);

/* ---- thresholds of labels (eval/threshold.c) --------------------------------------------------
 */

/* From this probability on a document gets the label: what that comes to on the documents that it
 * was found by. Intervals of 95 %. */
struct ran_threshold {
        float threshold;
        size_t documents, positives, found, right; /* right: found and positive */
        double recall, precision;
        struct ran_interval recall_interval, precision_interval;
};
/* Of n documents with a probability p of the label, which some have: the largest threshold with the
 * wanted recall; or the smallest with the wanted precision, 0 < wanted <= 1. RAN_EINVAL: none
 * reaches it. */
int ran_threshold_find(struct ran_threshold *t, const float *p, const bool *positive, size_t n,
                       bool precision, double wanted, struct ran_error *err);

/* ---- two models on the same documents (eval/paired.c) ---------------------------------------- */

/* What a model answered to a document: labels, or entities, that are right, wrong or missing. With
 * one label a document, a wrong answer is a missed label as well. */
struct ran_answer {
        uint32_t right, wrong, missed;
};
struct ran_paired;
struct ran_paired *ran_paired_new(bool several);
void ran_paired_free(struct ran_paired *p);
/* Adds a document. Fails only for lack of memory. */
void ran_paired_add(struct ran_paired *p, const struct ran_answer *first,
                    const struct ran_answer *second);
struct ran_paired_report {
        size_t n, both, first_only, second_only,
                neither;      /* documents with nothing wrong or missed */
        double first, second; /* accuracy; several: micro-F1 */
        bool several;
        struct ran_interval difference; /* 95 %, of first - second; without documents 0 to 0 */
        double p;                       /* of McNemar's exact test, two-sided */
};
void ran_paired_finish(const struct ran_paired *p, struct ran_paired_report *report);

/* ---- tags (eval/conll.c, eval/strict.c) -------------------------------------------------------
 */

/* Counts of a tagger for one type, or in all. */
struct ran_tag_score {
        const char *type; /* without NUL; NULL in all */
        size_t length;
        size_t gold, found, correct; /* phrases, or entities */
        struct ran_prf rates;
};

/* The score of conlleval, the script of the CoNLL shared tasks, as its version of 2004-01-26
 * computes and prints it. Add tokens one by one, with their tags as they are: the script accepts
 * any string, reads IOB2, IOB1 and more by its own rules, and ignores S-, L- and U-. */
struct ran_conll;
struct ran_conll *ran_conll_new(void);
void ran_conll_free(struct ran_conll *c);
/* Can fail for lack of memory only. */
void ran_conll_add_token(struct ran_conll *c, const char *correct, size_t correct_n,
                         const char *guessed, size_t guessed_n);
void ran_conll_end_sentence(struct ran_conll *c);

struct ran_conll_report {
        size_t tokens, correct_tokens;
        double accuracy; /* of tokens; 0 without any */
        struct ran_tag_score all;
        /* Types in the data or found, ordered by their bytes. Rates of a type can exceed 1: the
         * script may credit it with a phrase counted under another. */
        const struct ran_tag_score *types;
        size_t n_types;
};
/* Computes the report. Its pointers are c's, valid until c changes or is freed. */
void ran_conll_finish(struct ran_conll *c, struct ran_conll_report *report);
/* Appends what the script prints, byte for byte. */
void ran_conll_text(const struct ran_conll_report *report, struct ran_buf *out);

/* Reads files of columns by the rules of the script: fields separated by single spaces, the last
 * one the guessed tag, the one before it the correct tag. Set `in` and zero the rest. */
struct ran_conll_reader {
        FILE *in;                      /* the caller's */
        const char *correct, *guessed; /* of a token, valid until the next call */
        size_t correct_n, guessed_n;
        int status;             /* of a refused file: the script's exit status */
        struct ran_buf message; /* and its message, with the newline */
        char *line;
        size_t cap, fields;
};
enum ran_conll_line {
        RAN_CONLL_END, /* no more lines */
        RAN_CONLL_TOKEN,
        RAN_CONLL_BREAK,   /* the sentence ends: an empty line, or a boundary "-X-" */
        RAN_CONLL_REFUSED, /* the script exits here without a score */
        RAN_CONLL_FAILED,  /* RAN_EIO: see err */
};
enum ran_conll_line ran_conll_read(struct ran_conll_reader *r, struct ran_error *err);
void ran_conll_reader_release(struct ran_conll_reader *r);

/* The strict score: an entity is correct if its type and both boundaries are. Only valid IOB2
 * counts: see ran_tags_entities. */
struct ran_strict;
struct ran_strict *ran_strict_new(void);
void ran_strict_free(struct ran_strict *s);
/* Adds a sentence of L tokens in IOB2. Fails only for lack of memory. */
void ran_strict_add(struct ran_strict *s, const struct ran_tag *gold, const struct ran_tag *found,
                    size_t L);

struct ran_strict_report {
        size_t sentences, tokens;
        struct ran_tag_score all;          /* rates: micro average */
        struct ran_prf macro;              /* mean over the types */
        const struct ran_tag_score *types; /* types in the data or found, ordered by their bytes */
        size_t n_types;
        /* Of the entities found that are wrong: those with the boundaries of a gold entity and
         * another type; those with the type and a token of one, but not both boundaries. */
        size_t boundary_only, type_only;
        size_t invalid_gold, invalid_found; /* tags that IOB2 does not allow there */
};
/* Computes the report. Its pointers are s's, valid until s changes or is freed. */
void ran_strict_finish(struct ran_strict *s, struct ran_strict_report *report);

/* ---- generated texts (eval/text-score.c) ---------------------------------------------------- */

/* Scores of generated texts against references, one for each:
 *
 *      BLEU      of a corpus, 0 to 100: Papineni et al. 2002, as sacreBLEU computes it (Post 2018):
 *                tokenisation 13a, n-grams up to 4, exponential smoothing
 *      chrF2     of a corpus, 0 to 100: Popović 2015, as sacreBLEU: character n-grams up to 6
 * without white space, recall twice as important as precision ROUGE     Lin 2004, as its script and
 * Google's rouge_score: ROUGE-1, -2 and -L, the mean over texts, 0 to 1; words are runs of ASCII
 * letters and digits, which are not stemmed
 *
 * The counts of a text are computed in any thread, and added in a fixed order. */
enum { RAN_BLEU_ORDER = 4, RAN_CHRF_ORDER = 6, RAN_ROUGES = 3 };
struct ran_text_counts {
        uint64_t length, reference_length; /* in tokens of 13a */
        uint64_t match[RAN_BLEU_ORDER], all[RAN_BLEU_ORDER];
        uint64_t characters[RAN_CHRF_ORDER][3]; /* of the text, of the reference, common */
        struct ran_prf rouge[RAN_ROUGES];       /* ROUGE-1, -2, -L */
};
struct ran_text_counter; /* scratch, one a thread */
struct ran_text_counter *ran_text_counter_new(void);
void ran_text_counter_free(struct ran_text_counter *c);
/* A text and reference of 2^32 characters together are as if memory ran out. */
void ran_text_count(struct ran_text_counter *c, const char *text, size_t n, const char *reference,
                    size_t reference_n, struct ran_text_counts *out);

/* chrF of one text, from 0 to 100. */
double ran_text_chrf(const struct ran_text_counts *counts);

/* The scores of a corpus, in memory of a fixed size: of more than 20,000 texts, the bootstrap draws
 * runs of adjacent texts instead of single ones. */
struct ran_text_score;
struct ran_text_score *ran_text_score_new(void);
void ran_text_score_free(struct ran_text_score *s);
void ran_text_score_add(struct ran_text_score *s, const struct ran_text_counts *counts);

/* A score and, unless there is but one text, the interval that has 95 % of its values over 1,000
 * corpora of as many texts, drawn with replacement by `seed`. */
struct ran_text_value {
        double value, low, high;
};
struct ran_text_report {
        size_t n;
        uint64_t seed;
        struct ran_text_value bleu, chrf, rouge[RAN_ROUGES];
        double precision[RAN_BLEU_ORDER], brevity; /* parts of BLEU: 0 to 100; its penalty */
        uint64_t length, reference_length;
        double rouge_precision[RAN_ROUGES], rouge_recall[RAN_ROUGES];
};
enum { RAN_TEXT_SAMPLES = 1000 };
void ran_text_score_finish(const struct ran_text_score *s, uint64_t seed,
                           struct ran_text_report *report);

#endif
