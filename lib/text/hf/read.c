/* read.c - a tokeniser from Hugging Face's tokenizer.json. An unknown part that would change
 * ids is refused by name; a part that only adds tokens or truncates texts is ignored, with a
 * note. */
#include <stdio.h>
#include <string.h>

#include "text/hf/hf.h"
#include "text/tokenizer.h"

/* ---- the document --------------------------------------------------------------------------- */

static int read_wordpiece(struct ran_tokenizer *t, const cJSON *model, struct ran_error *err)
{
        const cJSON *most = ran_cjson_member(model, "max_input_chars_per_word");
        const char *prefix = ran_cjson_text(model, "continuing_subword_prefix");

        t->max_chars = 100;
        if (!ran_cjson_is_null(most) && !ran_cjson_whole(most, 0, UINT32_MAX - 1.0, &t->max_chars))
                return ran_fail(err, RAN_EFORMAT,
                                "'max_input_chars_per_word' is not a whole number");
        return ran_tokenizer_set_prefix(t, prefix != NULL ? prefix : TOKENIZER_PREFIX, err);
}

static int read_unigram(struct ran_tokenizer *t, const cJSON *model, struct ran_error *err)
{
        struct ran_unigram *u = &t->unigram;
        size_t unk;

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
        return RAN_OK;
}

static void set_notice(struct ran_tokenizer *t, const cJSON *document)
{
        const cJSON *truncation = ran_cjson_member(document, "truncation");
        const cJSON *processor = ran_cjson_member(document, "post_processor");
        bool cuts = !ran_cjson_is_null(truncation);
        bool adds = !t->exact && !ran_cjson_is_null(processor) &&
                    strcmp(ran_hf_type(processor), "ByteLevel") != 0;
        struct ran_buf text = {0};
        size_t most;

        if (cuts) {
                ran_buf_str(&text, "its truncation");
                if (ran_cjson_whole(ran_cjson_member(truncation, "max_length"), 0, UINT32_MAX - 1.0,
                                    &most))
                        ran_buf_printf(&text, " to %zu tokens", most);
                ran_buf_str(&text, " is ignored: documents are never cut");
        }
        if (adds)
                ran_buf_printf(&text,
                               "%sits post_processor is ignored: no tokens are added to a text",
                               cuts ? "; " : "");
        if (cuts || adds)
                ran_buf_char(&text, '\0');
        t->notice = text.data;
}

/* Whether there are rules that do the same as the steps, and a decoder for them. */
static bool find_rules(struct ran_tokenizer *t, const cJSON *document)
{
        const cJSON *decoder = ran_cjson_member(document, "decoder");
        const bool bpe = t->type == TOKENIZER_BPE;

        if (t->type == TOKENIZER_UNIGRAM || bpe != t->steps->bytes || (t->exact && bpe) ||
            !ran_hf_find_rules(&t->rules, t->steps) ||
            ran_hf_added_need_steps(&t->rules.normal, ran_cjson_member(document, "added_tokens")))
                return false;
        t->rules.normal.exact = t->exact;
        return ran_cjson_is_null(decoder) ||
               strcmp(ran_hf_type(decoder), bpe ? "ByteLevel" : "WordPiece") == 0;
}

/* How text becomes words: by rules where they do, else by steps, and then exactly. */
static int read_words(struct ran_tokenizer *t, const cJSON *document, struct ran_error *err)
{
        const cJSON *decoder = ran_cjson_member(document, "decoder");

        RAN_TRY(ran_hf_read_steps(t, document, err));
        if (strcmp(ran_hf_type(decoder), "WordPiece") == 0)
                RAN_TRY(ran_cjson_bool(decoder, "cleanup", true, &t->attach, err));
        if (find_rules(t, document)) {
                ran_steps_free(t->steps);
                t->steps = NULL;
        } else {
                ran_text_rules_release(&t->rules);
                t->exact = true;
        }
        return RAN_OK;
}

static int read_document(struct ran_tokenizer *t, const cJSON *document, const char *json,
                         struct ran_span vocab, struct ran_error *err)
{
        const cJSON *model = ran_cjson_member(document, "model");
        const char *unk = ran_cjson_text(model, "unk_token");
        bool names = t->type == TOKENIZER_WORD || t->type == TOKENIZER_WORDPIECE;

        RAN_TRY(read_words(t, document, err));
        if (t->type == TOKENIZER_WORDPIECE)
                RAN_TRY(read_wordpiece(t, model, err));
        RAN_TRY(ran_hf_read_tokens(t, json, vocab, ran_cjson_member(document, "added_tokens"),
                                   err));
        if (t->type == TOKENIZER_UNIGRAM)
                RAN_TRY(read_unigram(t, model, err));
        if (t->type == TOKENIZER_BPE)
                RAN_TRY(ran_hf_read_bpe(t, model, err));
        set_notice(t, document);
        if (unk == NULL && names)
                unk = ran_tokenizer_reserved[RAN_UNK];
        if (t->exact)
                RAN_TRY(ran_hf_read_frame(t, document, err));
        return ran_tokenizer_finish(t, names || t->steps == NULL ? unk : NULL, err);
}

