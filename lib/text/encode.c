/* encode.c - text to tokens and back. */
#include <stdlib.h>
#include <string.h>

#include "base/phase.h"
#include "text/gpt2.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

/* ---- encodings ------------------------------------------------------------------------------ */

void ran_encoding_release(struct ran_encoding *e)
{
        free(e->ids);
        free(e->start);
        free(e->end);
        free(e->word);
        free(e->spelling);
        struct ran_encoding_scratch *scratch = e->scratch;
        if (scratch != NULL) {
                ran_words_scratch_release(&scratch->words);
                ran_bpe_scratch_release(&scratch->bpe);
                ran_word_cache_release(&scratch->cached);
                ran_buf_release(&scratch->spelled);
                free(scratch->part);
        }
        free(scratch);
        *e = (struct ran_encoding){0};
}

static int grow_sizes(size_t **array, size_t *cap, size_t want, struct ran_error *err)
{
        size_t *grown = ran_grow(*array, cap, want, sizeof(*grown), err);

        if (grown == NULL)
                return RAN_ENOMEM;
        *array = grown;
        return RAN_OK;
}

static int grow(struct ran_encoding *e, struct ran_error *err)
{
        size_t want = e->n + 1, cap = e->cap, sizes[] = {e->cap, e->cap, e->cap};
        uint32_t *ids = ran_grow(e->ids, &cap, want, sizeof(*ids), err);

        if (ids == NULL)
                return RAN_ENOMEM;
        e->ids = ids;
        RAN_TRY(grow_sizes(&e->start, &sizes[0], want, err));
        RAN_TRY(grow_sizes(&e->end, &sizes[1], want, err));
        RAN_TRY(grow_sizes(&e->word, &sizes[2], want, err));
        e->cap = cap < sizes[0] ? cap : sizes[0];
        return RAN_OK;
}

static int add(struct ran_encoding *e, uint32_t id, size_t start, size_t end, struct ran_error *err)
{
        if (e->n == e->cap && grow(e, err) != RAN_OK)
                return RAN_ENOMEM;
        e->ids[e->n] = id;
        e->start[e->n] = start;
        e->end[e->n] = end;
        e->word[e->n] = e->words;
        e->n++;
        return RAN_OK;
}

struct ran_encoding_scratch *ran_encoding_scratch(struct ran_encoding *e, struct ran_error *err)
{
        if (e->scratch == NULL)
                e->scratch = ran_alloc(1, sizeof(struct ran_encoding_scratch), err);
        return e->scratch;
}

/* ---- words to tokens: each cut fills scratch->part and returns its code ---------------------- */

static int add_part(struct ran_encoding_scratch *s, uint32_t id, size_t from, size_t to,
                    struct ran_error *err)
{
        struct ran_word_part *part =
                ran_grow(s->part, &s->part_cap, s->parts + 1, sizeof(*part), err);

        if (part == NULL)
                return RAN_ENOMEM;
        s->part = part;
        part[s->parts++] = (struct ran_word_part){id, (uint32_t)from, (uint32_t)to};
        return RAN_OK;
}

/* WordPiece: takes the longest matching token, repeatedly; if none matches, the whole word is
 * unknown. */
static int longest_matches(const struct ran_tokenizer *t, const struct ran_word *word,
                           struct ran_encoding_scratch *s, struct ran_error *err)
{
        size_t chars = 0;

        for (size_t pos = 0, length = 0; pos < word->n; pos += length) {
                bool first = pos == 0;
                uint32_t id = ran_string_table_longest(
                        &t->tokens, t->least, first ? ran_string_table_seed : t->prefix_hash,
                        t->prefix, first ? 0 : t->prefix_n, word->s + pos, word->n - pos,
                        t->longest, &length);
                if (id == RAN_STRING_TABLE_NONE) {
                        s->parts = 0;
                        return add_part(s, t->unk, 0, word->chars, err);
                }
                size_t next = chars + ran_unicode_count(word->s + pos, length);
                RAN_TRY(add_part(s, id, chars, next, err));
                chars = next;
        }
        return RAN_OK;
}

/* The length in bytes of leading, or trailing, white space. */
static size_t leading_space(const char *text, size_t n)
{
        size_t pos = 0, length;

        for (; pos < n && ran_unicode_is_space(ran_unicode_get(text + pos, n - pos, &length));
             pos += length)
                ;
        return pos;
}

static size_t trailing_space(const char *text, size_t n)
{
        size_t end = n;

        while (end > 0) {
                size_t pos = end - 1, length;
                while (pos > 0 && ((unsigned char)text[pos] & 0xc0) == 0x80)
                        pos--;
                if (!ran_unicode_is_space(ran_unicode_get(text + pos, end - pos, &length)))
                        break;
                end = pos;
        }
        return n - end;
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
        size_t lead = leading_space(word->s + begin, end - begin);
        size_t trail = trailing_space(word->s + begin + lead, end - begin - lead);
        *from += ran_unicode_count(word->s + begin, lead);
        *to -= ran_unicode_count(word->s + end - trail, trail);
}

