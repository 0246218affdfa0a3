/* The text of a continuation while it is made: spaces, stop strings, halves of characters. */
#include <string.h>

#include "cmd/lm/lm.h"
#include "test.h"
#include "vocabulary.h"

static const struct ran_list no_stops;

/* What is sure of a text, as a string that is good until the next call. */
static const char *sure(const struct lm_text *t)
{
        static char shown[100];
        struct ran_buf out = {0};

        lm_text_show(t, 0, &out);
        ran_buf_char(&out, '\0');
        strncpy(shown, out.data, sizeof shown - 1);
        ran_buf_release(&out);
        return shown;
}

/* Adds bytes, and says what is sure then. */
static const char *then(struct lm_text *t, const char *bytes)
{
        lm_text_add_bytes(t, bytes, strlen(bytes));
        return sure(t);
}

/* The text of tokens, named by their pieces. */
static const char *joined(const struct ran_tokenizer *tokenizer, const char *before,
                          const char *const *pieces)
{
        struct lm_text t = {0};
        struct ran_error err;
        uint32_t id = RAN_NO_ID;
        const char *text;

        if (before != NULL)
                CHECK(ran_tokenizer_find(tokenizer, before, strlen(before), &id));
        lm_text_begin(&t, tokenizer, &no_stops, id);
        for (; *pieces != NULL; pieces++)
                if (CHECK(ran_tokenizer_find(tokenizer, *pieces, strlen(*pieces), &id)))
                        CHECK_OK(lm_text_add(&t, id, &err), err);
        text = sure(&t);
        lm_text_release(&t);
        return text;
}

TEST(lm_text_puts_spaces_where_decoding_puts_them)
{
        const char *const texts[] = {"walk walking talk . walk walking talk .\n", NULL};
        struct ran_vocab_settings settings = default_settings();
        struct ran_error err;

        settings.eol_token = "eol";
        struct ran_tokenizer *words = learn_from(&settings, texts, &err);
        REQUIRE(words != NULL);
        CHECK_STR(joined(words, NULL, (const char *[]){"walk", "talk", ".", "walk", NULL}),
                  "walk talk. walk");
        CHECK_STR(joined(words, "talk", (const char *[]){"walk", ".", NULL}), " walk.");
        CHECK_STR(joined(words, "talk", (const char *[]){".", "eol", "walk", NULL}), ".\nwalk");
        CHECK_STR(joined(words, "eol", (const char *[]){"walk", NULL}), "walk");
        ran_tokenizer_free(words);

        settings = default_settings();
        settings.vocab_type = RAN_VOCAB_WORDPIECE;
        settings.vocab_size = 24;
        struct ran_tokenizer *pieces = learn_from(&settings, texts, &err);
        REQUIRE(pieces != NULL);
        CHECK_STR(joined(pieces, "t", (const char *[]){"##k", "w", "##k", NULL}), "k wk");
        ran_tokenizer_free(pieces);
}

TEST(lm_text_holds_back_what_may_become_a_stop_string)
{
        char *items[] = {"cat sat", "mat"};
        const struct ran_list stops = {.item = items, .n = 2};
        struct lm_text t = {0};

        lm_text_begin(&t, NULL, &stops, RAN_NO_ID);
        CHECK_STR(then(&t, "the"), "the");
        CHECK_STR(then(&t, " cat"), "the ");
        CHECK_STR(then(&t, " s"), "the ");
        CHECK_STR(then(&t, "it c"), "the cat sit ");
        CHECK_STR(then(&t, "at sa"), "the cat sit ");
        CHECK(!t.stopped);
        CHECK_STR(then(&t, "t down"), "the cat sit ");
        CHECK(t.stopped);
        CHECK_SIZE(t.text.len, strlen("the cat sit "));
        /* The first of several counts, wherever in a token it stands. */
        lm_text_begin(&t, NULL, &stops, RAN_NO_ID);
        CHECK_STR(then(&t, "a mat, cat sat"), "a ");
        CHECK(t.stopped);
        /* Then what stands before it is sure, whatever it looks like. */
        lm_text_begin(&t, NULL, &stops, RAN_NO_ID);
        CHECK_STR(then(&t, "a macat sat"), "a ma");
        CHECK(t.stopped);
        /* A text that ends is sure. */
        lm_text_begin(&t, NULL, &stops, RAN_NO_ID);
        CHECK_STR(then(&t, "ma"), "");
        lm_text_end(&t);
        CHECK_STR(sure(&t), "ma");
        lm_text_release(&t);
}

TEST(lm_text_holds_back_halves_of_characters)
{
        struct lm_text t = {0};

        lm_text_begin(&t, NULL, &no_stops, RAN_NO_ID);
        CHECK_STR(then(&t, "a\xe2"), "a");
        CHECK_STR(then(&t, "\x82"), "a");
        CHECK_STR(then(&t, "\xac"), "a\xe2\x82\xac");
        CHECK_STR(then(&t, "\xf0\x9f\x98"), "a\xe2\x82\xac");
        CHECK_STR(then(&t, "\x80\xc3"), "a\xe2\x82\xac\xf0\x9f\x98\x80");
        /* What never becomes one is shown as what it is not. */
        CHECK_STR(then(&t, "x"), "a\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbdx");
        lm_text_begin(&t, NULL, &no_stops, RAN_NO_ID);
        CHECK_STR(then(&t, "\x80"), "\xef\xbf\xbd");
        CHECK_STR(then(&t, "\xff\xfe"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
        lm_text_begin(&t, NULL, &no_stops, RAN_NO_ID);
        CHECK_STR(then(&t, "b\xe2\x82"), "b");
        lm_text_end(&t);
        CHECK_STR(sure(&t), "b\xef\xbf\xbd"); /* one part of a character */
        lm_text_release(&t);
}
