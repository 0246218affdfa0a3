/* reader.h - turns a line into a document of a data set; only for data.c, encode.c, learn.c
 * and the tasks.
 *
 * train_encode, in any thread, packs labels or tags, weight and ids into the result of a line;
 * train_take, in order, unpacks them into the data set.
 */
#ifndef CMD_TRAIN_READ_READER_H
#define CMD_TRAIN_READ_READER_H

#include "cmd/content/labels.h"
#include "cmd/records/loop.h"
#include "cmd/content/reading.h"
#include "cmd/content/vocab.h"
#include "cmd/train/read/data.h"

/* arg of the functions below. Initialise source and data, then call train_begin. */
struct train_reader {
        const struct train_source *source;
        struct train_data *data;
        struct cmd_member also[4]; /* of train_loop */
        struct ran_sha256 digest;
        uint32_t *labels; /* scratch of train_take: class of each label of a document */
        float *soft;
        uint32_t *target_at; /* by class, 1 + its place in a target; 0 between documents */
        size_t labels_cap, soft_cap, target_cap;
        struct cmd_folded *folded; /* (C) the given classes, once one is looked for among them */
        struct sentence_group sentences; /* where sentences are joined */
        bool joined;                     /* the document is the next sentence of the last one */
        struct ran_buf renamed;          /* scratch of train_line_text */
};

/* The text of a line's record, in which members have the names that readers look for; valid until
 * the next call with this scratch. */
const char *train_line_text(const struct cmd_line *line, struct ran_buf *renamed, size_t *length);

/* A thread reads a line with this. Zero-initialise. */
struct train_scratch {
        struct cmd_document document;
        struct cmd_labels labels;
        struct cmd_soft_label soft;
        struct cmd_vocab_words words; /* where a vocabulary is learned */
        struct cmd_sequence sequence; /* of a language model, instead of document */
        int mask;                     /* RAN_MASK_... for reading it */
        double weight;
        struct ran_segment_fit fit;        /* of taggers: how the words of a record were split, */
        struct ran_segment_count segments; /* counted */
        const char *group;                 /* (group_n) of the current record, or NULL */
        size_t group_n;
};
void train_scratch_release(struct train_scratch *s);

/* ---- a packed document ---------------------------------------------------------------------- */

/* A document packed by encode for take: this head, then n ends of names of labels or tags and
 * one for each soft label (size_t), L ids, the positions of words and the spelling
 * (uint32_t), the probabilities of soft labels (float), the names of both, and the bytes of its
 * group. */
struct train_packed {
        double weight;
        size_t n, L, words, spelling, sources, soft, names, group;
        uint32_t fingerprint;
        bool several, either, paired, soft_target, guessed, labelled;
        bool quoted; /* a text that begins and ends with a quote */
        enum cmd_tag_kind kind;
        struct ran_tag_census census;
        struct ran_segment_count segments;
};
/* The same, with the arrays behind the head. */
struct train_document {
        const struct train_packed *head;
        const size_t *end;                /* (n + soft) */
        const uint32_t *ids;              /* (L) */
        const uint32_t *words, *spelling; /* (words), (spelling) */
        const float *soft;                /* (soft) */
        const char *names, *group;        /* (names), (group) bytes */
};

/* ---- in any thread (encode.c) --------------------------------------------------------------- */

/* Reads weight, group and all that the task reads without a vocabulary from a record into s;
 * RAN_EFORMAT if something is missing, or there are not as many tags as words. */
int train_read_labels(struct train_scratch *s, const struct train_source *source,
                      const struct record *record, struct ran_error *err);
int train_encode(void *arg, void *scratch, const struct cmd_line *line, struct cmd_result *result,
                 struct ran_error *err);
/* For the tasks. RAN_EFORMAT when a label, or tag, holds U+0000. */
int train_refuse_nul(const struct cmd_labels *labels, const struct train_source *source,
                     struct ran_error *err);
/* Reads the document. One without a token is no error here, but has L = 0: train_take records
 * its location. */
int train_document_read(struct train_scratch *s, const struct train_source *source,
                        const struct record *record, struct ran_error *err);
void train_pack(const struct train_scratch *s, const struct train_source *source,
                struct ran_buf *result);
/* The same of s->sequence, of which the first L ids are packed. */
void train_pack_text(const struct train_scratch *s, size_t L, struct ran_buf *result);

/* ---- in order (data.c) ---------------------------------------------------------------------- */

int train_take(void *arg, const struct cmd_line *line, struct cmd_result *result,
               struct ran_error *err);

/* The location of a line; sets *at to it, unless it is set; appends it to n locations, NULL on
 * failure. */
struct train_location train_location_of(const struct cmd_line *line);
void train_location_note(struct train_location *at, const struct cmd_line *line);
struct train_location *train_location_add(struct ran_spool *locations, size_t n,
                                          const struct cmd_line *line, struct ran_error *err);

/* Fills in the members to read, and so on; the caller sets work, take and arg. */
struct cmd_loop train_loop(struct train_reader *r);
/* Begins to fill r->data; source and data are set. */
void train_begin(struct train_reader *r);
/* Completes the data set, and releases what r holds. */
void train_finish(struct train_reader *r);

#endif
