/* The fast ways of tokenising beside their naive twins: words that are known, an encoding as JSON,
 * numbers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "ran.h"
#include "test.h"
#include "text/hf/hf.h"
#include "text/tokenizer.h"
#include "base/string-table.h"
#include "vocabulary.h"

static struct ran_error err;

/* ---- keys of words -------------------------------------------------------------------------- */

static void naive_key(uint64_t key[WORD_CACHE_KEY], const char *word, size_t n)
{
        for (size_t i = 0; i < WORD_CACHE_KEY; i++)
                key[i] = 0;
        for (size_t i = 0; i < n; i++)
                key[i / 8] |= (uint64_t)(unsigned char)word[i] << 8 * (i % 8);
}

TEST(a_key_is_the_bytes_of_its_word)
{
        struct dice d = {.key = 1};

        for (int trial = 0; trial < 10000; trial++) {
                size_t n = dice_size(&d, 1, WORD_CACHE_BYTES);
                char *word = malloc(n); /* its own block: reading beyond it is found out */
                uint64_t key[WORD_CACHE_KEY], want[WORD_CACHE_KEY];
                REQUIRE(word != NULL);
                for (size_t i = 0; i < n; i++)
                        word[i] = (char)dice_size(&d, 0, 255);
                ran_word_cache_key(key, word, n);
                naive_key(want, word, n);
                CHECK(memcmp(key, want, sizeof key) == 0);
                free(word);
        }
}

/* Words that differ in little; with characters of several bytes, marks and ideographs, U+0000, and
 * longer than the tables take. */
static void random_word(struct dice *d, struct ran_buf *out)
{
        static const char *const parts[] = {
                "a",         "b",        "A",     "the",          "ing",
                "e\xcc\x81", "\xc3\xa9", "don't", "\xe4\xba\xba", "\xf0\x9f\x98\x80",
                ",",         "-",        "1",     "abababababab", "\xed\x95\x9c",
                "\xc2\xad",  "I",        "Z",     "\x7f",         "\xef\xbc\xa1",
        };
        size_t kinds = dice_size(d, 1, sizeof parts / sizeof *parts);

        for (size_t n = dice_size(d, 1, dice_size(d, 1, 24)); n > 0; n--)
                ran_buf_str(out, parts[dice_size(d, 0, kinds - 1)]);
        if (dice_size(d, 0, 20) == 0)
                ran_buf_char(out, '\0');
}

TEST(a_walk_makes_the_keys_of_its_words)
{
        struct dice d = {.key = 2};
        struct ran_buf text = {0};
        struct ran_text_rules rules = {0};
        struct ran_words_scratch scratch = {0};
        struct ran_vocab_settings settings = default_settings();
        size_t keyed = 0;

        CHECK_OK(ran_text_rules_set(&rules, &settings, &err), err);
        for (int trial = 0; trial < 3000; trial++) {
                struct ran_words words;
                struct ran_word word;
                text.len = 0;
                for (size_t n = dice_size(&d, 1, 10); n > 0; n--) {
                        random_word(&d, &text);
                        ran_buf_char(&text, ' ');
                }
                ran_words_begin(&words, &rules, &scratch, text.data, text.len, 0);
                while (ran_words_next(&words, &word, &err)) {
                        uint64_t want[WORD_CACHE_KEY];
                        if (!word.keyed || word.n > WORD_CACHE_BYTES)
                                continue;
                        naive_key(want, word.s, word.n);
                        if (!CHECK(memcmp(word.key, want, sizeof want) == 0))
                                return;
                        keyed++;
                }
                CHECK_OK(words.code, err);
        }
        CHECK(keyed > 10000);
        ran_buf_release(&text);
        ran_words_scratch_release(&scratch);
        ran_text_rules_release(&rules);
}

/* ---- words that are known ------------------------------------------------------------------- */

/* Words that differ in one number of their key, or in their length, only. */
TEST(a_cached_word_is_no_other)
{
        struct ran_word_cache known = {0};
        size_t found = 0;

        ran_word_cache_use(&known, 1);
        for (uint32_t i = 0; i < 400000; i++) {
                uint32_t x = (uint32_t)(ran_random_draw(9, i) % 100000);
                char word[WORD_CACHE_BYTES] = {0};
                const size_t n = WORD_CACHE_BYTES - x % 2;
                struct ran_cached_word *set;
                uint64_t key[WORD_CACHE_KEY];
                memcpy(word + 8 * (x / 2 % 3), &x, sizeof x);
                ran_word_cache_key(key, word, n);
                const struct ran_cached_word *w = ran_word_cache_find(&known, key, n, &set);
                if (w == NULL) {
                        struct ran_word_part part = {x, 0, 1};
                        ran_word_cache_keep(set, key, n, &(struct ran_word_parts){&part, 1, 1});
                } else {
                        found++;
                        if (!CHECK(w->parts == 1 && w->id[0] == x))
                                break;
                }
        }
        CHECK(found > 50000);
        ran_word_cache_release(&known);
}

enum { POOL = 40000 }; /* more than are known at a time */

