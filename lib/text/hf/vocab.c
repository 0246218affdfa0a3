/* vocab.c - the tokens of a tokenizer.json: those of its vocabulary, and those that were added. A
 * vocabulary has tens of thousands, and a program that labels one document reads them all: there is
 * no node of cJSON for each. */
#include <stdlib.h>
#include <string.h>

#include "base/string-table.h"
#include "text/hf/hf.h"
#include "text/tokenizer.h"

struct entry {
        size_t id;
        const char *token;  /* in text of its entries, or owned by the document */
        const cJSON *added; /* of added_tokens; NULL: of the vocabulary */
};
struct entries {
        struct entry *at;
        size_t n, cap;
        struct ran_buf text;
        bool sorted; /* ids ascend, as in nearly all files */
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
        all->sorted = all->n == 0 || (all->sorted && all->at[all->n - 1].id < id);
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

/* Adds the token in quotes at `name`. Decoded text is never longer, so that of all does not move.
 */
static int add_quoted(struct entries *all, const char *json, struct ran_span name, size_t id,
                      struct ran_error *err)
{
        const char *token = all->text.data + all->text.len;

        RAN_TRY(ran_json_decode(json, name, &all->text, err));
        ran_buf_char(&all->text, '\0');
        add_entry(all, token, id, NULL);
        return RAN_OK;
}

/* {"token": id, ...} */
static int collect_ids(struct entries *all, struct ran_items i, struct ran_error *err)
{
        while (ran_items_next(&i)) {
                const struct ran_span id = i.value;
                RAN_TRY(add_quoted(all, i.line, i.name,
                                   i.type == 'n'
                                           ? whole_number(i.line + id.begin, id.end - id.begin)
                                           : (size_t)NO_ID,
                                   err));
        }
        return RAN_OK;
}

/* [["token", score], ...] in the order of the ids. */
static int collect_scores(struct entries *all, struct ran_unigram *u, struct ran_items list,
                          struct ran_error *err)
{
        size_t cap = 0;

        while (ran_items_next(&list)) {
                struct ran_items i = ran_items(list.line, list.value);
                double score;
                const bool named = list.type == 'a' && ran_items_next(&i) && i.type == 's';
                const struct ran_span token = i.value;

                if (!named || !ran_items_next(&i) || i.type != 'n' ||
                    !ran_parse_double(i.line + i.value.begin, i.value.end - i.value.begin,
                                      &score) ||
                    ran_items_next(&i))
                        return ran_fail(err, RAN_EFORMAT,
                                        "entry %zu of the vocabulary of Unigram is not a token and "
                                        "its score",
                                        u->n + 1);
                RAN_TRY(add_quoted(all, list.line, token, u->n, err));
                RAN_ROOM(u->score, cap, u->n + 1);
                u->score[u->n++] = score;
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
 * every model. */
static int collect(struct entries *all, struct ran_tokenizer *t, struct ran_items vocab,
                   const cJSON *added, struct ran_error *err)
{
        (void)ran_buf_room(&all->text, vocab.in.end - vocab.in.begin);
        if (t->type == TOKENIZER_UNIGRAM)
                RAN_TRY(collect_scores(all, &t->unigram, vocab, err));
        else
                RAN_TRY(collect_ids(all, vocab, err));
        RAN_TRY(collect_added(all, added, err));
        const size_t limit = 2 * all->n + 1000;
        for (size_t i = 0; i < all->n; i++)
                if (all->at[i].id >= limit)
                        return ran_fail(err, RAN_EFORMAT,
                                        "the id of '%.80s' is not a whole number from 0 to %zu",
                                        all->at[i].token, limit - 1);
        if (!all->sorted && all->n > 0)
                qsort(all->at, all->n, sizeof(*all->at), by_id);
        return RAN_OK;
}

static int read_flags(const cJSON *added, struct ran_added_token *token, bool *normalized,
                      struct ran_error *err)
{
        RAN_TRY(ran_cjson_bool(added, "special", false, &token->special, err));
        RAN_TRY(ran_cjson_bool(added, "normalized", !token->special, normalized, err));
        RAN_TRY(ran_cjson_bool(added, "single_word", false, &token->single, err));
        RAN_TRY(ran_cjson_bool(added, "lstrip", false, &token->left, err));
        return ran_cjson_bool(added, "rstrip", false, &token->right, err);
}

bool ran_hf_added_need_steps(const struct ran_normalizer *z, const cJSON *added)
{
        const cJSON *item;

        cJSON_ArrayForEach(item, added)
        {
                struct ran_added_token token = {0};
                bool normalized;

                if (read_flags(item, &token, &normalized, NULL) == RAN_OK &&
                    (token.single || (normalized && z->n > 0)))
                        return true;
        }
        return false;
}

static int add_added(struct ran_tokenizer *t, const struct entry *e, struct ran_error *err)
{
        struct ran_added_token token = {.id = (uint32_t)e->id};
        struct ran_passage p = {0};
        bool normalized = false;
        size_t points;

        RAN_TRY(read_flags(e->added, &token, &normalized, err));
        if (!normalized || t->steps == NULL)
                return ran_tokenizer_add_special(t, &token, err);
        /* Found in the normalised text, by the text that it is normalised to. */
        int rc = ran_steps_normalize(t->steps, &p, e->token, strlen(e->token), &points, err);
        if (rc == RAN_OK)
                rc = ran_added_tokens_add(&t->normalized, p.s, p.n, &token, err);
        ran_passage_release(&p);
        return rc;
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

int ran_hf_read_tokens(struct ran_tokenizer *t, const char *json, struct ran_span vocab,
                       const cJSON *added, struct ran_error *err)
{
        const bool scores = t->type == TOKENIZER_UNIGRAM;
        struct entries all = {0};
        size_t end = 0; /* behind the ids of the vocabulary */

        if (vocab.end == 0 || json[vocab.begin] != (scores ? '[' : '{'))
                return ran_fail(err, RAN_EFORMAT, "%s",
                                scores ? "the model Unigram has no list 'vocab'"
                                       : "'model' has no object 'vocab'");
        int code = collect(&all, t, ran_items(json, vocab), added, err);
        for (size_t i = 0; i < all.n && code == RAN_OK; i++)
                if (all.at[i].added == NULL)
                        end = all.at[i].id + 1;
        if (t->exact)
                t->most = (uint32_t)end;
        if (code == RAN_OK)
                code = add_tokens(t, &all, err);
        free(all.at);
        ran_buf_release(&all.text);
        return code;
}
