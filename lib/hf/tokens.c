/* tokens.c - the vocabulary of a folder. See folder.h. */
#include "hf/folder.h"
#include "ran/record.h"

#include <stdlib.h>
#include <string.h>

/* The sentences of this reader begin with the path of the folder. */
static int without_path(const struct ran_error *said, const char *path, struct ran_error *err)
{
        const size_t n = strlen(path);
        const char *text = said->text;

        if (strncmp(text, path, n) != 0)
                return ran_fail(err, said->code, "%s", text);
        text += n + (text[n] == '/' || text[n] == ' ');
        return ran_fail(err, said->code, "%s%s", strncmp(text, "has ", 4) == 0 ? "it " : "", text);
}

static int open_tokens(const struct ran_hf *f, const char *folder, struct ran_tokenizer **tokenizer,
                       struct ran_error *err)
{
        const char *base = f->base != NULL ? f->base : "";
        struct ran_buf path = {0};
        struct ran_error why = {0};

        ran_buf_printf(&path, "%s%s%s", folder, base[0] != '\0' ? "/" : "", base);
        ran_buf_char(&path, '\0');
        *tokenizer = ran_tokenizer_open_folder(path.data, &why);
        const int rc = *tokenizer != NULL ? RAN_OK : without_path(&why, path.data, err);
        ran_buf_release(&path);
        return rc;
}

/* The text with a normalizer in front that makes lower case. */
static void add_lower_case(struct ran_buf *to, const struct ran_record *all)
{
        const struct ran_member *m = ran_record_find(all, "normalizer", NULL);
        const size_t start = all->object.begin + 1;
        const struct ran_span place = m != NULL ? m->value : (struct ran_span){start, start};

        ran_buf_add(to, all->line, place.begin);
        ran_buf_str(to, m == NULL ? "\"normalizer\":" : "");
        ran_buf_str(to, "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Lowercase\"}");
        if (m != NULL && m->type != '0') {
                ran_buf_char(to, ',');
                ran_buf_add(to, all->line + place.begin, place.end - place.begin);
        }
        ran_buf_str(to, m == NULL ? "]}," : "]}");
        ran_buf_add(to, all->line + place.end, all->length - place.end);
}

/* do_lower_case of Sentence Transformers comes before the tokenizer. */
static int lower(struct ran_tokenizer **tokenizer, struct ran_error *err)
{
        struct ran_tokenizer *lowered = NULL;
        struct ran_record all = {0};
        struct ran_buf text = {0};
        size_t n = 0;
        const char *json = ran_tokenizer_json(*tokenizer, &n);
        int rc = ran_record_scan(&all, json, n, err);

        if (rc == RAN_OK) {
                add_lower_case(&text, &all);
                lowered = ran_tokenizer_load_encoder(text.data, text.len, err);
        }
        ran_record_release(&all);
        ran_buf_release(&text);
        if (lowered == NULL)
                return rc != RAN_OK ? rc : RAN_EFORMAT;
        ran_tokenizer_free(*tokenizer);
        *tokenizer = lowered;
        return RAN_OK;
}

int ran_hf_tokens(const struct ran_hf *f, const char *folder, struct ran_tokenizer **tokenizer,
                  struct ran_error *err)
{
        RAN_TRY(open_tokens(f, folder, tokenizer, err));
        return f->lower_case ? lower(tokenizer, err) : RAN_OK;
}