/* A text of words that come again and again, encoded at once by an encoding that knows most of
 * them, and word by word by one that knows none. */
static void check_known(int vocab_type, bool nfc)
{
        struct ran_vocab_settings settings = type_settings(vocab_type);
        struct dice d = {.key = 3};
        struct ran_buf pool = {0}, text = {0};
        struct ran_encoding warm = {0};
        size_t *end = calloc(POOL + 1, sizeof *end), same = 0;

        REQUIRE(end != NULL);
        settings.min_count = 1;
        settings.vocab_size = vocab_type == RAN_VOCAB_BPE ? 330 : 80;
        if (nfc)
                settings.normalize = RAN_NORMALIZE_NFC;
        struct ran_tokenizer *t = learn_from(
                &settings,
                (const char *[]){"a ab abab the ing thing bathing don't e\xcc\x81t\xc3\xa9", NULL},
                &err);
        REQUIRE(t != NULL);
        for (size_t i = 0; i < POOL; i++) {
                ran_buf_char(&pool, ' '); /* the words of byte pairs begin with it */
                random_word(&d, &pool);
                end[i + 1] = pool.len;
        }
        for (int trial = 0; trial < 120; trial++) {
                size_t word[40], tokens = 0, points = 0;
                text.len = 0;
                for (size_t i = 0; i < 40; i++) {
                        word[i] = dice_size(&d, 0, trial % 2 == 0 ? 500 : POOL - 1);
                        ran_buf_add(&text, pool.data + end[word[i]],
                                    end[word[i] + 1] - end[word[i]]);
                }
                CHECK_OK(ran_tokenizer_encode(t, text.data, text.len, &warm, &err), err);
                for (size_t i = 0; i < 40; i++) {
                        const char *s = pool.data + end[word[i]];
                        size_t n = end[word[i] + 1] - end[word[i]];
                        struct ran_encoding cold = {0};
                        CHECK_OK(ran_tokenizer_encode(t, s, n, &cold, &err), err);
                        for (size_t k = 0; k < cold.n; k++, tokens++) {
                                if (tokens >= warm.n || warm.ids[tokens] != cold.ids[k] ||
                                    warm.start[tokens] != points + cold.start[k] ||
                                    warm.end[tokens] != points + cold.end[k]) {
                                        CHECK(false);
                                        return;
                                }
                                same++;
                        }
                        points += ran_unicode_count(s, n);
                        ran_encoding_release(&cold);
                }
                CHECK_SIZE(warm.n, tokens);
        }
        CHECK(same > 5000);
        ran_encoding_release(&warm);
        ran_tokenizer_free(t);
        ran_buf_release(&pool);
        ran_buf_release(&text);
        free(end);
}

TEST(cached_words_are_split_as_others)
{
        check_known(RAN_VOCAB_WORD, true);
        check_known(RAN_VOCAB_WORDPIECE, true);
        check_known(RAN_VOCAB_BPE, false);
        check_known(RAN_VOCAB_BPE, true);
}

/* ---- an encoding as JSON -------------------------------------------------------------------- */

static void naive_json(const struct ran_encoding *e, const struct ran_tokenizer *t, bool words,
                       struct ran_buf *out)
{
        ran_buf_printf(out, "{\"vocab\":\"%s\",\"pieces\":[", ran_tokenizer_digest(t));
        for (size_t i = 0; i < e->n; i++) {
                size_t n;
                const char *token = ran_tokenizer_token(t, e->ids[i], &n);
                ran_buf_str(out, i > 0 ? "," : "");
                ran_buf_json(out, token, n);
        }
        ran_buf_str(out, "],\"ids\":[");
        for (size_t i = 0; i < e->n; i++)
                ran_buf_printf(out, "%s%u", i > 0 ? "," : "", (unsigned)e->ids[i]);
        for (size_t i = 0; words && i < e->n; i++)
                ran_buf_printf(out, "%s%zu", i > 0 ? "," : "],\"words\":[", e->word[i]);
        ran_buf_str(out, words && e->n == 0 ? "],\"words\":[" : "");
        ran_buf_str(out, "],\"offsets\":[");
        for (size_t i = 0; i < e->n; i++)
                ran_buf_printf(out, "%s[%zu,%zu]", i > 0 ? "," : "", e->start[i], e->end[i]);
        ran_buf_str(out, "]}");
}

