/* The linear chain against enumeration of all paths, and on documents too long for that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "part/crf/crf.h"
#include "test.h"

enum { MOST_L = 5, MOST_C = 4, MOST_PATHS = 1024 }; /* MOST_C to the power of MOST_L */

/* Numbers of a chain in one row: start, end, transition, score. */
struct chain {
        size_t L, C, n;
        double x[2 * MOST_C + MOST_C * MOST_C + MOST_L * MOST_C];
        float f[2 * MOST_C + MOST_C * MOST_C + MOST_L * MOST_C];
        struct ran_crf crf; /* into f */
        const float *score;
        size_t paths;
};

static void chain_init(struct chain *c, struct dice *dice, size_t L, size_t C, double scale)
{
        *c = (struct chain){.L = L, .C = C, .n = 2 * C + C * C + L * C, .paths = 1};
        dice_floats(dice, c->f, c->n, scale);
        for (size_t i = 0; i < c->n; i++)
                c->x[i] = (double)c->f[i];
        c->crf = (struct ran_crf){c->f, c->f + C, c->f + 2 * C};
        c->score = c->f + 2 * C + C * C;
        for (size_t t = 0; t < L; t++)
                c->paths *= C;
}

/* Takes the transitions away. */
static void chain_loosen(struct chain *c)
{
        for (size_t i = 0; i < c->C * c->C; i++)
                c->x[2 * c->C + i] = 0;
        c->crf.transition = NULL;
}

/* The i-th path; those before it have a lower tag at the last token where they differ. */
static void chain_path(const struct chain *c, size_t i, uint32_t *path)
{
        for (size_t t = 0; t < c->L; t++, i /= c->C)
                path[t] = (uint32_t)(i % c->C);
}

static double chain_score(const struct chain *c, const uint32_t *path)
{
        const double *start = c->x, *end = start + c->C, *transition = end + c->C;
        const double *score = transition + c->C * c->C;
        double sum = start[path[0]] + end[path[c->L - 1]];

        for (size_t t = 0; t < c->L; t++)
                sum += score[t * c->C + path[t]];
        for (size_t t = 1; t < c->L; t++)
                sum += transition[path[t - 1] * c->C + path[t]];
        return sum;
}

/* -log probabilities of all paths. */
static void chain_losses(const struct chain *c, double *loss)
{
        double most = -INFINITY, sum = 0;

        for (size_t i = 0; i < c->paths; i++) {
                uint32_t path[MOST_L];
                chain_path(c, i, path);
                loss[i] = -chain_score(c, path);
                most = fmax(most, -loss[i]);
        }
        for (size_t i = 0; i < c->paths; i++)
                sum += exp(-loss[i] - most);
        for (size_t i = 0; i < c->paths; i++)
                loss[i] += most + log(sum);
}

static double chain_loss(const struct chain *c, size_t i)
{
        static double loss[MOST_PATHS];

        chain_losses(c, loss);
        return loss[i];
}

/* Never what was there before. Free it. */
static double *new_scratch(size_t L, size_t C)
{
        size_t n = ran_crf_scratch(true, L, C);
        double *scratch = malloc(n * sizeof(*scratch));

        if (scratch == NULL)
                abort();
        for (size_t i = 0; i < n; i++)
                scratch[i] = NAN;
        return scratch;
}

/* Calls check for chains of every small size. */
static void with_chains(void (*check)(const struct chain *c, double *scratch), double scale)
{
        struct dice dice = {.key = 17};

        for (size_t L = 1; L <= MOST_L; L++)
                for (size_t C = 1; C <= MOST_C; C++) {
                        double *scratch = new_scratch(L, C);
                        struct chain c;

                        chain_init(&c, &dice, L, C, scale);
                        check(&c, scratch);
                        chain_loosen(&c);
                        check(&c, scratch);
                        free(scratch);
                }
}

/* ---- loss and gradients --------------------------------------------------------------------- */

static void check_losses(const struct chain *c, double *scratch)
{
        static double want[MOST_PATHS];

        chain_losses(c, want);
        for (size_t i = 0; i < c->paths; i++) {
                uint32_t path[MOST_L];
                double loss;

                chain_path(c, i, path);
                loss = ran_crf_loss(NULL, NULL, c->score, &c->crf, path, c->L, c->C, 0.5, scratch);
                CHECK_NEAR(loss, 0.5 * want[i], 1e-12 * fmax(1, want[i]));
        }
}

