/* unigram.c - reads the tokens of the model Unigram, a list of ["token", score] in the order of
 * their ids. */
#include <stdio.h>
#include <string.h>

#include "record/json.h"
#include "text/hf/hf.h"

/* One ["token", score]. */
static int read_entry(struct ran_tokenizer *t, const char *json, struct ran_span entry, size_t *cap,
                      struct ran_buf *text, struct ran_error *err)
{
        struct ran_unigram *u = &t->unigram;
        struct ran_span token, score, none;
        size_t pos = 0;
        char first = '0', second = '0', third;
        double value = 0;
        bool whole = ran_json_next(json, entry, &pos, NULL, &token, &first) &&
                     ran_json_next(json, entry, &pos, NULL, &score, &second) && first == 's' &&
                     second == 'n' && !ran_json_next(json, entry, &pos, NULL, &none, &third) &&
                     ran_parse_double(json + score.begin, score.end - score.begin, &value);

        if (!whole)
                return ran_fail(err, RAN_EFORMAT,
                                "entry %zu of the vocabulary of Unigram is not a token and its "
                                "score",
                                u->n + 1);
        text->len = 0;
        RAN_TRY(ran_json_decode(json, token, text, err));
        RAN_TRY(ran_tokenizer_add(t, text->data != NULL ? text->data : "", text->len, err));
        RAN_ROOM(u->score, *cap, u->n + 1);
        u->score[u->n++] = value;
        return RAN_OK;
}

static int read_vocab(struct ran_tokenizer *t, const struct ran_hf_lists *lists,
                      struct ran_error *err)
{
        enum { ENTRY = 24 }; /* bytes of a usual one: a guess, so that the table grows once */
        const struct ran_span vocab = lists->vocab;
        struct ran_buf text = {0};
        struct ran_span entry;
        size_t pos = 0, cap = 0;
        char type;
        int rc = RAN_OK;

        ran_string_table_reserve(&t->tokens, (vocab.end - vocab.begin) / ENTRY);
        while (rc == RAN_OK && ran_json_next(lists->json, vocab, &pos, NULL, &entry, &type)) {
                if (type != 'a')
                        rc = ran_fail(err, RAN_EFORMAT,
                                      "entry %zu of the vocabulary of Unigram is not a list",
                                      t->unigram.n + 1);
                else
                        rc = read_entry(t, lists->json, entry, &cap, &text, err);
        }
        ran_buf_release(&text);
        return rc;
}

int ran_hf_read_unigram(struct ran_tokenizer *t, struct ran_hf_lists *lists, const cJSON *document,
                        struct ran_error *err)
{
        const cJSON *model = ran_cjson_member(document, "model");
        struct ran_unigram *u = &t->unigram;
        size_t unk;

        if (lists->vocab.end == 0 || lists->json[lists->vocab.begin] != '[')
                return ran_fail(err, RAN_EFORMAT, "the model Unigram has no list 'vocab'");
        RAN_TRY(read_vocab(t, lists, err));
        t->most = (uint32_t)u->n;
        if (!ran_cjson_whole(ran_cjson_member(model, "unk_id"), 0, (double)u->n - 1, &unk))
                return ran_fail(err, RAN_EFORMAT,
                                "'unk_id' of the model Unigram is not the id of a token: unknown "
                                "text would have no token");
        t->unk = (uint32_t)unk;
        RAN_TRY(ran_cjson_bool(model, "byte_fallback", false, &u->bytes, err));
        for (unsigned i = 0; i < 256; i++) {
                char token[TOKENIZER_BYTE_LENGTH + 1];
                snprintf(token, sizeof token, TOKENIZER_BYTE, i);
                if (!ran_tokenizer_find(t, token, TOKENIZER_BYTE_LENGTH, &u->byte[i]) ||
                    u->byte[i] >= u->n)
                        u->byte[i] = RAN_NO_ID;
        }
        lists->vocab = (struct ran_span){0, 0};
        return ran_hf_read_tokens(t, NULL, ran_cjson_member(document, "added_tokens"), err);
}
