/* top.c - see top.h. */
#include "cmd/train/about/about.h"

#include <stdlib.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/content/document.h"
#include "cmd/records/loop.h"

/* ---- reading ----------------------------------------------------------------------------------
 */

struct reading {
        const struct ran_model *m;
        struct ran_top_ngrams *grams;
};

static void free_scratch(void *scratch)
{
        cmd_document_release(scratch);
        free(scratch);
}

static int read_ids(void *arg, void *scratch, const struct cmd_line *line,
                    struct cmd_result *result, struct ran_error *err)
{
        const struct ran_model *m = ((struct reading *)arg)->m;
        struct cmd_document *d = scratch;

        RAN_TRY(cmd_document_read(d, &line->record, ran_model_tokenizer(m), ran_model_vocabulary(m),
                                  NULL, err));
        ran_buf_add(&result->out, d->ids, d->L * sizeof *d->ids);
        return RAN_OK;
}

static int take_ids(void *arg, const struct cmd_line *line, struct cmd_result *result,
                    struct ran_error *err)
{
        (void)line;
        (void)err;
        ran_top_ngrams_add(((struct reading *)arg)->grams, (const void *)result->out.data,
                           result->out.len / sizeof(uint32_t));
        return RAN_OK;
}

static int read_texts(const struct train_top_options *o, struct reading *r)
{
        struct cmd_loop loop = {
                .input = &o->input,
                .reads = FIELD(ID) | FIELD(ERROR) | FIELDS_OF_DOCUMENT,
                .pool = cmd_pool(),
                .scratch_size = sizeof(struct cmd_document),
                .free_scratch = free_scratch,
                .work = read_ids,
                .take = take_ids,
                .accepted = true,
                .arg = r,
        };
        const int status = cmd_records(&loop, cmd_files(&o->input, o->texts.item), NULL);

        ran_pool_free(loop.pool);
        return status;
}

/* ---- lists ------------------------------------------------------------------------------------
 */

static _Noreturn void refuse(const char *path, const struct ran_error *err)
{
        cmd_die(CMD_FAILED, "%s: --top: %s", path, err->text);
}

/* The n-grams of the texts, or of the vocabulary; the caller frees them. */
static struct ran_top_ngrams *find(const struct train_top_options *o, const struct ran_model *m,
                                   const char *path, int *status)
{
        struct reading r = {.m = m};
        struct ran_error err;

        r.grams = ran_top_ngrams_new(m, &err);
        if (r.grams == NULL)
                refuse(path, &err);
        if (o->texts.n > 0) {
                const int read = read_texts(o, &r);
                *status = read > *status ? read : *status;
        } else {
                ran_top_ngrams_add_vocabulary(r.grams);
        }
        return r.grams;
}

void train_top_add(const struct train_top_options *o, const struct ran_model *m, const char *path,
                   struct report *r, int *status)
{
        const size_t C = ran_model_classes(m);
        struct ran_top_ngrams *grams = find(o, m, path, status);
        struct ran_error err;
        size_t all, *n = ran_new(C, sizeof *n);

        if (__builtin_mul_overflow(C, o->top, &all))
                cmd_die(CMD_FAILED, "out of memory");
        struct ran_top_ngram *list = ran_alloc(all, sizeof *list, &err);
        if (list == NULL)
                refuse(path, &err);
        ran_top_ngrams_list(grams, list, o->top, n);
        const bool texts = o->texts.n > 0;
        struct ran_buf text = {0};

        report_begin(r, REPORT_OBJECT, "top",
                     texts ? "N-grams that speak most for a label"
                           : "Words that speak most for a label");
        report_note(r, "%s", texts ? "" : "--texts shows n-grams as well");
        for (size_t c = 0; c < C; c++) {
                const char *label = ran_model_label(m, c);

                report_begin(r, REPORT_LIST, label, label);
                for (size_t i = 0; i < n[c]; i++) {
                        const struct ran_top_ngram *gram = &list[c * o->top + i];

                        text.len = 0;
                        if (ran_tokenizer_decode(ran_model_tokenizer(m), gram->ids, gram->n, &text,
                                                 &err) != RAN_OK)
                                ran_buf_str(&text, "?");
                        report_begin(r, REPORT_OBJECT, "", "");
                        report_bytes(r, REPORT_TEXT, "ngram", "n-gram", text.data, text.len);
                        report_number(r, "weight", "weight", gram->weight, 3);
                        if (texts)
                                report_count(r, "count", "times", gram->count);
                        report_end(r);
                }
                report_end(r);
        }
        report_end(r);
        ran_buf_release(&text);
        ran_top_ngrams_free(grams);
        free(list);
        free(n);
}