/* The token of a whole word, or RAN_STRING_TABLE_NONE; only for vocabularies with such a rule. */
static int find_whole(const struct ran_tokenizer *t, const struct ran_word *word,
                      struct ran_encoding_scratch *s, uint32_t *id, struct ran_error *err)
{
        const size_t widest = 2; /* bytes of such a character */

        *id = RAN_STRING_TABLE_NONE;
        if (!t->bpe.whole || word->n > t->longest)
                return RAN_OK;
        s->spelled.len = 0;
        char *out = ran_buf_room(&s->spelled, word->n * widest);
        if (out == NULL)
                return ran_fail(err, RAN_ENOMEM, "no memory for a word of %zu bytes", word->n);
        size_t n = 0;
        for (size_t i = 0; i < word->n; i++)
                n += ran_unicode_put(out + n, ran_gpt2_char((unsigned char)word->s[i]));
        if (!ran_tokenizer_find(t, out, n, id) || *id < t->least)
                *id = RAN_STRING_TABLE_NONE;
        return RAN_OK;
}

/* So the word " the" has the offsets of "the", and white space alone has an empty range at its
 * end. */
static int cut_bytes(const struct ran_tokenizer *t, const struct ran_word *word,
                     struct ran_encoding_scratch *s, struct ran_error *err)
{
        struct ran_bpe_token whole = {.n = (uint32_t)word->n};
        const struct ran_bpe_token *token = &whole;
        size_t count = 1, pos = 0, chars = 0;

        RAN_TRY(find_whole(t, word, s, &whole.id, err));
        if (whole.id == RAN_STRING_TABLE_NONE)
                RAN_TRY(ran_bpe_cut(&t->bpe, word->s, word->n, &s->bpe, &token, &count, err));
        for (size_t i = 0; i < count; i++) {
                bool inside = ((unsigned char)word->s[pos] & 0xc0) == 0x80;
                size_t next = chars + ran_unicode_count(word->s + pos, token[i].n);
                size_t from = chars - inside, to = next;
                trim(word, pos, pos + token[i].n, &from, &to);
                RAN_TRY(add_part(s, token[i].id, from, to > from ? to : from, err));
                pos += token[i].n;
                chars = next;
        }
        return RAN_OK;
}

static int cut(const struct ran_tokenizer *t, const struct ran_word *word,
               struct ran_encoding_scratch *s, struct ran_error *err)
{
        s->parts = 0;
        if (word->n >= UINT32_MAX)
                return ran_fail(err, RAN_EINVAL, "a word of %zu bytes is too long", word->n);
        if (t->type == TOKENIZER_BPE)
                return cut_bytes(t, word, s, err);
        if (t->type == TOKENIZER_WORDPIECE && word->chars <= t->max_chars)
                return longest_matches(t, word, s, err);
        uint32_t id = RAN_STRING_TABLE_NONE;
        if (t->type != TOKENIZER_WORDPIECE)
                id = ran_string_table_find(
                        &t->tokens, ran_string_table_hash(ran_string_table_seed, word->s, word->n),
                        "", 0, word->s, word->n);
        if (id == RAN_STRING_TABLE_NONE || id < t->least)
                id = t->unk;
        return add_part(s, id, 0, word->chars, err);
}

static int add_extent(struct ran_encoding *e, const struct ran_word *word, uint32_t id, size_t from,
                      size_t to, struct ran_error *err)
{
        size_t start, end;

        if (from < to) {
                ran_words_extent(word, from, to, &start, &end);
        } else {
                bool last = from == word->chars;
                ran_words_extent(word, from - last, from - last + 1, &start, &end);
                *(last ? &start : &end) = last ? end : start;
        }
        return add(e, id, start, end, err);
}

static int add_cached(struct ran_encoding *e, const struct ran_word *word,
                      const struct ran_cached_word *cached, struct ran_error *err)
{
        for (size_t i = 0; i < cached->parts; i++)
                RAN_TRY(add_extent(e, word, cached->id[i], cached->from[i], cached->to[i], err));
        return RAN_OK;
}

static int add_new(const struct ran_tokenizer *t, const struct ran_word *word,
                   struct ran_encoding *e, struct ran_error *err)
{
        struct ran_encoding_scratch *s = e->scratch;

        RAN_TRY(cut(t, word, s, err));
        for (size_t i = 0; i < s->parts; i++)
                RAN_TRY(add_extent(e, word, s->part[i].id, s->part[i].from, s->part[i].to, err));
        return RAN_OK;
}

