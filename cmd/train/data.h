/* data.h - labelled documents as ran-train reads them, or documents whose words are tagged: a
 * data set, and where each one stands. */
#ifndef CMD_TRAIN_DATA_H
#define CMD_TRAIN_DATA_H

#include "cmd/records/io.h"
#include "cmd/records/loop.h"
#include "cmd/records/labels.h"
#include "ran.h"

struct train_location {
        const char *file; /* NULL: nowhere */
        size_t line;
};

/* Zero-initialise. */
struct train_data {
        int task; /* of the source that it is read from */
        struct ran_dataset set;
        struct train_location *place; /* (B) of each document of the set, until it is split */
        struct cmd_counts counts;
        struct train_location *empty; /* documents without a token; they count as bad */
        size_t empties;
        struct ran_spool location_spool, empty_spool; /* where the two lie */
        struct train_location one,
                several; /* the first record with `label`, the first with `labels` */
        struct train_location tagged[CMD_TAG_KINDS]; /* the first record with tags of each kind */
        struct train_location plain,
                paired;               /* language models: the first text, the first with a source */
        size_t lone;                  /* language models: documents of one id, left out */
        struct ran_tag_census census; /* of the tags, before they became IOB2 */
        size_t unknown;               /* labels that the given classes do not have */
        const char *soft_label;       /* of the source */
        size_t softened;              /* documents that have that member */
        const char *group;            /* of the source */
        size_t grouped;               /* documents that have that member */
        size_t V;                     /* 1 + the largest id */
};
#define TRAIN_LISTED 20 /* places of one kind that are named before the others are only counted */
void train_data_release(struct train_data *d);

/* How documents become ids. */
struct train_source {
        int task; /* RAN_TASK_CLASSIFY: a record has labels; RAN_TASK_TAG: tags for its words;
                     RAN_TASK_LM: a text, or a source and a target */
        int mask; /* of a language model; RAN_MASK_NONE: as each record wants it */
        const struct cmd_input *input;
        struct ran_pool *pool;
        const struct ran_tokenizer *tokenizer; /* NULL: the documents are ids */
        size_t V;                              /* of which all are below this */
        size_t keep; /* bytes of each long array that stay in memory, see ran_spool */
        size_t join; /* tagging: sentences that are read as one document, at most; 0: each by itself
                      */
        size_t spelling; /* buckets for that of words; 0: not wanted */
        /* Classification: the member that holds probabilities to learn from, or NULL; how much they
         * count where a document has labels, too; whether documents may have several labels where
         * nothing else says it. judge: documents are not learned from, labels are all that counts.
         */
        const char *soft_label;
        double soft_share;
        bool several, judge;
        const char *group; /* the member in which documents that are held out together are the same,
                            * or NULL */
        /* A vocabulary that is learned has these words of the file, too; NULL: there is none. */
        struct ran_vectors *vectors;
        size_t vector_words;
        const struct cmd_names *names; /* of labels or tags that are numbers, or NULL */
};

/* Reads the files into d, whose set may hold classes already. Bad lines are listed on stderr and
 * counted; whatever else goes wrong ends the program. */
void train_data_read(struct train_data *d, const struct train_source *source, char **files);

/* The same where no vocabulary is known: learns one from the documents, which are read once and
 * kept in memory meanwhile, so that they may come from a pipe. NULL when all documents are ids; an
 * encoding without its vocabulary is a bad line. The caller frees the tokeniser. */
struct ran_tokenizer *train_data_learn(struct train_data *d, const struct train_source *source,
                                       const struct ran_vocab_settings *settings, char **files);

#endif
