/* vocab.c - the tokens of a tokenizer.json: those of its vocabulary, and those that were added.
 *
 * A vocabulary has tens of thousands of tokens, and a program that labels one document reads them
 * all. So what nearly all files have, ids in ascending order without a gap, is read in one pass;
 * the long way is for others, and for telling what is wrong with a file. */
#include <stdlib.h>
#include <string.h>

#include "base/string-table.h"
#include "record/json.h"
#include "text/hf/hf.h"
#include "text/tokenizer.h"

/* ---- ids in order --------------------------------------------------------------------------- */

/* The token in `name`, decoded if it has escapes; NULL if it has half a character, or none. */
static const char *plain_token(const char *json, struct ran_span name, struct ran_buf *text,
                               size_t *n)
{
        *n = name.end - name.begin - 2;
        if (*n == 0 || memchr(json + name.begin + 1, '\\', *n) == NULL)
                return *n > 0 ? json + name.begin + 1 : NULL;
        text->len = 0;
        if (ran_json_decode(json, name, text, NULL) != RAN_OK)
                return NULL;
        *n = text->len;
        return text->data;
}

/* Whether `wanted` stands at json[*pos], in digits alone; *pos: behind the digits. */
static bool take_number(const char *json, size_t *pos, size_t wanted)
{
        size_t value = 0, at = *pos;

        for (; json[at] >= '0' && json[at] <= '9' && value <= wanted; at++)
                value = 10 * value + (size_t)(json[at] - '0');
        bool taken = at > *pos && value == wanted && json[at] != '\0' &&
                     strchr(",} \t\n\r", json[at]) != NULL;
        *pos = at;
        return taken;
}

size_t ran_hf_take_vocab(struct ran_string_table *tokens, const char *json, struct ran_span vocab)
{
        /* Bytes of a usual token, with quotes and number: a guess, so that the table grows once. */
        enum { ENTRY = 16 };
        struct ran_buf text = {0};
        struct ran_span name;
        size_t pos = 0, n;
        bool taken = true;

        ran_string_table_reserve(tokens, (vocab.end - vocab.begin) / ENTRY);
        while (taken && ran_json_begin(json, vocab, &pos, &name)) {
                const size_t id = tokens->n;
                const char *token = plain_token(json, name, &text, &n);

                taken = token != NULL && take_number(json, &pos, id) &&
                        ran_string_table_add(tokens, token, n) == id;
        }
        ran_buf_release(&text);
        if (taken)
                return pos + 1;
        ran_string_table_release(tokens);
        return 0;
}

/* ---- any ids -------------------------------------------------------------------------------- */

struct entry {
        size_t id;
        const char *token;  /* in text of its entries, or owned by the document */
        const cJSON *added; /* of added_tokens; NULL: of the vocabulary */
};
struct entries {
        struct entry *at;
        size_t n, cap;
        struct ran_buf text;
};

static int by_id(const void *a, const void *b)
{
        const struct entry *x = a, *y = b;

        if (x->id != y->id)
                return x->id < y->id ? -1 : 1;
        return (x->added != NULL) - (y->added != NULL);
}

static void add_entry(struct entries *all, const char *token, size_t id, const cJSON *added)
{
        RAN_ROOM(all->at, all->cap, all->n + 1);
        all->at[all->n++] = (struct entry){id, token, added};
}

/* Not an id; refused later. */
enum { NO_ID = -1 };

static size_t whole_number(const char *text, size_t n)
{
        size_t id;
        double x;

        if (ran_parse_size(text, n, &id))
                return id;
        if (ran_parse_double(text, n, &x) && x >= 0 && x < UINT32_MAX && x == (double)(size_t)x)
                return (size_t)x;
        return (size_t)NO_ID;
}

/* Iterates over the vocabulary without a node for each member: it is most of the file. */
static int collect_vocab(struct entries *all, const struct ran_hf_lists *lists,
                         struct ran_error *err)
{
        const char *json = lists->json;
        struct ran_span name, item;
        size_t pos = 0;
        char type;

