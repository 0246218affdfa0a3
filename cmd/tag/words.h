/* words.h - tags for the words of one record, or of several that are one document. */
#ifndef CMD_TAG_WORDS_H
#define CMD_TAG_WORDS_H

#include "cmd/records/loop.h"
#include "cmd/content/document.h"
#include "ran.h"

struct tagger {
        const struct ran_model *model;
        struct ran_pool *pool;
        size_t C;
        struct ran_tag *tags; /* (C) parsed; NULL: of no scheme, they mark no entities */
        struct cmd_document_options options;
        bool logits; /* wanted */
        int split;   /* of a text: as in struct cmd_document */
        struct ran_marks marks;
        struct tag_spare *spare; /* of tag_parts */
        bool fingerprints;       /* wanted, of the document of each record */
};

#define TAG_NOT_READ SIZE_MAX

/* A record, once it is tagged. */
struct tag_record {
        struct cmd_document document;
        size_t words;
        const size_t *at;            /* (words) index in the document; TAG_NOT_READ: truncated */
        struct ran_tag *found;       /* (words) its tags, parsed; a truncated word is outside */
        struct ran_entity *entities; /* (words) room for them */
        const bool *begins;          /* by index in the document: the word begins a sentence */
};

/* Each thread has one. */
struct tag_scratch {
        struct ran_state *state;
        struct tag_record *record;
        size_t record_cap;
        /* The tokens and words of all records, one after another. */
        struct ran_document document; /* the document for the model, in the arrays below */
        uint32_t *ids, *spelling, *positions;
        bool *begins;
        size_t ids_cap, spelling_cap, positions_cap, begins_cap;
        size_t *at;
        struct ran_tag *found;
        struct ran_entity *entities;
        size_t words, at_cap, found_cap, entities_cap;
        /* The results of ran_tag for the words of the document. */
        uint32_t *tags;
        float *score, *logits;
        size_t tags_cap, score_cap, logits_cap;
        struct tag_group *group; /* of tag_parts */
        size_t group_cap;
        struct ran_buf text, column; /* scratch: the text of words; their tags */
        bool segmented;              /* a record is a text of several sentences, by tagger.split */
};
struct tag_scratch *tag_scratch_new(const struct tagger *t, struct ran_error *err);
void tag_scratch_free(struct tag_scratch *s);

/* Tags the words of the n records of the items, which form one document, into s->record[0..n). A
 * bad record gets a code and an error in its item; the others are tagged without it. */
void tag_words(const struct tagger *t, struct tag_scratch *s, struct cmd_item *items, size_t n);

#endif
