/* Any text: a vocabulary is learned from it, and it is cut into pieces of that one and of others,
 * which lie inside of it. Byte pairs give the text back, and a vocabulary with room for all of a
 * text knows all of it. The first two bytes choose the settings. */
#include <stdlib.h>
#include <string.h>

#include "ran.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SMALL = 40, LARGE = 1 << 16 };

static struct ran_vocab_settings settings_of(size_t bits)
{
        struct ran_vocab_settings s;

        if (ran_fields_init(ran_vocab_fields, &s, NULL) != RAN_OK)
                abort();
        s.vocab_type = (int)(bits % 3);
        for (const struct ran_field *f = ran_vocab_fields; f->name != NULL; f++)
                if (f->unless.field != NULL &&
                    ran_field_init(ran_vocab_fields, f, &s, NULL) != RAN_OK)
                        abort();
        s.min_count = 1;
        s.vocab_size = s.vocab_type == RAN_VOCAB_BPE ? 300 : bits & 1 << 14 ? SMALL : LARGE;
        bits /= 3;
        if (bits % 2 == 0)
                return s;
        s.lowercase = bits & 2;
        s.strip_accents = bits & 4;
        s.cjk = bits & 8;
        s.max_word = bits & 16 ? 3 : 100;
        s.normalize = (int)(bits / 32 % 3);
        s.clean = (int)(bits / 128 % 3);
        if (s.vocab_type != RAN_VOCAB_BPE)
                s.split_at = (int)(bits / 512 % 2);
        return s;
}

static struct ran_tokenizer *learn(const struct ran_vocab_settings *settings, const char *text,
                                   size_t n)
{
        struct ran_error err = {0};
        struct ran_counter *counter = ran_counter_new(settings, &err);
        struct ran_encoding e = {0};
        struct ran_buf words = {0};
        struct ran_tokenizer *t = NULL;

        if (counter != NULL && ran_counter_words(counter, text, n, &e, &words, &err) == RAN_OK &&
            ran_counter_add(counter, words.data, words.len, &err) == RAN_OK)
                t = ran_counter_learn(counter, &err);
        if (t == NULL && err.text[0] == '\0')
                abort();
        ran_counter_free(counter);
        ran_encoding_release(&e);
        ran_buf_release(&words);
        return t;
}

/* Words in order, inside of the text. */
static void split(const char *text, size_t n)
{
        size_t begin, end, seen = 0;
        static const char *const own[] = {"``", "''", "`", "'s", "-LRB-", "--"};
        struct ran_marks m = {0};
        struct ran_segments s;
        const char *word;
        size_t length;
        bool first;

        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
                ran_marks_know(&m, own[i], strlen(own[i]));

        for (int convention = 0; convention < RAN_SEGMENT_COUNT; convention++, seen = 0) {
                ran_segments_begin(&s, convention, text, n);
                while (ran_segments_next(&s, &begin, &end, &first)) {
                        if (begin < seen || end <= begin || end > n)
                                abort();
                        seen = end;
                        (void)ran_marks_write(&m, text, n, begin, end, &word, &length);
                        if (length == 0 || ran_utf8_valid(word, length) < length)
                                abort();
                }
        }
        ran_marks_release(&m);
}

static size_t code_points(const char *text, size_t n)
{
        size_t points = 0;

        for (size_t i = 0; i < n; i++)
                points += (text[i] & 0xc0) != 0x80;
        return points;
}

static void check_places(const struct ran_encoding *e, size_t V, size_t end)
{
        for (size_t i = 0; i < e->n; i++)
                if (e->ids[i] >= V || e->start[i] > e->end[i] || e->end[i] > end ||
                    e->word[i] >= e->words || (i > 0 && e->word[i] < e->word[i - 1]))
                        abort();
}

/* But for U+0000, which no piece has. */
static void check_known(const struct ran_tokenizer *t, const char *text, size_t n)
{
        struct ran_encoding e = {0};

        if (ran_tokenizer_encode(t, text, n, &e, NULL) == RAN_OK)
                for (size_t i = 0; i < e.n; i++)
                        if (e.ids[i] == RAN_UNK)
                                abort();
        ran_encoding_release(&e);
}

static void use(const struct ran_tokenizer *t, const char *text, size_t n, bool lossless)
{
        struct ran_encoding e = {0};
        struct ran_error err = {0};
        struct ran_buf out = {0};

        if (ran_tokenizer_encode(t, text, n, &e, &err) != RAN_OK) {
                if (err.text[0] == '\0' || lossless)
                        abort();
                ran_encoding_release(&e);
                return;
        }
        check_places(&e, ran_tokenizer_size(t), code_points(text, n));
        if (ran_encoding_spell(&e, 0, text, n, 100, &err) != RAN_OK ||
            ran_tokenizer_decode(t, e.ids, e.n, &out, &err) != RAN_OK)
                abort();
        if (lossless && (out.len != n || (n > 0 && memcmp(out.data, text, n) != 0)))
                abort();
        out.len = 0;
        ran_encoding_json(&e, t, true, &out);
        ran_encoding_convert(&e, 0, text, n, RAN_UNIT_BYTE);
        check_places(&e, ran_tokenizer_size(t), n);
        e.n = e.words = 0;
        if (ran_tokenizer_encode_word(t, text, n, &e, &err) == RAN_OK)
                check_places(&e, ran_tokenizer_size(t), code_points(text, n));
        ran_encoding_release(&e);
        ran_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct ran_tokenizer *other[3];
        static const char sample[] = "The caf\xc3\xa9's dogs, 12 of them, see the 2 cats\n";

        if (size < 2)
                return -1;
        const char *text = (const char *)data + 2;
        size_t n = size - 2, bits = data[0] | (size_t)data[1] << 8;
        if (ran_utf8_valid(text, n) < n)
                return -1; /* no record has it */
        split(text, n);
        struct ran_vocab_settings settings = settings_of(bits);
        int type = settings.vocab_type;
        struct ran_tokenizer *t = learn(&settings, text, n);
        if (t != NULL)
                use(t, text, n, type == RAN_VOCAB_BPE && bits / 3 % 2 == 0);
        if (t != NULL && settings.vocab_size == LARGE && settings.max_word > n &&
            memchr(text, 0, n) == NULL)
                check_known(t, text, n);
        ran_tokenizer_free(t);
        ran_fields_release(ran_vocab_fields, &settings);

        settings = settings_of((size_t)type);
        if (other[type] == NULL)
                other[type] = learn(&settings, sample, sizeof sample - 1);
        use(other[type], text, n, type == RAN_VOCAB_BPE);
        ran_fields_release(ran_vocab_fields, &settings);
        return 0;
}
