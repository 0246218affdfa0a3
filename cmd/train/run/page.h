/* page.h - a training as a page: --report FILE. */
#ifndef CMD_TRAIN_RUN_PAGE_H
#define CMD_TRAIN_RUN_PAGE_H

#include "ran.h"

enum { TRAIN_PAGE_POINTS = 1500, TRAIN_PAGE_EPOCHS = 2000 };

/* A curve: when it is full, every second point is left out, and from then on as many more. */
struct train_page_curve {
        double step[TRAIN_PAGE_POINTS], seconds[TRAIN_PAGE_POINTS], loss[TRAIN_PAGE_POINTS],
                rate[TRAIN_PAGE_POINTS], norm[TRAIN_PAGE_POINTS], speed[TRAIN_PAGE_POINTS];
        size_t n, every, skipped;
};
/* Validation after an epoch. */
struct train_page_epochs {
        double epoch[TRAIN_PAGE_EPOCHS], step[TRAIN_PAGE_EPOCHS], loss[TRAIN_PAGE_EPOCHS],
                metric[TRAIN_PAGE_EPOCHS];
        size_t n;
};
struct train_page {
        const char *path;    /* of the page */
        struct ran_buf data; /* the report about the data, as a part of the page */
        /* One for the first training, one for the refit. */
        struct train_page_curve curve[2];
        struct train_page_epochs epochs[2];
        double linear_seconds,
                kept_seconds; /* when the linear model, the first training were done */
        struct ran_train_report last;
        bool resumed;
        double unknown; /* of a language model: the share of unknown tokens */
};

/* The page that --report asks for; exits if memory runs out. */
struct train_page *train_page_new(const char *path);
void train_page_free(struct train_page *p);
void train_page_note(struct train_page *p, const struct ran_train_report *r);
/* Writes the page of a complete training; exits with 3 if it cannot. metric: its name; texts: of a
 * language model. */
void train_page_write(const struct train_page *p, const struct ran_train_job *job,
                      const char *metric, bool texts);

#endif
