/* reader.h - how a line becomes a document of a data set: what data.c, encode.c, soft-target.c,
 * learn.c and the tasks know of each other, and nobody else.
 *
 * A line goes through train_encode, in any thread, which packs labels or tags, weight and ids into
 * the result of the line, and through train_take, in order, which unpacks them into the data set.
 */
#ifndef CMD_TRAIN_READER_H
#define CMD_TRAIN_READER_H

#include "cmd/records/document.h"
#include "cmd/records/labels.h"
#include "cmd/records/loop.h"
#include "cmd/records/sentence-group.h"
#include "cmd/records/sequence.h"
#include "cmd/records/soft-label.h"
#include "cmd/records/vocab.h"
#include "cmd/train/data.h"

/* Members that any task reads, and two more that options name, at most. */
enum { TRAIN_MEMBERS = 32 };

/* arg of the functions below. Initialise source and data, then call train_begin. */
struct train_reader {
        const struct train_source *source;
        struct train_data *data;
        const char *members[TRAIN_MEMBERS + 1]; /* of train_loop */
        struct ran_sha256 digest;
        uint32_t *labels; /* scratch of train_take: class of each label of a document */
        float *soft;
        uint32_t *target_at; /* by class: 1 + where a soft target has it; 0: it has it not */
        size_t labels_cap, soft_cap, target_cap;
        struct sentence_group sentences; /* where sentences are joined */
        bool joined;                     /* the document is the next sentence of the last one */
};

/* What a thread needs to read a line. Zero-initialise. */
struct train_scratch {
        struct cmd_document document;
        struct cmd_labels labels;
        struct cmd_soft_label soft;
        struct cmd_vocab_words words;     /* where a vocabulary is learned */
        struct cmd_sequence sequence;     /* of a language model, in place of document */
        int mask;                         /* RAN_MASK_... that it is to be read with */
        uint32_t *masked_at, *masked_ids; /* (masked) of mlm: which ids are masked, and by what */
        size_t masked, masked_at_cap, masked_ids_cap;
        double weight;
        const char *group; /* (group_n) of the record that is being read, or NULL */
        size_t group_n;
};
void train_scratch_release(struct train_scratch *s);

/* ---- a packed document ---------------------------------------------------------------------- */

/* How a document travels from encode to take: this head, then n ends of names of labels or tags and
 * as many of soft labels as there are (size_t), L ids, the positions of words, the spelling and
 * masked ids (uint32_t), the probabilities of soft labels (float), the names of both, and the bytes
 * of its group. */
struct train_packed {
        double weight;
        size_t n, L, words, spelling, sources, masked, soft, names, group;
        bool several, either, paired, softened, guessed;
        enum cmd_tag_kind kind;
        struct ran_tag_census census;
};
/* The same, with the arrays behind the head. */
struct train_document {
        const struct train_packed *head;
        const size_t *end;                             /* (n + soft) */
        const uint32_t *ids;                           /* (L) */
        const uint32_t *words, *spelling, *masked_ids; /* (words), (spelling), (masked) */
        const float *soft;                             /* (soft) */
        const char *names, *group;                     /* (names), (group) bytes */
};

/* ---- in any thread (encode.c) --------------------------------------------------------------- */

/* What the task reads before there is a vocabulary, weight and group of a record into s;
 * RAN_EFORMAT when something is missing, or there are not as many tags as words. */
int train_read_labels(struct train_scratch *s, const struct train_source *source,
                      const struct ran_record *record, struct ran_error *err);
int train_encode(void *arg, void *scratch, const struct cmd_line *line, struct ran_buf *result,
                 struct ran_error *err);
/* For the tasks. RAN_EFORMAT when a label, or tag, holds U+0000. */
int train_refuse_nul(const struct cmd_labels *labels, const struct train_source *source,
                     struct ran_error *err);
/* Reads the document. One without a token is no error here, but has L = 0: train_take notes where
 * it is. */
int train_document_read(struct train_scratch *s, const struct train_source *source,
                        const struct ran_record *record, struct ran_error *err);
void train_pack(const struct train_scratch *s, const struct train_source *source,
                struct ran_buf *result);
/* The same of s->sequence, of which the first L ids are packed. */
void train_pack_text(const struct train_scratch *s, size_t L, struct ran_buf *result);

/* ---- in order (data.c, soft-target.c) ------------------------------------------------------- */

int train_take(void *arg, const struct cmd_line *line, const struct ran_buf *result,
               struct ran_error *err);
/* Gives the document that was added last the soft target of d, mixed with its labels. */
int train_add_soft_target(struct train_reader *r, const struct train_document *d,
                          struct ran_error *err);

/* Where a line stands; to set *at to that, unless it is set; to append it to n of them, NULL on
 * failure. */
struct train_location train_location_of(const struct cmd_line *line);
void train_location_note(struct train_location *at, const struct cmd_line *line);
struct train_location *train_location_add(struct ran_spool *locations, size_t n,
                                          const struct cmd_line *line, struct ran_error *err);

/* The members that are read, and so on; work, take and arg are left to the caller. */
struct cmd_loop train_loop(struct train_reader *r);
/* Begins to fill r->data; source and data are set. */
void train_begin(struct train_reader *r);
/* Completes the data set, and releases what r holds. */
void train_finish(struct train_reader *r);

#endif