static int add_word(const struct ran_tokenizer *t, struct ran_word *word, struct ran_encoding *e,
                    struct ran_error *err)
{
        struct ran_encoding_scratch *s = e->scratch;
        struct ran_cached_word *set;

        if (word->n > WORD_CACHE_BYTES)
                return add_new(t, word, e, err);
        if (!word->keyed)
                ran_word_cache_key(word->key, word->s, word->n);
        const struct ran_cached_word *cached =
                ran_word_cache_find(&s->cached, word->key, word->n, &set);
        if (cached != NULL)
                return add_cached(e, word, cached, err);
        RAN_TRY(add_new(t, word, e, err));
        ran_word_cache_keep(set, word->key, word->n, s->part, s->parts);
        return RAN_OK;
}

/* ---- texts to words ------------------------------------------------------------------------- */

/* An added token in a text: bytes [begin, end), including the white space that it takes. */
struct found {
        const struct ran_added_token *token; /* NULL: none; begin and end are the text's end */
        size_t begin, end;
};

/* The first added token in text. */
static struct found find_added(const struct ran_added_tokens *a, const char *text, size_t n)
{
        for (size_t pos = 0; a->content.n > 0 && pos < n; pos++) {
                if (!a->first[(unsigned char)text[pos]])
                        continue;
                size_t length;
                uint32_t i = ran_string_table_longest(&a->content, 0, ran_string_table_seed, "", 0,
                                                      text + pos, n - pos, a->longest, &length);
                if (i == RAN_STRING_TABLE_NONE)
                        continue;
                const struct ran_added_token *token = &a->token[i];
                size_t end = pos + length;
                return (struct found){
                        token, pos - (token->left ? trailing_space(text, pos) : 0),
                        end + (token->right ? leading_space(text + end, n - end) : 0)};
        }
        return (struct found){NULL, n, n};
}

/* Words that wait for their place in the cache to come from memory, the oldest at `first`. */
enum { AHEAD = 8 };
struct ahead {
        struct ran_word word[AHEAD];
        char bytes[AHEAD][WORDS_SHORT];
        size_t first, n;
};

static int add_oldest(const struct ran_tokenizer *t, struct ahead *k, bool numbered,
                      struct ran_encoding *e, struct ran_error *err)
{
        struct ran_word *word = &k->word[k->first];

        word->s = k->bytes[k->first];
        k->first = (k->first + 1) % AHEAD;
        k->n--;
        RAN_TRY(add_word(t, word, e, err));
        e->words += numbered;
        return RAN_OK;
}

/* A word that is only valid until the next one: it waits if it is short. */
static int add_or_wait(const struct ran_tokenizer *t, struct ahead *k, struct ran_word *word,
                       bool numbered, struct ran_encoding *e, struct ran_error *err)
{
        size_t most = word->keyed ? AHEAD - 1 : 0, last;

        while (k->n > most)
                RAN_TRY(add_oldest(t, k, numbered, e, err));
        if (!word->keyed) {
                RAN_TRY(add_word(t, word, e, err));
                e->words += numbered;
                return RAN_OK;
        }
        last = (k->first + k->n++) % AHEAD;
        k->word[last] = *word;
        memcpy(k->bytes[last], word->s, word->n);
        ran_word_cache_fetch(&((struct ran_encoding_scratch *)e->scratch)->cached, word->key,
                             word->n);
        return RAN_OK;
}

/* Encodes the words of a text without added tokens. *points grows by its code points. numbered:
 * each word gets its own number. */
static int encode_plain(const struct ran_tokenizer *t, const char *text, size_t n, bool numbered,
                        size_t *points, struct ran_encoding *e, struct ran_error *err)
{
        struct ran_encoding_scratch *scratch = e->scratch;
        struct ahead ahead = {.n = 0};
        struct ran_words words;
        struct ran_word word;

        ran_words_begin(&words, &t->rules, &scratch->words, text, n, *points);
        words.lead |= !numbered && e->words > 0;
        while (ran_words_next(&words, &word, err))
                RAN_TRY(add_or_wait(t, &ahead, &word, numbered, e, err));
        while (ahead.n > 0)
                RAN_TRY(add_oldest(t, &ahead, numbered, e, err));
        *points = words.points;
        return words.code;
}

static int encode(const struct ran_tokenizer *t, const char *text, size_t n, bool numbered,
                  size_t *points, struct ran_encoding *e, struct ran_error *err)
{
        struct ran_encoding_scratch *scratch = ran_encoding_scratch(e, err);

        if (scratch == NULL)
                return RAN_ENOMEM;
        RAN_TRY(ran_word_cache_use(&scratch->cached, t->serial, err));
        *points = 0;
        for (size_t pos = 0; pos < n;) {
                struct found found = find_added(&t->added, text + pos, n - pos);
                if (found.begin > 0)
                        RAN_TRY(encode_plain(t, text + pos, found.begin, numbered, points, e, err));
                if (found.token != NULL) {
                        size_t end = *points + ran_unicode_count(text + pos + found.begin,
                                                                 found.end - found.begin);
                        RAN_TRY(add(e, found.token->id, *points, end, err));
                        e->words += numbered;
                        *points = end;
                }
                pos += found.end;
        }
        return RAN_OK;
}

