/* encode-word.c - a word to tokens: each cut fills scratch->parts. */
#include "text/tokenizer.h"

/* The longest token of the model that the text begins with. */
static uint32_t longest_match(const struct ran_tokenizer *t, bool first, const char *text, size_t n,
                              size_t *length)
{
        uint32_t id;

        for (;;) {
                id = ran_string_table_longest(
                        &t->tokens, t->least, first ? ran_string_table_seed : t->prefix_hash,
                        t->prefix, first ? 0 : t->prefix_n, text, n, t->longest, length);
                if (id < t->most || id == RAN_STRING_TABLE_NONE)
                        return id;
                n = *length - 1; /* an added token: is there a shorter one? */
        }
}

/* WordPiece: takes the longest matching token, repeatedly; if none matches, the whole word is
 * unknown. */
static void longest_matches(const struct ran_tokenizer *t, const struct ran_word *word,
                            struct ran_encoding_scratch *s)
{
        size_t chars = 0;

        for (size_t pos = 0, length = 0; pos < word->n; pos += length) {
                bool first = pos == 0;
                uint32_t id = longest_match(t, first, word->s + pos, word->n - pos, &length);
                if (id == RAN_STRING_TABLE_NONE) {
                        s->parts.n = 0;
                        ran_word_parts_add(&s->parts, t->unk, 0, word->chars);
                        return;
                }
                size_t next = chars + ran_unicode_count(word->s + pos, length);
                ran_word_parts_add(&s->parts, id, chars, next);
                chars = next;
        }
}

/* A token of bytes [begin, end) covers the characters [*from, *to) that have a byte in it,
 * without white space at either end. */
static void trim(const struct ran_word *word, size_t begin, size_t end, size_t *from, size_t *to)
{
        const unsigned char *s = (const unsigned char *)word->s;

        if (s[begin] == ' ') { /* as most words begin */
                begin++;
                ++*from;
        }
        if (begin == end ||
            (s[begin] > ' ' && s[begin] < 0x80 && s[end - 1] > ' ' && s[end - 1] < 0x80))
                return;
        while ((s[begin] & 0xc0) == 0x80)
                begin--;
        while (end < word->n && (s[end] & 0xc0) == 0x80)
                end++;
        size_t lead = ran_unicode_space(word->s + begin, end - begin);
        size_t trail = ran_unicode_trailing_space(word->s + begin + lead, end - begin - lead);
        *from += ran_unicode_count(word->s + begin, lead);
        *to -= ran_unicode_count(word->s + end - trail, trail);
}

/* The token of a whole word, or RAN_STRING_TABLE_NONE; only for vocabularies with such a rule. */
static void find_whole(const struct ran_tokenizer *t, const struct ran_word *word,
                       struct ran_encoding_scratch *s, uint32_t *id)
{
        const size_t widest = 2; /* bytes of such a character */

        *id = RAN_STRING_TABLE_NONE;
        if (!t->bpe.whole || word->n > t->longest)
                return;
        if (t->bpe.chars != NULL) {
                if (!ran_tokenizer_find(t, word->s, word->n, id) || *id >= t->most)
                        *id = RAN_STRING_TABLE_NONE;
                return;
        }
        s->spelled.len = 0;
        char *out = ran_buf_room(&s->spelled, word->n * widest);
        size_t n = 0;
        for (size_t i = 0; i < word->n; i++)
                n += ran_unicode_put(out + n, ran_gpt2_char((unsigned char)word->s[i]));
        if (!ran_tokenizer_find(t, out, n, id) || *id < t->least || *id >= t->most)
                *id = RAN_STRING_TABLE_NONE;
}

/* So the word " the" has the offsets of "the", and white space alone has an empty range at its
 * end. */
static void cut_bytes(const struct ran_tokenizer *t, const struct ran_word *word,
                      struct ran_encoding_scratch *s)
{
        struct ran_bpe_token whole = {.n = (uint32_t)word->n};
        size_t count = 1, pos = 0, chars = 0;

        find_whole(t, word, s, &whole.id);
        if (whole.id == RAN_STRING_TABLE_NONE)
                count = ran_bpe_cut(&t->bpe, word->s, word->n, &s->bpe);
        const struct ran_bpe_token *token =
                whole.id == RAN_STRING_TABLE_NONE ? s->bpe.token : &whole;
        for (size_t i = 0; i < count; i++) {
                bool inside = ((unsigned char)word->s[pos] & 0xc0) == 0x80;
                size_t next = chars + ran_unicode_count(word->s + pos, token[i].n);
                size_t from = chars - inside, to = next;
                if (t->steps == NULL)
                        trim(word, pos, pos + token[i].n, &from, &to);
                ran_word_parts_add(&s->parts, token[i].id, from, to > from ? to : from);
                pos += token[i].n;
                chars = next;
        }
}

