/* tag-eval.c - the tags that a model gives against those that the records have. */
#include "tag-eval.h"

#include <stdlib.h>
#include <string.h>

enum { LISTED = 20 }; /* unknown tags that are named before the others are only counted */

int tag_eval_init(struct tag_eval *e, const struct ran_model *model, const struct ran_tag *tags,
                  struct ran_error *err)
{
        *e = (struct tag_eval){.model = model, .tags = tags};
        e->conll = ran_conll_new(err);
        e->strict = ran_strict_new(err);
        if (e->conll == NULL || e->strict == NULL) {
                tag_eval_release(e);
                return RAN_ENOMEM;
        }
        return RAN_OK;
}

void tag_eval_release(struct tag_eval *e)
{
        ran_conll_free(e->conll);
        ran_strict_free(e->strict);
        cmd_labels_release(&e->gold);
        free(e->found);
        ran_buf_release(&e->columns);
        *e = (struct tag_eval){0};
}

bool tag_eval_tagged(const struct ran_record *record)
{
        const struct ran_member *tags = ran_record_find(record, "tags", NULL);

        return tags != NULL && tags->type != '0';
}

/* ---- one record ----------------------------------------------------------------------------- */

static bool is_known(const struct tag_eval *e, const char *name, size_t n)
{
        for (size_t c = 0; c < ran_model_classes(e->model); c++) {
                const char *known = ran_model_label(e->model, c);
                if (strlen(known) == n && memcmp(known, name, n) == 0)
                        return true;
        }
        return false;
}

static void note_unknown(struct tag_eval *e, const struct cmd_line *line, const char *name,
                         size_t n)
{
        if (is_known(e, name, n) || ++e->unknown > LISTED)
                return;
        cmd_warn("%s:%zu: the model does not know the tag \"%.*s\": no answer is right",
                 strcmp(line->file, "-") == 0 ? "standard input" : line->file, line->number,
                 (int)(n < 200 ? n : 200), name);
}

void tag_eval_field(struct ran_buf *out, const char *text, size_t n)
{
        for (size_t i = 0; i < n; i++)
                ran_buf_char(out, (unsigned char)text[i] <= ' ' || text[i] == 0x7f ? '_' : text[i]);
        if (n == 0)
                ran_buf_char(out, '_');
}

/* A line that conlleval reads: the word, the gold tag and the one found. *text moves to the next
 * word. */
static void add_columns(struct tag_eval *e, const char **text, const char *gold, size_t n,
                        const char *found)
{
        static const char boundary[] =
                "-X-\n"; /* a word that conlleval takes for the end of a sentence */
        const char *end = strchr(*text, '\n');
        bool is_boundary = strncmp(*text, boundary, strlen(boundary)) == 0;

        ran_buf_str(&e->columns, is_boundary ? "_" : "");
        ran_buf_add(&e->columns, *text, (size_t)(end - *text));
        ran_buf_char(&e->columns, ' ');
        tag_eval_field(&e->columns, gold, n);
        ran_buf_char(&e->columns, ' ');
        tag_eval_field(&e->columns, found, strlen(found));
        ran_buf_char(&e->columns, '\n');
        *text = end + 1;
}

static int check(const struct cmd_labels *gold, size_t n, struct ran_error *err)
{
        if (gold->n != n)
                return ran_fail(err, RAN_EFORMAT, "the document has %zu words but %zu \"tags\"", n,
                                gold->n);
        if (gold->numbers)
                return ran_fail(err, RAN_EFORMAT,
                                "the \"tags\" are numbers, but the model knows them by name");
        return RAN_OK;
}

static int compare(struct tag_eval *e, const struct cmd_line *line,
                   const struct tag_eval_words *words, struct ran_error *err)
{
        const struct cmd_labels *gold = &e->gold;
        const char *text = words->text;

        for (size_t i = 0, begin = 0; i < words->n; begin = gold->end[i++]) {
                const char *name = gold->names.data + begin;
                const char *found = ran_model_label(e->model, words->tags[i]);
                size_t n = gold->end[i] - begin;
                int code = ran_conll_add_token(e->conll, name, n, found, strlen(found), err);
                if (code != RAN_OK)
                        return code;
                note_unknown(e, line, name, n);
                if (e->with_columns)
                        add_columns(e, &text, name, n, found);
                e->found[i] = e->tags[words->tags[i]];
        }
        ran_conll_end_sentence(e->conll);
        if (e->with_columns)
                ran_buf_char(&e->columns, '\n');
        return ran_strict_add(e->strict, gold->tags, e->found, words->n, err);
}

int tag_eval_add(struct tag_eval *e, const struct cmd_line *line,
                 const struct tag_eval_words *words, struct ran_error *err)
{
        int code = cmd_tags_read(&e->gold, &line->record, err);

        if (code == RAN_OK)
                code = check(&e->gold, words->n, err);
        if (code != RAN_OK)
                return code;
        struct ran_tag *found = ran_grow(e->found, &e->found_cap, words->n, sizeof(*found), err);
        if (found == NULL)
                return RAN_ENOMEM;
        e->found = found;
        e->compared++;
        return compare(e, line, words, err);
}

/* ---- the report ----------------------------------------------------------------------------- */

void tag_eval_report(struct tag_eval *e, int format, struct ran_buf *out)
{
        struct ran_conll_report conll;
        struct ran_strict_report strict;

        ran_conll_finish(e->conll, &conll);
        ran_strict_finish(e->strict, &strict);
        if (format == TAG_EVAL_JSON) {
                ran_buf_printf(out, "{\"n\":%zu,\"n_skipped\":%zu,\"unknown_tags\":%zu",
                               e->compared, e->skipped, e->unknown);
                ran_buf_str(out, ",\"conlleval\":");
                ran_conll_json(&conll, out);
                ran_buf_str(out, ",\"strict\":");
                ran_strict_json(&strict, out);
                ran_buf_str(out, "}\n");
                return;
        }
        ran_conll_text(&conll, out);
        if (format == TAG_EVAL_TEXT) {
                ran_buf_char(out, '\n');
                ran_strict_text(&strict, out);
        }
}