int ran_tokenizer_encode(const struct ran_tokenizer *t, const char *text, size_t n,
                         struct ran_encoding *e, struct ran_error *err)
{
        size_t points;

        ran_phase = RAN_PHASE_TOKENISING;
        e->n = e->words = 0;
        return encode(t, text, n, true, &points, e, err);
}

static uint32_t space_of(const struct ran_bpe *b)
{
        return b->chars != NULL && b->ascii[' '] != BPE_NONE ? b->ascii[' '] : b->byte[' '];
}

int ran_tokenizer_encode_word(const struct ran_tokenizer *t, const char *word, size_t n,
                              struct ran_encoding *e, struct ran_error *err)
{
        size_t before = e->n, points;

        ran_phase = RAN_PHASE_TOKENISING;
        int code = encode(t, word, n, false, &points, e, err);

        /* Nothing is left of it; with byte pairs, only the prefix of a word remains. */
        if (code == RAN_OK && e->n == before)
                code = add(e, t->type == TOKENIZER_BPE ? space_of(&t->bpe) : t->unk, 0, points,
                           err);
        if (code == RAN_OK)
                e->words++;
        else
                e->n = before;
        return code;
}

/* ---- tokens to text ------------------------------------------------------------------------- */

/* Whether English text has no space before a token, by the rules of Hugging Face's WordPiece
 * decoder. */
static bool attaches(const char *token, size_t n)
{
        static const char *const beginnings[] = {".",  "?",  "!",   ",",   "n't",
                                                 "'m", "'s", "'ve", "'re", NULL};

        for (size_t i = 0; beginnings[i] != NULL; i++) {
                size_t length = strlen(beginnings[i]);
                if (n >= length && memcmp(token, beginnings[i], length) == 0)
                        return true;
        }
        return false;
}

static bool goes_on(const struct ran_tokenizer *t, const char *token, size_t n)
{
        return t->type == TOKENIZER_WORDPIECE && n >= t->prefix_n &&
               memcmp(token, t->prefix, t->prefix_n) == 0;
}

/* Appends the text of a token of bytes, or of characters. */
static void add_text(const struct ran_tokenizer *t, uint32_t id, const char *token, size_t n,
                     struct ran_buf *out)
{
        const size_t meta = sizeof(WORDS_META) - 1;
        unsigned value = 0;

        if (t->bpe.chars == NULL) {
                if (!ran_gpt2_bytes(token, n, out))
                        ran_buf_add(out, token, n); /* an added token, as it is */
                return;
        }
        while (value < 256 && (n != TOKENIZER_BYTE_LENGTH || t->bpe.byte[value] != id))
                value++;
        if (value < 256) {
                ran_buf_char(out, (char)value);
                return;
        }
        for (size_t pos = 0; pos < n;) {
                bool space = n - pos >= meta && memcmp(token + pos, WORDS_META, meta) == 0;
                ran_buf_char(out, space ? ' ' : token[pos]);
                pos += space ? meta : 1;
        }
}

int ran_tokenizer_decode(const struct ran_tokenizer *t, const uint32_t *ids, size_t n,
                         struct ran_buf *out, struct ran_error *err)
{
        const char *eol = t->rules.normal.eol;
        size_t before = out->len;
        bool begin = true; /* of a line */

        for (size_t i = 0; i < n; i++) {
                size_t length;
                const char *token = ran_tokenizer_token(t, ids[i], &length);
                if (token == NULL) {
                        out->len = before;
                        return ran_fail(err, RAN_EFORMAT,
                                        "id %u is not in this vocabulary of %zu tokens",
                                        (unsigned)ids[i], t->tokens.n);
                }
                if (t->type == TOKENIZER_BPE) {
                        add_text(t, ids[i], token, length, out);
                        continue;
                }
                if (eol != NULL && length == strlen(eol) && memcmp(token, eol, length) == 0) {
                        ran_buf_char(out, '\n');
                        begin = true;
                        continue;
                }
                if (!begin && goes_on(t, token, length)) {
                        token += t->prefix_n;
                        length -= t->prefix_n;
                } else if (!begin && !(t->attach && attaches(token, length))) {
                        ran_buf_char(out, ' ');
                }
                ran_buf_add(out, token, length);
                begin = false;
        }
        return out->failed ? ran_fail(err, RAN_ENOMEM, "no memory for the text of %zu tokens", n)
                           : RAN_OK;
}
