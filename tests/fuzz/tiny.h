/* tiny.h - files in memory, small trainings that make some, edits of them, and parts of programs.
 *
 * What a program wrote is changed by a list of edits, which is what the fuzzer invents: so nothing
 * needs to be kept that only one version reads, and the digest, which no fuzzer finds, is right
 * again afterwards. */
#ifndef RAN_TESTS_FUZZ_TINY_H
#define RAN_TESTS_FUZZ_TINY_H

#include "ran.h"

/* A file in memory. Every name of it is another open file, as of any other. */
struct tiny_file {
        int fd;
        char path[32];
};
void tiny_open(struct tiny_file *f, const void *bytes, size_t n);
void tiny_close(struct tiny_file *f);
/* All that is in it; the caller releases it. */
struct ran_bytes tiny_read(const struct tiny_file *f);

/* Runs what may end the program: returns what it ends with, or -1 if it comes back. What it says is
 * not seen. Linked with --wrap=exit, so that exit comes back here. */
int tiny_run(void (*part)(void *arg), void *arg);

/* A safetensors file as the edits (data, size) leave it; the caller releases it. Each is a byte
 * that says what is done, two that say where, and the bytes that it needs. */
struct ran_bytes tiny_edit(const struct ran_bytes *file, const uint8_t *data, size_t size);

/* The trainings. Each of them has something that the others have not. */
enum {
        TINY_CLASSIFY, /* a linear model, development data, a refit */
        TINY_SEVERAL,  /* labels a document; a Contextualizer; affixes, and so a vocabulary */
        TINY_TAG,      /* a CRF */
        TINY_LM,       /* truncated back-propagation; an adaptive softmax */
        TINY_TRANSFORMER,
        TINY_MLM,
        TINY_KINDS
};
enum { TINY_V = 12 };
struct tiny {
        struct ran_config c;
        struct ran_train_settings s;
        struct ran_dataset train, dev;
        struct ran_train_job job; /* without output and checkpoint */
        bool held[8];
        size_t reports, stop_at; /* 0: never */
};
void tiny_init(struct tiny *t, int kind);
/* The model of a training; its checkpoint after so many reports. */
struct ran_bytes tiny_model(struct tiny *t);
struct ran_bytes tiny_checkpoint(struct tiny *t, size_t reports);
/* In the place of a number of reports: in the refit, if there is one. */
#define TINY_IN_REFIT SIZE_MAX
void tiny_release(struct tiny *t);

#endif
