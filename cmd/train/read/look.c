/* look.c - what the text of a document looks like: quotes around it, and its letters. */
#include "cmd/train/read/data.h"

#define NAME(symbol, name) name,
const char *const train_script_names[TRAIN_SCRIPT_COUNT] = {TRAIN_SCRIPTS(NAME)};

static const struct {
        uint32_t first, last;
        enum train_script script;
} ranges[] = {
        {0x41, 0x5a, TRAIN_LATIN},      {0x61, 0x7a, TRAIN_LATIN},
        {0xc0, 0x24f, TRAIN_LATIN},     {0x370, 0x3ff, TRAIN_GREEK},
        {0x400, 0x52f, TRAIN_CYRILLIC}, {0x590, 0x5ff, TRAIN_HEBREW},
        {0x600, 0x77f, TRAIN_ARABIC},   {0x900, 0xdff, TRAIN_INDIC},
        {0xe00, 0xe7f, TRAIN_THAI},     {0x1100, 0x11ff, TRAIN_HANGUL},
        {0x1e00, 0x1eff, TRAIN_LATIN},  {0x3040, 0x30ff, TRAIN_HAN},
        {0x3400, 0x9fff, TRAIN_HAN},    {0xac00, 0xd7af, TRAIN_HANGUL},
};

static enum train_script script_of(uint32_t c)
{
        for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
                if (c >= ranges[i].first && c <= ranges[i].last)
                        return ranges[i].script;
        return TRAIN_SCRIPT_COUNT;
}

/* The next code point of valid UTF-8 of up to three bytes; others have no letters that matter. */
static uint32_t next_code_point(const unsigned char *s, size_t n, size_t *at)
{
        unsigned char c = s[(*at)++];

        if (c >= 0xe0 && c < 0xf0 && n - *at >= 2) {
                *at += 2;
                return (uint32_t)(c & 15) << 12 | (uint32_t)(s[*at - 2] & 63) << 6 |
                       (uint32_t)(s[*at - 1] & 63);
        }
        if (c >= 0xc0 && c < 0xe0 && n > *at)
                return (uint32_t)(c & 31) << 6 | (uint32_t)(s[(*at)++] & 63);
        return c < 0x80 ? c : 0;
}

struct train_look train_look(const char *text, size_t n)
{
        const size_t enough = 2000; /* bytes */
        const unsigned char *s = (const unsigned char *)text;
        size_t count[TRAIN_SCRIPT_COUNT + 1] = {0}, at = 0;
        struct train_look look = {.script = TRAIN_SCRIPT_COUNT};

        while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\n'))
                n--;
        look.quoted = n > 1 && s[0] == '"' && s[n - 1] == '"';
        for (size_t end = n < enough ? n : enough; at < end;)
                count[script_of(next_code_point(s, n, &at))]++;
        count[TRAIN_SCRIPT_COUNT] = 0;
        for (int i = 0; i < TRAIN_SCRIPT_COUNT; i++)
                if (count[i] > count[look.script])
                        look.script = (enum train_script)i;
        return look;
}
