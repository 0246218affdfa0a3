/* Any bytes as the journal of a search for settings: refused with a sentence, or trials that are
 * written as they were read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/train/run/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_trials(const struct train_journal *j, struct ran_buf *out)
{
        ran_buf_printf(out, "{\"ran_tune\":1,%s}\n", j->header);
        for (size_t i = 0; i < j->n; i++) {
                ran_buf_char(out, '{');
                train_trial_json(j, i, out);
                ran_buf_str(out, "}\n");
        }
        if (out->failed)
                abort();
}

static void check_trial(const struct train_trial *t)
{
        if (t->settings == NULL || t->best_epoch > t->epochs || !(t->seconds >= 0) ||
            isnan(t->best))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct train_journal j = {.path = strdup("journal")}, again = {.path = strdup("again")};
        struct ran_buf one = {0}, two = {0};
        struct ran_error err = {0};

        int rc = train_journal_read(&j, (const char *)data, size, &err);
        if (rc != RAN_OK && err.text[0] == '\0')
                abort();
        for (size_t i = 0; rc == RAN_OK && i < j.n; i++)
                check_trial(&j.trial[i]);
        if (rc == RAN_OK) {
                write_trials(&j, &one);
                if (train_journal_read(&again, one.data, one.len, &err) != RAN_OK)
                        abort();
                write_trials(&again, &two);
                if (one.len != two.len || memcmp(one.data, two.data, one.len) != 0)
                        abort();
        }
        train_journal_release(&j);
        train_journal_release(&again);
        ran_buf_release(&one);
        ran_buf_release(&two);
        return 0;
}
