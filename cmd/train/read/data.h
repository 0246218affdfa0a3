/* data.h - reads documents with labels, with a tag for each word, or texts alone: a data set,
 * and the location of each document. */
#ifndef CMD_TRAIN_READ_DATA_H
#define CMD_TRAIN_READ_DATA_H

#include "cmd/content/labels.h"
#include "cmd/records/loop.h"

/* ---- data.c -----------------------------------------------------------------------------------
 */

struct train_task;

/* The similarity of near-duplicates, as in ran-tokenize duplicates. */
#define TRAIN_ALIKE 0.8

struct train_location {
        const char *file; /* NULL: nowhere */
        size_t line;
};

enum { TRAIN_LISTED = 20 }; /* locations of one kind that are listed; others are only counted */
/* Locations of documents and, if they repeat something, of that. */
struct train_places {
        size_t n;
        struct train_location at[TRAIN_LISTED], of[TRAIN_LISTED];
};
/* of: NULL if they repeat nothing. */
void train_add_place(struct train_places *p, struct train_location at,
                     const struct train_location *of);

/* Texts, which may be more than memory holds. Zero-initialise; `keep` of the spools may be set. */
struct train_lines {
        char *text;  /* one after the other */
        size_t *end; /* (n) where they end */
        size_t n;
        struct ran_spool text_spool, end_spool;
};
int train_lines_add(struct train_lines *l, const char *text, size_t n, struct ran_error *err);
void train_lines_release(struct train_lines *l);

/* Zero-initialise. */
struct train_data {
        const struct train_task *task; /* file and line */
        struct ran_dataset set;
        struct train_location *location; /* (B) of each document of the set, until it is split */
        struct cmd_counts counts;
        struct ran_spool location_spool; /* where it lies */
        struct train_places empty;       /* documents without a token; they count as bad */
        struct train_lines lines; /* with `keep_lines` of the source: the record of each document */
        /* The first record with `label` and with `labels`, with tags of each kind, and, for
         * language models, with one text and with a source. */
        struct train_location one, several, tagged[CMD_TAG_KINDS], plain, paired;
        size_t lone;                       /* language models: documents of one id, left out */
        struct ran_tag_census census;      /* of the tags, before they became IOB2 */
        struct ran_segment_count segments; /* how the words of taggers were split */
        size_t texts;                      /* taggers: documents that are texts with spans */
        size_t unknown;                    /* labels outside the given classes */
        const char *soft_label;            /* of the source */
        size_t soft_target;                /* documents that have that member */
        size_t without_label;              /* classifiers: documents without any, all or none */
        size_t weighted;                   /* documents with another weight than 1 */
        const char *group;                 /* of the source */
        size_t grouped;                    /* documents that have that member */
        size_t V;                          /* 1 + the largest id */
        size_t quoted;                     /* documents with quotes around their text */
};
void train_data_release(struct train_data *d);
/* Adds these classes to those of the empty data set; exits on failure. Labels of the data are
 * then looked up among them. */
void train_data_set_classes(struct train_data *d, char *const *names, size_t C);

/* The number of ids, if unknown until the data are read. */
#define TRAIN_ANY_ID ((size_t)UINT32_MAX)

/* Documents that wait for a vocabulary, as far as they are known. */
struct train_counted {
        const struct ran_counter *words;
        bool several; /* a document has several labels */
        bool encoded; /* a document has an "encoding" by the vocabulary that is there */
};

/* How documents become ids. */
struct train_source {
        const struct train_task *task;
        int mask; /* of a language model; RAN_MASK_NONE: each record decides */
        const struct cmd_input *input;
        struct ran_pool *pool;
        const struct ran_tokenizer *tokenizer; /* NULL: the documents are ids */
        size_t V;                              /* all ids are below */
        size_t keep; /* bytes of each long array in memory, see ran_spool */
        /* Tagging: the most sentences of a document; 0: each sentence is a document. */
        size_t join;
        size_t spelling; /* buckets for the spelling of words; 0: no spelling */
        /* Classification: the member with soft targets, or NULL; their weight if a document has
         * labels, too; whether documents may have several labels if nothing else decides it.
         * judge: development data, whose soft targets are ignored. */
        const char *soft_label;
        double soft_share;
        bool several, judge;
        const char *label_texts; /* the file that names all labels, or NULL */
        const char *weight;      /* member with the weight of a document; NULL: none */
        const char *group;       /* member whose equal values keep documents together in a split; or
                                  * NULL */
        /* Word vectors whose words a learned vocabulary includes, too; NULL: none. */
        struct ran_vectors *vectors;
        size_t vector_words;
        /* Asked for the vocabulary of a model before one is learned from these words; NULL, or
         * returns NULL: learn one. May change the spelling that documents get. */
        const struct ran_tokenizer *(*given)(void *arg, const struct train_counted *counted,
                                             size_t *spelling);
        void *given_arg;
        size_t pairs_vocabulary;       /* size of a learned vocabulary, if documents have a source
                                        * and a target; 0: as for others */
        bool keep_lines;               /* keep the record of each document */
        const struct cmd_names *names; /* of labels or tags that are numbers, or NULL */
};

/* Reads the files into d, whose set may have classes already. Lists bad lines on stderr and
 * counts them; any other error ends the program. */
void train_data_read(struct train_data *d, const struct train_source *source, char **files);

/* The same without a vocabulary: learns one from the documents, which are read once and kept in
 * memory, so they may come from a pipe. NULL if all documents are ids; an encoding without its
 * vocabulary is a bad line. If the source has a vocabulary, `given` extends it. Settings get the
 * size for pairs where it is used. The caller frees the tokeniser. */
struct ran_tokenizer *train_data_learn(struct train_data *d, const struct train_source *source,
                                       struct ran_vocab_settings *settings, char **files);

#endif