        /* Decoded text is never longer than with quotes, so the buffer does not move. */
        (void)ran_buf_room(&all->text, lists->vocab.end - lists->vocab.begin);
        while (ran_json_next(json, lists->vocab, &pos, &name, &item, &type)) {
                const char *token = all->text.data + all->text.len;
                RAN_TRY(ran_json_decode(json, name, &all->text, err));
                ran_buf_char(&all->text, '\0');
                add_entry(all, token,
                          type == 'n' ? whole_number(json + item.begin, item.end - item.begin)
                                      : (size_t)NO_ID,
                          NULL);
        }
        return RAN_OK;
}

static int collect_added(struct entries *all, const cJSON *added, struct ran_error *err)
{
        const cJSON *item;

        cJSON_ArrayForEach(item, added)
        {
                const char *content = ran_cjson_text(item, "content");
                size_t id = (size_t)NO_ID;
                if (content == NULL || content[0] == '\0')
                        return ran_fail(err, RAN_EFORMAT, "an added token has no content");
                if (!ran_cjson_whole(ran_cjson_member(item, "id"), 0, UINT32_MAX - 1.0, &id))
                        id = (size_t)NO_ID;
                add_entry(all, content, id, item);
        }
        return RAN_OK;
}

/* Ids may have a few gaps: an id far beyond the number of tokens would waste memory, here and in
 * every model. `taken`: tokens that have ids already. */
static int collect(struct entries *all, const struct ran_hf_lists *lists, size_t taken,
                   const cJSON *added, struct ran_error *err)
{
        if (lists != NULL && taken == 0)
                RAN_TRY(collect_vocab(all, lists, err));
        RAN_TRY(collect_added(all, added, err));
        const size_t limit = 2 * (taken + all->n) + 1000;
        for (size_t i = 0; i < all->n; i++)
                if (all->at[i].id >= limit)
                        return ran_fail(err, RAN_EFORMAT,
                                        "the id of '%.80s' is not a whole number from 0 to %zu",
                                        all->at[i].token, limit - 1);
        if (all->n > 0)
                qsort(all->at, all->n, sizeof(*all->at), by_id);
        return RAN_OK;
}

/* Whether normalisation neither creates nor removes this token in a text. That holds without
 * normalisation; and under NFC if the token is ASCII, does not end in a character that composes
 * with marks after it, and has none of the three characters that others become. */
static bool is_left_alone(const struct ran_normalizer *z, const char *token)
{
        unsigned char last = (unsigned char)token[strlen(token) - 1];
        bool joins = (last | 0x20) >= 'a' && (last | 0x20) <= 'z';

        joins = joins || (last >= '<' && last <= '>') || strpbrk(token, "K;`") != NULL;
        for (const char *s = token; *s != '\0'; s++)
                joins = joins || (unsigned char)*s >= 0x80;
        for (size_t i = 0; i < z->n; i++)
                if (z->step[i] != NORMAL_NFC || joins)
                        return false;
        return true;
}

/* Finds a token in the normalised text, by the text that it is normalised to. */
static int add_normalized(struct ran_tokenizer *t, const struct ran_added_token *token,
                          const char *content, struct ran_error *err)
{
        struct ran_passage p = {0};
        size_t points;
        int rc = ran_steps_normalize(t->steps, &p, content, strlen(content), &points, err);

        if (rc == RAN_OK)
                rc = ran_added_tokens_add(&t->normalized, p.s, p.n, token, err);
        ran_passage_release(&p);
        return rc;
}