TEST(crf_loss_is_that_among_all_paths)
{
        with_chains(check_losses, 1);
}

/* Some of these chains have transitions that differ by more than 500, some by less. */
TEST(crf_loss_of_steep_transitions)
{
        for (double scale = 100; scale < 800; scale *= 1.1)
                with_chains(check_losses, scale);
}

/* A float's worth of range at once: whole tags of a token weigh e^-20000 of others. */
TEST(crf_loss_of_large_scores)
{
        with_chains(check_losses, 1e4);
}

static void check_gradient(const struct chain *given, double *scratch)
{
        struct chain c = *given;
        size_t C = c.C, gold = c.paths / 3, parameters = 2 * C + C * C;
        float d[sizeof(c.f) / sizeof(*c.f)];
        const struct ran_crf sums = {d, d + C, c.crf.transition != NULL ? d + 2 * C : NULL};
        uint32_t path[MOST_L];

        chain_path(&c, gold, path);
        for (size_t i = 0; i < c.n; i++)
                d[i] = 2; /* parameters are added to, scores overwritten */
        ran_crf_loss(d + parameters, &sums, c.score, &c.crf, path, c.L, C, 0.25, scratch);
        for (size_t i = 0; i < c.n; i++) {
                const double step = 1e-5, was = c.x[i];
                double above, below;

                if (sums.transition == NULL && i >= 2 * C && i < parameters) {
                        CHECK(d[i] == 2);
                        continue;
                }
                c.x[i] = was + step;
                above = chain_loss(&c, gold);
                c.x[i] = was - step;
                below = chain_loss(&c, gold);
                c.x[i] = was;
                CHECK_NEAR((double)d[i],
                           0.25 * (above - below) / (2 * step) + (i < parameters ? 2 : 0), 1e-6);
        }
}

TEST(crf_gradients_are_differences)
{
        with_chains(check_gradient, 1);
}

/* ---- marginals ------------------------------------------------------------------------------ */

static void check_marginals(const struct chain *c, double *scratch)
{
        static double loss[MOST_PATHS];
        double want[MOST_L * MOST_C] = {0};
        float p[MOST_L * MOST_C];

        chain_losses(c, loss);
        for (size_t i = 0; i < c->paths; i++) {
                uint32_t path[MOST_L];
                chain_path(c, i, path);
                for (size_t t = 0; t < c->L; t++)
                        want[t * c->C + path[t]] += exp(-loss[i]);
        }
        ran_crf_marginals(p, c->score, &c->crf, c->L, c->C, scratch);
        for (size_t i = 0; i < c->L * c->C; i++)
                CHECK_NEAR((double)p[i], want[i], 1e-7);
}

TEST(crf_marginals_are_sums_over_paths)
{
        with_chains(check_marginals, 1);
        for (double scale = 100; scale < 800; scale *= 1.1)
                with_chains(check_marginals, scale);
}

/* ---- decoding ------------------------------------------------------------------------------- */

static bool is_allowed(const struct ran_crf_rules *rules, const uint32_t *path, size_t L)
{
        bool allowed = rules == NULL || rules->start[path[0]];

        for (size_t t = 1; t < L && rules != NULL; t++)
                allowed = allowed && ran_crf_allows(rules, path[t - 1], path[t]);
        return allowed;
}

/* The first of the best paths that are allowed. */
static void search(const struct chain *c, const struct ran_crf_rules *rules, uint32_t *best)
{
        double most = -INFINITY;

        for (size_t i = 0; i < c->paths; i++) {
                uint32_t path[MOST_L] = {0};
                chain_path(c, i, path);
                if (!is_allowed(rules, path, c->L) || chain_score(c, path) <= most)
                        continue;
                most = chain_score(c, path);
                memcpy(best, path, sizeof(path));
        }
}

