/* settings.c - the options of a vocabulary, and their rules of text. */
#include <math.h>
#include <string.h>

#include "text/words/words.h"

static const char *const types[] = {"word", "wordpiece", "bpe", NULL};
static const char *const forms[] = {"none", "nfc", "nfkc", NULL};
static const char *const cleaned[] = {"none", "all", NULL};
static const char *const splits[] = {"punctuation", "spaces", "gpt2", NULL};

#define AT(member) offsetof(struct ran_vocab_settings, member)

/* clang-format off */
const struct ran_field ran_vocab_fields[] = {
        {"vocab_type", 0, RAN_FIELD_CHOICE, AT(vocab_type), .choices = types, .initial = "word",
         .first = true,
         .help = "word: frequent words; wordpiece: words and subwords, hardly any text is unknown; "
                 "bpe: byte pairs, no text is unknown"},
        {"vocab_size", 0, RAN_FIELD_SIZE, AT(vocab_size), .low = RAN_RESERVED + 1, .high = 100e6,
         .value = "N", .initial = "30000", .first = true,
         .help = "tokens at most, including the five reserved ones"},
        {"min_count", 0, RAN_FIELD_SIZE, AT(min_count), .low = 1, .high = INFINITY, .value = "N",
         .initial = "2", .help = "leave out words (wordpiece, bpe: merges) that occur less often"},
        {"limit_alphabet", 0, RAN_FIELD_SIZE, AT(limit_alphabet), .low = 1, .high = INFINITY,
         .value = "N", .initial = "4000",
         .help = "wordpiece: different characters at most; words with others are [UNK]"},
        {"max_word", 0, RAN_FIELD_SIZE, AT(max_word), .low = 1, .high = 1e6, .value = "N",
         .initial = "100",
         .help = "characters of a word at most; longer words are not learned, and [UNK] with "
                 "wordpiece"},
        {"max_distinct", 0, RAN_FIELD_SIZE, AT(max_distinct), .low = 1000, .high = 1e9,
         .value = "N", .initial = "10000000",
         .help = "different words to count at most; beyond, the rarest are forgotten"},
        {"normalize", 0, RAN_FIELD_CHOICE, AT(normalize), .choices = forms, .initial = "nfc",
         .unless = {"vocab_type", "bpe", "none"},
         .help = "Unicode normalisation form; nfkc also folds ligatures, full-width letters and "
                 "the like"},
        {"lowercase", 0, RAN_FIELD_BOOL, AT(lowercase), .initial = "true",
         .unless = {"vocab_type", "bpe", "false"}, .help = "make letters lower case"},
        {"strip_accents", 0, RAN_FIELD_BOOL, AT(strip_accents), .initial = "false",
         .help = "remove accents, as BERT does when it makes letters lower case"},
        {"clean", 0, RAN_FIELD_CHOICE, AT(clean), .choices = cleaned,
         .initial = "all", .unless = {"vocab_type", "bpe", "none"},
         .help = "control characters to remove; all: Cc, Cf and Co, as Hugging Face"},
        {"cjk", 0, RAN_FIELD_BOOL, AT(cjk), .initial = "true",
         .unless = {"vocab_type", "bpe", "false"}, .help = "make each CJK ideograph a word"},
        {"split_at", 0, RAN_FIELD_CHOICE, AT(split_at), .choices = splits,
         .initial = "punctuation", .unless = {"vocab_type", "bpe", "gpt2"},
         .help = "where words end; punctuation: at white space, each punctuation mark is a word; "
                 "spaces: at white space only; gpt2: as in GPT-2, bpe only"},
        {"eol_token", 0, RAN_FIELD_TEXT, AT(eol_token), .value = "WORD",
         .help = "word for each line feed, such as <eos>; unset: white space"},
        {.name = NULL},
};
/* clang-format on */

/* The end-of-line token goes through the same steps as text and must come out whole. */
static int check_eol(const struct ran_text_rules *r, const struct ran_vocab_settings *s,
                     struct ran_error *err)
{
        struct ran_words_scratch scratch = {0};
        struct ran_words words;
        struct ran_word word;
        const char *eol = r->normal.eol;

        ran_words_begin(&words, r, &scratch, "\n", 1, 0);
        bool whole = ran_words_next(&words, &word, err) && word.n == strlen(eol) &&
                     memcmp(word.s, eol, word.n) == 0;
        bool unknown = whole && s->vocab_type == RAN_VOCAB_WORDPIECE && word.chars > s->max_word;
        whole = whole && !ran_words_next(&words, &word, err);
        ran_words_scratch_release(&scratch);
        if (words.code == RAN_OK && whole && unknown)
                return ran_fail(err, RAN_EINVAL,
                                "the end-of-line token '%s' is longer than --max-word %zu, so it "
                                "would be unknown",
                                eol, s->max_word);
        if (words.code != RAN_OK || whole)
                return words.code;
        return ran_fail(
                err, RAN_EINVAL,
                "the end-of-line token '%s' does not pass normalisation and splitting "
                "unchanged; choose another one, or other rules (split_at=spaces keeps '<eos>')",
                eol);
}

/* Checks that involve several fields. */
static int check_settings(const struct ran_vocab_settings *s, struct ran_error *err)
{
        bool bpe = s->vocab_type == RAN_VOCAB_BPE;

        if (bpe != (s->split_at == RAN_SPLIT_GPT2))
                return ran_fail(
                        err, RAN_EINVAL,
                        "--vocab-type bpe requires --split-at gpt2, and no other type allows it");
        if (bpe && s->eol_token != NULL)
                return ran_fail(err, RAN_EINVAL,
                                "--vocab-type bpe keeps each line feed as it is: leave out "
                                "--eol-token");
        if (s->eol_token != NULL && strlen(s->eol_token) > NORMAL_EOL_MOST)
                return ran_fail(err, RAN_EINVAL, "--eol-token has %zu bytes; the maximum is %d",
                                strlen(s->eol_token), NORMAL_EOL_MOST);
        if (bpe && s->vocab_size < RAN_RESERVED + 256)
                return ran_fail(err, RAN_EINVAL,
                                "--vocab-type bpe has a token for each byte and the reserved ones: "
                                "--vocab-size must be %d or more, not %zu",
                                RAN_RESERVED + 256, s->vocab_size);
        return RAN_OK;
}

int ran_text_rules_set(struct ran_text_rules *r, const struct ran_vocab_settings *s,
                       struct ran_error *err)
{
        const struct {
                bool wanted;
                enum ran_normalizer_step step;
        } all[] = {
                {s->normalize == RAN_NORMALIZE_NFC, NORMAL_NFC},
                {s->normalize == RAN_NORMALIZE_NFKC, NORMAL_NFKC},
                {s->clean == RAN_CLEAN_ALL, NORMAL_CLEAN},
                {s->cjk, NORMAL_CJK},
                {s->strip_accents, NORMAL_NFD},
                {s->strip_accents, NORMAL_STRIP_NONSPACING},
                {s->lowercase, NORMAL_LOWERCASE},
        };

        if (check_settings(s, err) != RAN_OK)
                return RAN_EINVAL;
        r->split = s->split_at;
        if (s->eol_token != NULL)
                RAN_TRY(ran_normalizer_add_eol(&r->normal, s->eol_token, strlen(s->eol_token),
                                               err));
        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
                if (all[i].wanted)
                        r->normal.step[r->normal.n++] = all[i].step;
        ran_text_rules_prepare(r);
        if (r->normal.eol != NULL)
                RAN_TRY(check_eol(r, s, err));
        return RAN_OK;
}