/* One of enum ran_tokenizer_type, or -1. Early files of byte pairs, like GPT-2's own, do not
 * name their type. */
static int find_type(const cJSON *model)
{
        if (ran_cjson_member(model, "type") == NULL && ran_cjson_member(model, "merges") != NULL)
                return TOKENIZER_BPE;
        for (int i = 0; ran_tokenizer_types[i] != NULL; i++) {
                if (strcmp(ran_hf_type(model), ran_tokenizer_types[i]) == 0)
                        return i;
        }
        return -1;
}

struct ran_tokenizer *ran_hf_make(const cJSON *document, const char *json, struct ran_span vocab,
                                  bool exact, struct ran_error *err)
{
        const cJSON *model = ran_cjson_member(document, "model");
        int type = find_type(model);

        if (!cJSON_IsObject(model)) {
                ran_fail(err, RAN_EFORMAT,
                         "this is not a tokenizer.json: it has no object 'model'");
                return NULL;
        }
        if (type < 0) {
                ran_fail(err, RAN_EFORMAT,
                         "the model '%s' is not supported (WordLevel, WordPiece, BPE and Unigram "
                         "are)",
                         ran_hf_type(model));
                return NULL;
        }
        struct ran_tokenizer *t = ran_tokenizer_new((enum ran_tokenizer_type)type);
        t->exact = exact || ran_cjson_member(document, HF_ROLES) != NULL;
        if (read_document(t, document, json, vocab, err) != RAN_OK) {
                ran_tokenizer_free(t);
                t = NULL;
        }
        return t;
}

int ran_hf_parse(cJSON **document, struct ran_span *vocab, const char *data, size_t n,
                 struct ran_error *err)
{
        struct ran_record scanned = {0};
        struct ran_error why;

        if (ran_cjson_nul(data, n) != NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "the vocabulary contains U+0000, which is not supported");
        const int rc = ran_record_scan(&scanned, data, n, &why);
        if (rc == RAN_OK) {
                const struct ran_member *model = ran_record_find(&scanned, "model", NULL);
                if (model != NULL && !ran_json_find(data, model->value, "vocab", 'o', vocab, NULL))
                        ran_json_find(data, model->value, "vocab", 'a', vocab, NULL);
                struct ran_buf rest = {0}; /* without the vocabulary */
                ran_buf_add(&rest, data, vocab->begin);
                ran_buf_str(&rest, vocab->end > 0 ? "{}" : "");
                ran_buf_add(&rest, data + vocab->end, n - vocab->end);
                *document = ran_cjson_parse(rest.data, rest.len, NULL);
                if (*document == NULL)
                        ran_fail(err, RAN_EFORMAT,
                                 "not valid JSON: nested too deeply, or half of a surrogate pair");
                ran_buf_release(&rest);
        } else if (rc == RAN_EFORMAT) { /* a document has many lines: its columns are bytes */
                ran_fail(err, rc, "not valid JSON at byte %s",
                         why.text + strcspn(why.text, "0123456789"));
        } else {
                ran_fail(err, rc, "%s", why.text);
        }
        ran_record_release(&scanned);
        return rc == RAN_OK && *document == NULL ? RAN_EFORMAT : rc;
}

struct ran_tokenizer *ran_tokenizer_read_json(const char *data, size_t n, bool exact,
                                              struct ran_error *err)
{
        struct ran_span vocab = {0, 0};
        cJSON *document = NULL;
        struct ran_tokenizer *t = NULL;

        err = ran_error_or_spare(err);
        if (ran_hf_parse(&document, &vocab, data, n, err) == RAN_OK)
                t = ran_hf_make(document, data, vocab, exact, err);
        cJSON_Delete(document);
        return t;
}

/* ---- any file -------------------------------------------------------------------------------- */

struct ran_tokenizer *ran_tokenizer_load(const char *data, size_t n, struct ran_error *err)
{
        const size_t mark = ran_utf8_mark(data, n);
        size_t i = mark;

        while (i < n && (data[i] == ' ' || (data[i] >= '\t' && data[i] <= '\r')))
                i++;
        if (i == n) {
                ran_fail(err, RAN_EFORMAT, "the vocabulary is empty");
                return NULL;
        }
        return data[i] == '{' ? ran_tokenizer_read_json(data + mark, n - mark, false, err)
                              : ran_tokenizer_read_lines(data, n, err);
}