static void check_decoding(const struct chain *c, double *scratch)
{
        /* Tag 1 comes after itself and 2 only, tag 3 after 0 only. */
        bool start[MOST_C] = {true, false, true, false}, open[MOST_C] = {true, true, true};
        uint32_t type[MOST_C] = {0, 1, 1, 0};
        const struct ran_crf_rules some = {start, open, type};
        uint32_t got[MOST_L], want[MOST_L];
        size_t L = c->L, C = c->C;

        search(c, NULL, want);
        ran_crf_decode(got, c->score, &c->crf, NULL, L, C, scratch);
        CHECK(memcmp(got, want, L * sizeof(*got)) == 0);
        search(c, &some, want);
        ran_crf_decode(got, c->score, &c->crf, &some, L, C, scratch);
        CHECK(memcmp(got, want, L * sizeof(*got)) == 0);
}

TEST(crf_decoding_finds_the_best_path)
{
        with_chains(check_decoding, 1);
        with_chains(check_decoding, 1e4);
}

/* With all numbers equal, every path is a best one. */
TEST(crf_decoding_prefers_lower_tags)
{
        with_chains(check_decoding, 0);
}

/* Each of O, B-a, I-a, B-b, I-b in turn is by far the best wherever it may or may not stand. */
TEST(crf_decoding_keeps_to_iob2)
{
        static const char *const names[] = {"B-a", "B-b", "I-a", "I-b", "O"};
        enum { C = 5, L = 400 };
        struct dice dice = {.key = 3};
        struct ran_tag tags[C];
        bool start[C], open[C];
        uint32_t type[C];
        const struct ran_crf_rules rules = {start, open, type};
        const struct ran_crf independent = {0};
        static float score[L * C];
        uint32_t path[L];
        double *scratch = new_scratch(L, C);

        for (size_t c = 0; c < C; c++)
                ran_tag_parse(&tags[c], names[c], strlen(names[c]), NULL);
        ran_tags_rules(start, open, type, tags, C);
        for (size_t t = 0; t < L; t++)
                for (size_t c = 0; c < C; c++)
                        score[t * C + c] =
                                (float)dice_real(&dice, -1, 1) + (c == 2 + (t / 7) % 2 ? 1e30f : 0);
        ran_crf_decode(path, score, &independent, &rules, L, C, scratch);
        CHECK(is_allowed(&rules, path, L));
        CHECK(path[0] < 2 || path[0] == 4);
        ran_crf_decode(path, score, &independent, NULL, L, C, scratch);
        for (size_t t = 0; t < L; t++)
                CHECK_SIZE(path[t], 2 + (t / 7) % 2);
        free(scratch);
}

/* ---- long documents ------------------------------------------------------------------------- */

enum { LONG = 100000, FEW = 3 };

struct novel {
        float *score, *p;
        uint32_t *path;
        double *scratch;
};

static struct novel novel_new(double scale)
{
        struct novel n = {
                .score = ran_alloc_floats(LONG * FEW, NULL),
                .p = ran_alloc_floats(LONG * FEW, NULL),
                .path = calloc(LONG, sizeof(*n.path)),
                .scratch = new_scratch(LONG, FEW),
        };
        struct dice dice = {.key = 8};

        if (n.score == NULL || n.p == NULL || n.path == NULL)
                abort();
        dice_floats(&dice, n.score, LONG * FEW, scale);
        for (size_t t = 0; t < LONG; t++)
                n.path[t] = (uint32_t)dice_size(&dice, 0, FEW - 1);
        return n;
}

static void novel_free(struct novel *n)
{
        free(n->score);
        free(n->p);
        free(n->path);
        free(n->scratch);
}

/* Without transitions a chain is as many softmaxes. */
static void check_independent(double scale)
{
        const struct ran_crf independent = {0};
        struct novel n = novel_new(scale);
        double want = 0;

        ran_crf_marginals(n.p, n.score, &independent, LONG, FEW, n.scratch);
        for (size_t t = 0; t < LONG; t++) {
                const float *score = n.score + t * FEW;
                double sum = 0;

                for (size_t c = 0; c < FEW; c++)
                        sum += exp((double)score[c] - (double)score[n.path[t]]);
                want += log(sum);
                if (!CHECK_NEAR((double)n.p[t * FEW + n.path[t]], 1 / sum, 1e-6))
                        break;
        }
        CHECK_NEAR(ran_crf_loss(NULL, NULL, n.score, &independent, n.path, LONG, FEW, 1, n.scratch),
                   want, 1e-9 * want);
        novel_free(&n);
}