/* Pieces with what must be escaped, short ones and one that is longer than most documents. */
TEST(an_encoding_is_written_as_by_hand)
{
        struct ran_buf lines = {0}, got = {0}, want = {0};
        struct ran_vocab_settings settings = {.max_word = 100};
        struct ran_encoding e = {0};
        struct dice d = {.key = 4};
        size_t n = 3;

        ran_buf_str(&lines, "[UNK]\n\"\\\"\n\x01\x1f\n");
        for (size_t i = 0; i < 5000; i++)
                ran_buf_char(&lines, 'x');
        ran_buf_char(&lines, '\n');
        for (; n < 12000; n++)
                ran_buf_printf(&lines, "%s%zu\n", n % 3 == 0 ? "\xe4\xba\xba" : "##p", n);
        struct ran_tokenizer *t = ran_tokenizer_import(lines.data, lines.len, &settings, &err);
        REQUIRE(t != NULL);
        for (size_t trial = 0; trial < 600; trial++) {
                e.n = trial < 520 ? trial : dice_size(&d, 0, 5000);
                size_t cap = e.n + 1;
                ran_encoding_release(&(struct ran_encoding){
                        .ids = e.ids, .start = e.start, .end = e.end, .word = e.word});
                e.ids = calloc(cap, sizeof *e.ids);
                e.start = calloc(cap, sizeof *e.start);
                e.end = calloc(cap, sizeof *e.end);
                e.word = calloc(cap, sizeof *e.word);
                REQUIRE(e.ids && e.start && e.end && e.word);
                for (size_t i = 0; i < e.n; i++) {
                        unsigned shift = (unsigned)dice_size(&d, 0, 63);
                        e.ids[i] = (uint32_t)dice_size(&d, 0, dice_coin(&d) ? 5 : n - 1);
                        e.start[i] = ran_random_draw(5, d.at) >> shift;
                        e.end[i] = ran_random_draw(6, d.at) >> shift;
                        e.word[i] = ran_random_draw(7, d.at) >> shift;
                }
                got.len = want.len = 0;
                ran_encoding_json(&e, t, trial % 2 == 0, &got);
                naive_json(&e, t, trial % 2 == 0, &want);
                if (!CHECK(got.len == want.len && memcmp(got.data, want.data, got.len) == 0))
                        break;
                if (trial % 50 == 0)
                        ran_buf_release(&got);
        }
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
        ran_buf_release(&lines);
        ran_buf_release(&got);
        ran_buf_release(&want);
}

TEST(numbers_are_written_as_printf_does)
{
        struct ran_buf b = {0};
        char want[32];

        for (int power = 0; power < 64; power++) {
                for (int shift = -2; shift <= 2; shift++) {
                        const size_t x[] = {((size_t)1 << power) + (size_t)shift,
                                            ran_random_draw(8, (uint64_t)power) >> power};
                        for (size_t i = 0; i < 2; i++) {
                                b.len = 0;
                                ran_buf_size(&b, x[i]);
                                ran_buf_char(&b, '\0');
                                snprintf(want, sizeof want, "%zu", x[i]);
                                CHECK_STR(b.data, want);
                        }
                }
        }
        for (size_t ten = 1, digits = 1; digits < 20; ten *= 10, digits++) {
                for (size_t x = ten - 1; x <= ten + 1; x++) {
                        b.len = 0;
                        ran_buf_size(&b, x);
                        ran_buf_char(&b, '\0');
                        snprintf(want, sizeof want, "%zu", x);
                        CHECK_STR(b.data, want);
                }
        }
        ran_buf_release(&b);
}

/* ---- tables --------------------------------------------------------------------------------- */

enum { CHOSEN = 20000, NEAR = 512, ENOUGH = 1000 };

/* The number of times that `taken` is true in a row, of n. */
static size_t longest_run(const void *table, size_t n, bool (*taken)(const void *table, size_t i))
{
        size_t longest = 0, run = 0;

        for (size_t i = 0; i < n; i++) {
                run = taken(table, i) ? run + 1 : 0;
                longest = run > longest ? run : longest;
        }
        return longest;
}

static bool string_at(const void *table, size_t i)
{
        return ((const struct ran_string_table *)table)->slot[i].index != RAN_STRING_TABLE_NONE;
}

static bool pair_at(const void *table, size_t i)
{
        return ((const struct ran_pairs *)table)->slot[i] != PAIRS_NONE;
}

/* Words whose FNV falls in the first slots of a table by the golden ratio, which is easy to do. */
TEST(words_cannot_be_written_to_fall_in_one_place)
{
        struct ran_string_table s = {0};

        for (size_t i = 0; s.n < CHOSEN; i++) {
                char word[32];
                size_t n = (size_t)snprintf(word, sizeof word, "%zx", i);
                uint64_t fnv = ran_string_table_hash(UINT64_C(0xcbf29ce484222325), word, n);

                if (fnv * UINT64_C(0x9e3779b97f4a7c15) >> 48 < NEAR)
                        REQUIRE(ran_string_table_add(&s, word, n) != RAN_STRING_TABLE_NONE);
        }
        CHECK(longest_run(&s, (size_t)1 << (64 - s.shift), string_at) < ENOUGH);
        ran_string_table_release(&s);
}

TEST(pairs_cannot_be_written_to_fall_in_one_place)
{
        struct ran_pairs p = {0};

        for (uint32_t i = 0; p.n < CHOSEN; i++) {
                uint32_t a = i / 5000, b = i % 5000;
                uint64_t hash = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);

                if (((hash >> 32 ^ hash >> 48) & 0xffff) < NEAR || hash >> 48 < NEAR)
                        REQUIRE(ran_pairs_add(&p, a, b) != PAIRS_NONE);
        }
        CHECK(longest_run(&p, p.slots, pair_at) < ENOUGH);
        ran_pairs_release(&p);
}
