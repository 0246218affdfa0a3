/* ran/distil.h - a pretrained encoder of documents distilled into a small model. Conventions:
 * ran.h. */
#ifndef RAN_RAN_DISTIL_H
#define RAN_RAN_DISTIL_H

#include "ran/model.h"

/* What is learned and how (lib/distil/distil.c): the student's vector of a text is near the
 * teacher's vector in the D directions in which the teacher's vectors of the texts differ most.
 * It is the mean of the vectors of its tokens. */
struct ran_distil_settings {
        size_t dim;           /* D: numbers of a vector; at most as many as the teacher's */
        size_t epochs;        /* passes over the texts; 0: the vectors of the tokens alone */
        size_t batch;         /* texts a step */
        double learning_rate; /* of the first step; falls to 0 */
        size_t seed;
};
extern const struct ran_field ran_distil_fields[];

enum ran_distil_stage { RAN_DISTIL_TOKENS, RAN_DISTIL_TEXTS, RAN_DISTIL_FIT };
struct ran_distil_progress {
        enum ran_distil_stage stage; /* the teacher reads tokens, or texts; vectors are fitted */
        size_t done, of;             /* tokens, texts, or texts of all epochs */
        double loss;                 /* 1 - cosine, since the last report; RAN_DISTIL_FIT */
};

struct ran_distil_job {
        struct ran_model *teacher; /* one whose encoder makes vectors of documents */
        /* The student's vocabulary: [UNK] gets a vector of zeros. */
        const struct ran_tokenizer *tokenizer;
        const struct ran_distil_settings *settings;
        const char *text;  /* UTF-8, one after the other */
        const size_t *end; /* (n) where they end */
        size_t n;
        size_t held_out;         /* texts to measure by, drawn by the seed; fewer than n */
        const char *cache;       /* a file of vectors that the teacher has made, kept; or NULL */
        int storage;             /* of the weights, RAN_STORAGE_... */
        const char *description; /* members of a JSON object, added to the description; or NULL */
        struct ran_pool *pool;
        /* Called now and then, the cache is then written once in a while; anything but 0 ends the
         * run with RAN_EINTR. */
        int (*progress)(void *arg, const struct ran_distil_progress *p);
        void *arg;
};

/* What was lost, on texts that were held out. */
struct ran_distil_report {
        size_t texts, held_out; /* with a token for both; the rest was left out */
        size_t found, computed; /* vectors of the teacher: in the cache, or made now */
        double explained;       /* share of the variance of the teacher's vectors in D directions */
        double before, cosine;  /* mean of student and teacher: before the fit, and after it */
};

/* Makes the student and writes it: task embed, encoder static. The file depends on the
 * teacher, texts, vocabulary and settings alone. RAN_EINVAL: a setting is out of range, or the
 * teacher has no vectors of documents; RAN_EFORMAT, RAN_EIO: of the cache or the output; RAN_EINTR:
 * what the teacher has computed is in the cache. */
int ran_distil(const struct ran_distil_job *job, const char *path, struct ran_distil_report *report,
               struct ran_error *err);

#endif