static int read_flags(const struct ran_normalizer *z, const cJSON *added, const char *content,
                      struct ran_added_token *token, bool *normalized, struct ran_error *err)
{
        RAN_TRY(ran_cjson_bool(added, "special", false, &token->special, err));
        RAN_TRY(ran_cjson_bool(added, "normalized", !token->special, normalized, err));
        RAN_TRY(ran_cjson_bool(added, "single_word", false, &token->single, err));
        RAN_TRY(ran_cjson_bool(added, "lstrip", false, &token->left, err));
        RAN_TRY(ran_cjson_bool(added, "rstrip", false, &token->right, err));
        if (z != NULL && is_left_alone(z, content))
                *normalized = false; /* a text contains it where the normalised text does */
        return RAN_OK;
}

bool ran_hf_added_need_steps(const struct ran_normalizer *z, const cJSON *added)
{
        const cJSON *item;

        cJSON_ArrayForEach(item, added)
        {
                const char *content = ran_cjson_text(item, "content");
                struct ran_added_token token = {0};
                bool normalized;

                if (content != NULL && *content != '\0' &&
                    read_flags(z, item, content, &token, &normalized, NULL) == RAN_OK &&
                    (normalized || token.single))
                        return true;
        }
        return false;
}

static int add_added(struct ran_tokenizer *t, const struct entry *e, struct ran_error *err)
{
        struct ran_added_token token = {.id = (uint32_t)e->id};
        bool normalized = false;

        RAN_TRY(read_flags(t->steps == NULL ? &t->rules.normal : NULL, e->added, e->token, &token,
                           &normalized, err));
        return normalized ? add_normalized(t, &token, e->token, err)
                          : ran_tokenizer_add_special(t, &token, err);
}

/* A token may be given twice: in the vocabulary, and as an added token of the same id. */
static int check_repetition(const struct ran_tokenizer *t, const struct entries *all, size_t i,
                            struct ran_error *err)
{
        const struct entry *e = &all->at[i];
        const bool after_added = i > 0 && e[-1].id == e->id && e[-1].added != NULL;
        size_t n;
        const char *token = ran_string_table_get(&t->tokens, (uint32_t)e->id, &n);

        if (!after_added && e->added != NULL && strlen(e->token) == n &&
            memcmp(token, e->token, n) == 0)
                return RAN_OK;
        return ran_fail(err, RAN_EFORMAT, "'%.*s' and '%.80s' have the same id %zu",
                        n < 80 ? (int)n : 80, token, e->token, e->id);
}

static int add_tokens(struct ran_tokenizer *t, const struct entries *all, struct ran_error *err)
{
        ran_string_table_reserve(&t->tokens, all->n);
        for (size_t i = 0; i < all->n; i++) {
                const struct entry *e = &all->at[i];

                while (t->tokens.n < e->id)
                        RAN_TRY(ran_tokenizer_add(t, "", 0, err));
                if (t->tokens.n > e->id)
                        RAN_TRY(check_repetition(t, all, i, err));
                else
                        RAN_TRY(ran_tokenizer_add(t, e->token, strlen(e->token), err));
                if (e->added != NULL)
                        RAN_TRY(add_added(t, e, err));
        }
        return RAN_OK;
}

int ran_hf_read_tokens(struct ran_tokenizer *t, struct ran_hf_lists *lists, const cJSON *added,
                       struct ran_error *err)
{
        struct entries all = {0};

        if (lists != NULL && (lists->vocab.end == 0 || lists->json[lists->vocab.begin] != '{'))
                return ran_fail(err, RAN_EFORMAT, "'model' has no object 'vocab'");
        if (lists != NULL) {
                t->tokens = lists->tokens;
                lists->tokens = (struct ran_string_table){0};
        }
        size_t end = t->tokens.n; /* behind the ids of the vocabulary */
        int code = collect(&all, lists, end, added, err);
        for (size_t i = 0; i < all.n && code == RAN_OK; i++)
                if (all.at[i].added == NULL && all.at[i].id >= end)
                        end = all.at[i].id + 1;
        if (t->exact)
                t->most = (uint32_t)end;
        if (code == RAN_OK)
                code = add_tokens(t, &all, err);
        free(all.at);
        ran_buf_release(&all.text);
        return code;
}
