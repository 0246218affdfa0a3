/* text-set.c - see text-set.h. */
#include "cmd/train/read/text-set.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/options/message.h"
#include "cmd/content/vocab.h"
#include "cmd/train/read/reader.h"

/* ---- texts ----------------------------------------------------------------------------------- */

void train_text_set_begin(struct ran_dataset *texts, size_t keep)
{
        struct ran_error err = {0};

        texts->keep = keep;
        if (ran_dataset_set_classes(texts, NULL, 0, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
}

void train_text_set_end(struct ran_dataset *texts)
{
        struct ran_error err = {0};

        if (ran_dataset_finish(texts, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
}

/* Own texts are as many as documents: one without a word is a word itself. */
int train_text_set_add(struct ran_dataset *texts, const struct train_reader *r,
                       const struct train_document *d, struct ran_error *err)
{
        static const uint32_t whole[] = {0};
        const size_t words = d->head->words > 0 ? d->head->words : 1;
        const uint32_t *at = d->head->words > 0 ? d->words : whole;
        uint32_t *zero = ran_alloc(words, sizeof *zero, err);
        if (zero == NULL)
                return RAN_ENOMEM;
        int rc =
                r->joined && texts->B > 0
                        ? ran_dataset_continue(texts, d->ids, d->head->L, at, zero, words, err)
                        : ran_dataset_add_words(texts, d->ids, d->head->L, at, zero, words, 1, err);
        free(zero);
        return rc;
}

/* ---- their words ----------------------------------------------------------------------------- */

/* Bad records are reported when they are read again. */
static int collect(void *arg, void *scratch, const struct cmd_line *line, struct cmd_result *result,
                   struct ran_error *err)
{
        return cmd_vocab_words_read(scratch, &line->record, arg, &result->out, err);
}

static int count(void *arg, const struct cmd_line *line, const struct cmd_result *result,
                 struct ran_error *err)
{
        (void)line;
        return ran_counter_add(arg, result->out.data, result->out.len, err);
}

static void refuse_pipes(char **files)
{
        struct stat st;

        for (; *files != NULL; files++)
                if (strcmp(*files, "-") == 0 ||
                    (stat(*files, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
                        cmd_usage("%s without labels: a learned vocabulary needs a file, which is "
                                  "read twice, and not a pipe; or give --vocab FILE",
                                  strcmp(*files, "-") == 0 ? "stdin" : *files);
}

void train_text_set_count(const struct cmd_input *input, struct ran_pool *pool, char **files,
                          struct ran_counter *counter)
{
        static const char *const members[] = {CMD_VOCAB_WORDS_MEMBERS, NULL};
        const struct cmd_loop loop = {.input = input,
                                      .reads = members,
                                      .pool = pool,
                                      .make_scratch = cmd_vocab_words_make,
                                      .free_scratch = cmd_vocab_words_free,
                                      .work = collect,
                                      .take = count,
                                      .again = true,
                                      .arg = counter};

        refuse_pipes(files);
        cmd_records(&loop, files, NULL);
}
