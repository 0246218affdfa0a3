/* reader.h - how a line becomes a document of a data set: what train/data.c, train/task-lm.c and
 * train/learn.c know of each other, and nobody else.
 *
 * A line goes through train_encode, in any thread, which packs labels or tags, weight and ids into
 * the result of the line, and through train_take, in order, which unpacks them into the data set.
 */
#ifndef CMD_TRAIN_READER_H
#define CMD_TRAIN_READER_H

#include "cmd/records/loop.h"
#include "cmd/records/sentence-group.h"
#include "cmd/records/document.h"
#include "cmd/records/labels.h"
#include "cmd/records/sequence.h"
#include "cmd/records/soft-label.h"
#include "cmd/train/data.h"
#include "cmd/records/vocab.h"

/* arg of the functions below. Initialise source and data, then call train_begin. */
struct train_reader {
        const struct train_source *source;
        struct train_data *data;
        struct ran_sha256 digest;
        uint32_t *labels; /* scratch of train_take */
        float *soft;
        uint32_t *place; /* by class: where it stands in a target */
        size_t labels_cap, soft_cap, place_cap;
        struct sentence_group doc; /* where sentences are joined */
};

/* What a thread needs to read a line. Zero-initialise. */
struct train_scratch {
        struct cmd_document document;
        struct cmd_labels labels;
        struct cmd_soft_label soft;
        struct cmd_words words;       /* where a vocabulary is learned */
        struct cmd_sequence sequence; /* of a language model, in place of document */
        int mask;                     /* RAN_MASK_... that it is to be read with */
        uint32_t *gap, *gold;         /* (gaps) of mlm: where ids have gaps, and what stood there */
        size_t gaps, gap_cap, gold_cap;
        double weight;
        const char *group; /* (group_n) of the record that is being read, or NULL */
        size_t group_n;
};
void train_scratch_release(struct train_scratch *s);

/* Labels or tags, as the task is, weight and group of a record into s; RAN_EFORMAT when there are
 * none, or not as many tags as words. For a language model, what kind of texts there are instead.
 */
int train_read_labels(struct train_scratch *s, const struct train_source *source,
                      const struct ran_record *record, struct ran_error *err);
/* Sets s->mask as the texts of a record want it; RAN_EFORMAT for a source without a target, and
 * the other way round. Then, once there is a vocabulary, reads them into s->sequence. */
int train_text_kind(struct train_scratch *s, const struct train_source *source,
                    const struct ran_record *record, struct ran_error *err);
int train_text_read(struct train_scratch *s, const struct train_source *source,
                    const struct ran_record *record, struct ran_error *err);
/* The gaps that a record of ids has of its own, `masked_at` and `masked_ids`; none: s->gaps is 0.
 */
int train_masked_read(struct train_scratch *s, const struct train_source *source,
                      const struct ran_record *record, struct ran_error *err);
int train_encode(void *arg, void *scratch, const struct cmd_line *line, struct ran_buf *result,
                 struct ran_error *err);
int train_take(void *arg, const struct cmd_line *line, const struct ran_buf *result,
               struct ran_error *err);

/* Where a line stands, and to append that to n places; NULL on failure. */
struct train_location train_location_of(const struct cmd_line *line);
struct train_location *train_location_add(struct ran_spool *places, size_t n,
                                          const struct cmd_line *line, struct ran_error *err);

/* The members that are read, and so on; work, take and arg are left to the caller. */
struct cmd_loop train_loop(const struct train_source *source);
/* Begins to fill r->data; source and data are set. */
void train_begin(struct train_reader *r);
/* Completes the data set, and releases what r holds. */
void train_finish(struct train_reader *r);

#endif
