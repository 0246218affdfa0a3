/* data.h - documents with labels, with a tag for each word, or texts alone, as ran-train reads
 * them: a data set, and where each document stands. */
#ifndef CMD_TRAIN_DATA_H
#define CMD_TRAIN_DATA_H

#include "cmd/records/io.h"
#include "cmd/records/labels.h"
#include "cmd/records/loop.h"
#include "ran.h"

struct train_task;

struct train_location {
        const char *file; /* NULL: nowhere */
        size_t line;
};

/* Zero-initialise. */
struct train_data {
        const struct train_task *task; /* of the source that it is read from */
        struct ran_dataset set;
        struct train_location *location; /* (B) of each document of the set, until it is split */
        struct cmd_counts counts;
        struct train_location *empty; /* (empties) documents without a token; they count as bad */
        size_t empties;
        struct ran_spool location_spool, empty_spool; /* where the two lie */
        /* The first record with `label` and with `labels`, with tags of each kind, and, for
         * language models, with one text and with a source. */
        struct train_location one, several, tagged[CMD_TAG_KINDS], plain, paired;
        size_t lone;                  /* language models: documents of one id, left out */
        struct ran_tag_census census; /* of the tags, before they became IOB2 */
        size_t unknown;               /* labels that the given classes do not have */
        const char *soft_label;       /* of the source */
        size_t softened;              /* documents that have that member */
        const char *group;            /* of the source */
        size_t grouped;               /* documents that have that member */
        size_t V;                     /* 1 + the largest id */
};
#define TRAIN_LISTED \
        20 /* locations of one kind that are named before the others are only counted */
void train_data_release(struct train_data *d);
/* Gives the empty data set these classes, after those that it has; dies when that is not possible.
 * Labels of the data are then looked up among them. */
void train_data_set_classes(struct train_data *d, char *const *names, size_t C);

/* The number of ids where nobody knows it before the data are read. */
#define TRAIN_ANY_ID ((size_t)UINT32_MAX)

/* How documents become ids. */
struct train_source {
        const struct train_task *task;
        int mask; /* of a language model; RAN_MASK_NONE: as each record wants it */
        const struct cmd_input *input;
        struct ran_pool *pool;
        const struct ran_tokenizer *tokenizer; /* NULL: the documents are ids */
        size_t V;                              /* all ids are below */
        size_t keep; /* bytes of each long array that stay in memory, see ran_spool */
        /* Tagging: sentences that are read as one document, at most; 0: each by itself. */
        size_t join;
        size_t spelling; /* buckets for the spelling of words; 0: not wanted */
        /* Classification: the member with probabilities to learn from, or NULL; their weight where
         * a document has labels, too; whether documents may have several labels where nothing else
         * says it. judge: development data, of which only the labels count. */
        const char *soft_label;
        double soft_share;
        bool several, judge;
        const char *group; /* documents with the same value of this member are held out together;
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
