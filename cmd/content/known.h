/* known.h - whether a model is measured on documents that it was trained on. */
#ifndef CMD_CONTENT_KNOWN_H
#define CMD_CONTENT_KNOWN_H

#include <stddef.h>

#include "ran.h"

/* Counts records, from any thread. Zero-initialise. */
struct cmd_known {
        size_t n;
};
/* One with this fingerprint is compared with what m predicts. */
void cmd_known_note(struct cmd_known *k, const struct ran_model *m, uint32_t fingerprint);
/* Warns, of `compared` records, if many were training documents of the model of this name. */
void cmd_known_warn(const struct cmd_known *k, size_t compared, const char *name);

/* Whether so many of `all` documents change the figures. */
bool cmd_are_known(size_t n, size_t all);

#endif
