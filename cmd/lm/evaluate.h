/* evaluate.h - ran-lm generate --eval and --eval-only: texts against those of the records. */
#ifndef CMD_LM_EVALUATE_H
#define CMD_LM_EVALUATE_H

#include "cmd/lm/continuation.h"
#include "cmd/records/loop.h"

struct lm_evaluate_options {
        bool eval;
        char *eval_only; /* member with texts that were generated before; NULL: generate them */
        char *reference; /* member to compare with */
        bool lowercase;
        int eval_format;
};
extern const struct ran_field lm_evaluate_fields[];

/* Reads the sequence of a record into the continuation. */
typedef int lm_evaluate_read(struct continuation *k, const struct record *record,
                             struct ran_error *err);

/* Compares and writes the report to `output` (NULL: standard output). loop has input, pool and
 * reads; how, read and model are NULL with --eval-only. Returns the exit status. */
int lm_evaluate(const struct lm_evaluate_options *options, struct cmd_loop loop,
                struct continuation_how *how, lm_evaluate_read *read, const char *model,
                uint64_t seed, const char *output, char **files);

#endif