TEST(crf_long_document_of_independent_tokens)
{
        check_independent(1);
        check_independent(100);
}

/* Large and of one sign, so that plain sums or products would be far out of range. */
TEST(crf_long_document_neither_overflows_nor_underflows)
{
        static float start[FEW] = {0, -50, 3}, end[FEW] = {1, 0, -80};
        static float transition[FEW * FEW] = {-90, -91, -92, -93, -90, -94, -95, -92, -90};
        const struct ran_crf crf = {start, end, transition};
        float d[2 * FEW + FEW * FEW] = {0};
        const struct ran_crf sums = {d, d + FEW, d + 2 * FEW};
        struct novel n = novel_new(1);
        double loss, pairs = 0;

        for (size_t i = 0; i < LONG * FEW; i++)
                n.score[i] += 500;
        loss = ran_crf_loss(n.p, &sums, n.score, &crf, n.path, LONG, FEW, 1, n.scratch);
        CHECK(isfinite(loss) && loss > 0 && loss < 20.0 * LONG);
        /* Marginals and path each sum to 1 over the tags, and over pairs to their number. */
        for (size_t t = 0; t < LONG; t++) {
                const float *p = n.p + t * FEW;
                if (!CHECK_NEAR((double)p[0] + (double)p[1] + (double)p[2], 0, 1e-6))
                        break;
        }
        for (size_t i = 0; i < FEW * FEW; i++)
                pairs += (double)d[2 * FEW + i];
        CHECK_NEAR(pairs, 0, 0.05);
        ran_crf_decode(n.path, n.score, &crf, NULL, LONG, FEW, n.scratch);
        CHECK(ran_crf_loss(NULL, NULL, n.score, &crf, n.path, LONG, FEW, 1, n.scratch) < loss);
        novel_free(&n);
}

/* Shifting all scores of a token, or all transitions, changes no probability. */
TEST(crf_long_document_shifted)
{
        static float plain[FEW * FEW] = {1, -2, 0.5f, 0, 1, 0, -1, 2, 1};
        float shifted[FEW * FEW];
        const struct ran_crf crf = {.transition = plain}, other = {.transition = shifted};
        struct novel n = novel_new(1), m = novel_new(1);
        double loss;

        for (size_t i = 0; i < FEW * FEW; i++)
                shifted[i] = plain[i] + 64;
        for (size_t i = 0; i < LONG * FEW; i++) {
                n.score[i] = ldexpf(rintf(ldexpf(n.score[i], 10)), -10); /* so that 64 fits */
                m.score[i] = n.score[i] - 64;
        }
        loss = ran_crf_loss(NULL, NULL, n.score, &crf, n.path, LONG, FEW, 1, n.scratch);
        CHECK_NEAR(ran_crf_loss(NULL, NULL, m.score, &other, m.path, LONG, FEW, 1, m.scratch), loss,
                   1e-9 * loss);
        ran_crf_marginals(n.p, n.score, &crf, LONG, FEW, n.scratch);
        ran_crf_marginals(m.p, m.score, &other, LONG, FEW, m.scratch);
        for (size_t i = 0; i < LONG * FEW; i++)
                if (!CHECK_NEAR((double)m.p[i], (double)n.p[i], 1e-6))
                        break;
        novel_free(&n);
        novel_free(&m);
}

TEST(crf_scratch_is_counted_without_overflow)
{
        CHECK_SIZE(ran_crf_scratch(true, 0, 1), 7);
        CHECK_SIZE(ran_crf_scratch(true, 10, 3), (10 + 2 * 3 + 5) * 3);
        CHECK_SIZE(ran_crf_scratch(false, 10, 3), (10 + 5) * 3);
        for (int chained = 0; chained <= 1; chained++) {
                CHECK_SIZE(ran_crf_scratch(chained, SIZE_MAX, 1), SIZE_MAX);
                CHECK_SIZE(ran_crf_scratch(chained, SIZE_MAX / 4, 9), SIZE_MAX);
                CHECK_SIZE(ran_crf_scratch(chained, 1, SIZE_MAX / 2), SIZE_MAX);
        }
        CHECK_SIZE(ran_crf_scratch(true, 1, (size_t)1 << 4 * sizeof(size_t)), SIZE_MAX);
}