static int cut(const struct ran_tokenizer *t, const struct ran_word *word,
               struct ran_encoding_scratch *s, struct ran_error *err)
{
        s->parts.n = 0;
        if (word->n > TOKENIZER_WORD_MOST)
                return ran_fail(err, RAN_EINVAL, "a word of %zu bytes is too long to be encoded",
                                word->n);
        if (t->type == TOKENIZER_BPE) {
                cut_bytes(t, word, s);
        } else if (t->type == TOKENIZER_UNIGRAM) {
                ran_unigram_cut(&t->unigram, &t->tokens, t->unk, word->s, word->n, word->chars,
                                &s->unigram, &s->parts);
        } else if (t->type == TOKENIZER_WORDPIECE && word->chars <= t->max_chars) {
                longest_matches(t, word, s);
        } else {
                uint32_t id = RAN_STRING_TABLE_NONE;
                if (t->type != TOKENIZER_WORDPIECE)
                        id = ran_string_table_find(&t->tokens, word->s, word->n);
                if (id == RAN_STRING_TABLE_NONE || id < t->least || id >= t->most)
                        id = t->unk;
                ran_word_parts_add(&s->parts, id, 0, word->chars);
        }
        return RAN_OK;
}

/* A walk over the characters of a word. */
struct walk {
        size_t chars, pos;
};

static void go_to(struct walk *w, const struct ran_word *word, size_t chars)
{
        if (word->n == word->chars) /* ASCII */
                w->chars = w->pos = chars;
        for (size_t length; w->chars < chars && w->pos < word->n; w->chars++, w->pos += length)
                length = ran_unicode_length(word->s + w->pos, word->n - w->pos);
}

/* Excludes the spaces at the ends of a part of a word from the offsets of its token, the last, as
 * t->trim says. part.from never decreases from call to call. */
static void trim_spaces(const struct ran_tokenizer *t, const struct ran_word *word,
                        struct ran_word_part part, struct walk *w, struct ran_encoding *e)
{
        const char *s = word->s;
        const size_t chars = part.to - part.from;
        size_t leading = 0, trailing = 0;

        if (chars == 0 ||
            (word->n == word->chars && s[part.from] != ' ' && s[part.to - 1] != ' ')) /* ASCII */
                return;
        go_to(w, word, part.from);
        struct walk end = *w;
        go_to(&end, word, part.to);
        while (leading < chars && s[w->pos + leading] == ' ')
                leading++;
        while (trailing < chars && s[end.pos - trailing - 1] == ' ')
                trailing++;
        if (leading + trailing > 0 && part.id != t->unk)
                ran_encoding_trim(t, e, leading, trailing);
}

static void add_part(const struct ran_tokenizer *t, struct ran_encoding *e,
                     const struct ran_word *word, struct ran_word_part part, struct walk *w)
{
        size_t start, end;

        if (part.from < part.to) {
                ran_words_extent(word, part.from, part.to, &start, &end);
        } else {
                bool last = part.from == word->chars;
                ran_words_extent(word, part.from - last, part.from - last + 1, &start, &end);
                *(last ? &start : &end) = last ? end : start;
        }
        ran_encoding_add(e, part.id, start, end);
        if (t->steps != NULL && t->trim)
                trim_spaces(t, word, part, w, e);
}

int ran_tokenizer_add_word(const struct ran_tokenizer *t, struct ran_word *word,
                           struct ran_encoding *e, struct ran_error *err)
{
        struct ran_encoding_scratch *s = e->scratch;
        const struct ran_cached_word *cached = NULL;
        struct ran_cached_word *set = NULL;
        struct walk w = {0, 0};

        if (word->n <= WORD_CACHE_BYTES) {
                if (!word->keyed)
                        ran_word_cache_key(word->key, word->s, word->n);
                cached = ran_word_cache_find(&s->cached, word->key, word->n, &set);
        }
        for (size_t i = 0; cached != NULL && i < cached->parts; i++)
                add_part(t, e, word,
                         (struct ran_word_part){cached->id[i], cached->from[i], cached->to[i]}, &w);
        if (cached != NULL)
                return RAN_OK;
        RAN_TRY(cut(t, word, s, err));
        for (size_t i = 0; i < s->parts.n; i++)
                add_part(t, e, word, s->parts.at[i], &w);
        if (set != NULL)
                ran_word_cache_keep(set, word->key, word->n, &s->parts);
        return RAN_OK;
}
