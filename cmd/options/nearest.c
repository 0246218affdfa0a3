/* nearest.c - which name of ours somebody meant who wrote another one. */
#include "cmd/options/table.h"

#include <limits.h>
#include <string.h>

enum { LONGEST_NAME = 63 };

/* What fastText, PyTorch, Hugging Face, spaCy and scikit-learn call options and verbs. A program
 * suggests the first of our names that it has. */
static const struct synonyms {
        const char *ours, *theirs[6]; /* NULL at the end */
} synonyms[] = {
        {"learning-rate", {"lr", "alpha"}},
        {"batch", {"batch-size", "per-device-train-batch-size"}},
        {"epochs", {"num-train-epochs", "epoch", "n-epochs", "max-iter"}},
        {"eval", {"evaluate", "test", "score", "do-eval"}},
        {"labels", {"candidate-labels"}},
        {"model", {"model-file", "model-path", "model-name-or-path"}},
        {"init", {"pretrained", "pretrained-model"}},
        {"vectors", {"pretrained-vectors"}},
        {"resume", {"checkpoint"}},
        {"output", {"out", "output-file", "output-dir"}},
        {"files-from", {"input"}},
        {"dev", {"valid", "validation", "validation-file", "dev-file"}},
        {"dev-share", {"val-split", "validation-split", "test-size"}},
        {"tune", {"autotune", "autotune-duration"}},
        {"jobs", {"threads", "thread", "num-workers", "n-jobs", "workers"}},
        {"seed", {"random-state", "random-seed"}},
        {"dim", {"hidden-size", "embedding-size"}},
        {"layers", {"num-layers"}},
        {"heads", {"num-heads"}},
        {"max-tokens", {"max-length", "max-seq-length", "max-len"}},
        {"truncate", {"truncation"}},
        {"ngrams", {"word-ngrams", "ngram-range"}},
        {"min-count", {"min-freq", "min-df"}},
        {"top", {"top-k", "k"}},
        {"probs", {"proba", "probabilities", "predict-proba"}},
        {"output-format", {"format"}},
        {"delimiter", {"sep", "separator", "field-separator"}},
        {"columns", {"names"}},
        {"text-member", {"text-column", "text-field", "text-key"}},
        {"label-member", {"label-column", "label-field", "target-column"}},
        {"id-member", {"id-column"}},
        {"max-new-tokens", {"length", "max-tokens"}},
        {"quiet", {"silent"}},
        {"verbose", {"debug"}},
        {"embed", {"embedding", "embeddings"}},
        /* Verbs. */
        {"learn", {"train"}},
        {"classify", {"classification", "supervised"}},
        {"tag", {"ner"}},
        {"lm", {"language-model", "clm"}},
        {"score", {"perplexity", "predict"}},
        {"generate", {"sample"}},
        {"fill", {"fill-mask"}},
        {"encode", {"tokenize"}},
        {"decode", {"detokenize"}},
        {NULL, {NULL}},
};

/* ---- misspelt names ------------------------------------------------------------------------- */

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
        unsigned m = a < b ? a : b;

        return m < c ? m : c;
}

/* '_' is as good as '-', as elsewhere. */
static char letter(const char *s, size_t i)
{
        return s[i] == '_' ? '-' : s[i];
}

/* Whether the first n letters are the same, or all. */
static bool same(const char *a, const char *b, size_t n)
{
        size_t i = 0;

        while (i < n && letter(a, i) == letter(b, i) && a[i] != '\0')
                i++;
        return i == n || (a[i] == '\0' && b[i] == '\0');
}

/* The edit distance of a and b: letters to insert, remove, replace, or swap with a neighbour. Large
 * when either is too long for a name. */
static unsigned distance(const char *a, const char *b)
{
        unsigned char d[LONGEST_NAME + 1][LONGEST_NAME + 1]; /* of the first i and j letters */
        size_t n = strlen(a), m = strlen(b);

        if (n > LONGEST_NAME || m > LONGEST_NAME)
                return UINT_MAX;
        for (size_t i = 0; i <= n; i++) {
                for (size_t j = 0; j <= m; j++) {
                        if (i == 0 || j == 0) {
                                d[i][j] = (unsigned char)(i + j);
                                continue;
                        }
                        unsigned best =
                                min3(d[i - 1][j] + 1, d[i][j - 1] + 1,
                                     d[i - 1][j - 1] + (letter(a, i - 1) != letter(b, j - 1)));
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                best = min3(best, best, d[i - 2][j - 2] + 1);
                        d[i][j] = (unsigned char)best;
                }
        }
        return d[n][m];
}

/* The mistakes in `given` if it is `name` misspelt, else UINT_MAX. A mistake for every three
 * letters, of the shorter of the two; and who makes more than one has the first letter right:
 * `test` is not `task`, nor `size` `wide`. */
static unsigned mistakes(const char *given, const char *name)
{
        const size_t n = strlen(given), m = strlen(name), shorter = n < m ? n : m;
        const unsigned most = shorter < 9 ? (unsigned)shorter / 3 : 3, d = distance(given, name);

        if (d > most || (d > 1 && given[0] != name[0]))
                return UINT_MAX;
        return d;
}

/* ---- the nearest ---------------------------------------------------------------------------- */

static const char *find(const char *name, const char *const *names)
{
        while (*names != NULL && !same(*names, name, SIZE_MAX))
                names++;
        return *names;
}

const char *cmd_nearest(const char *given, const char *const *names)
{
        const char *called = NULL, *begun = NULL, *spelt = NULL;
        unsigned called_wrong = UINT_MAX, spelt_wrong = UINT_MAX;
        size_t begins = 0;

        for (const struct synonyms *s = synonyms; s->ours != NULL; s++)
                for (const char *const *theirs = s->theirs; *theirs != NULL; theirs++) {
                        const unsigned d = mistakes(given, *theirs);
                        const char *found = d < called_wrong ? find(s->ours, names) : NULL;

                        called = found != NULL ? found : called;
                        called_wrong = found != NULL ? d : called_wrong;
                }
        for (; *names != NULL; names++) {
                const unsigned d = mistakes(given, *names);

                if (given[0] != '\0' && same(*names, given, strlen(given)) && begins++ == 0)
                        begun = *names;
                if (d < spelt_wrong) {
                        spelt = *names;
                        spelt_wrong = d;
                }
        }
        if (called_wrong > 0 && begins == 1)
                return begun;
        return called_wrong > 0 && spelt_wrong <= called_wrong ? spelt : called;
}

const struct ran_field *cmd_option_nearest(const struct cmd_program *program, const char *name)
{
        const char *names[512]; /* more than any program has */
        size_t n = 0;

        for (struct cmd_option o = {0}; cmd_option_next(program, &o);)
                if (!o.field->fixed && n + 1 < sizeof names / sizeof *names)
                        names[n++] = o.field->name;
        names[n] = NULL;
        const char *nearest = cmd_nearest(name, names);
        struct cmd_option o;

        return nearest != NULL && cmd_option_find(program, nearest, strlen(nearest), &o) ? o.field
                                                                                         : NULL;
}
