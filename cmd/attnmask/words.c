/* words.c - the words of a document beside a picture, and its title. */
#include "cmd/attnmask/words.h"

#include <stdlib.h>

#include "cmd/attnmask/token-text.h"
#include "cmd/pages/record-name.h"

void attnmask_words_free(char **words, size_t n)
{
        for (size_t i = 0; i < n && words != NULL; i++)
                free(words[i]);
        free(words);
}

/* A string of what a terminal or a reader of XML may have; NULL without memory. */
static char *shown(const char *s, size_t n)
{
        struct ran_buf text = {0};

        ran_buf_shown(&text, s, n);
        ran_buf_char(&text, '\0');
        if (text.failed)
                ran_buf_release(&text);
        return text.data;
}

static char *cell_name(size_t i)
{
        struct ran_buf name = {0};

        ran_buf_printf(&name, "cell %zu", i);
        ran_buf_char(&name, '\0');
        if (name.failed)
                ran_buf_release(&name);
        return name.data;
}

static char **make_words(const struct attnmask_scratch *s, struct token_text *text,
                         enum ran_axis axis, size_t from, size_t to, struct ran_error *err)
{
        char **words = ran_alloc(to - from, sizeof *words, err);
        struct token_part part;

        for (size_t i = from; i < to && words != NULL; i++) {
                size_t token = i;

                if (axis == RAN_AXIS_ROWS && ran_probe_is_cell(&s->shape, i, &token)) {
                        words[i - from] = cell_name(token);
                } else {
                        token_text_next(text, token, &part);
                        words[i - from] = shown(part.text, part.n);
                }
                if (words[i - from] == NULL) {
                        attnmask_words_free(words, to - from);
                        ran_fail(err, RAN_ENOMEM, "no memory for the words of a picture");
                        return NULL;
                }
        }
        return words;
}

char **attnmask_words(const struct attnmask_model *a, const struct attnmask_scratch *s,
                      const struct cmd_line *line, enum ran_axis axis, size_t from, size_t to,
                      struct ran_error *err)
{
        struct token_text text = {0};
        char **words = NULL;

        if (token_text_begin(&text, &s->reading, a->model, &line->record, err) == RAN_OK)
                words = make_words(s, &text, axis, from, to, err);
        token_text_release(&text);
        return words;
}

char *attnmask_title(const char *what, const struct cmd_line *line, struct ran_error *err)
{
        struct ran_buf name = {0}, title = {0};

        ran_buf_printf(&name, "%s: ", what);
        record_name(&name, &line->record.json, line->file, line->number);
        ran_buf_shown(&title, name.data, name.len);
        ran_buf_char(&title, '\0');
        title.failed |= name.failed;
        ran_buf_release(&name);
        if (title.failed) {
                ran_buf_release(&title);
                ran_fail(err, RAN_ENOMEM, "no memory for the title of a picture");
        }
        return title.data;
}
