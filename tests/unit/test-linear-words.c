/* The linear model of a tagger: which features a word has, what they add up to, and what they
 * learn.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"
#include "part/linear/linear-words.h"
#include "test.h"
#include "toy.h"
#include "part/linear/ensemble.h"

enum { BUCKETS = 97, SPELLING = 50, LONGEST = 11, MOST = 200, C = TOY_C };

static struct ran_config wide_config(size_t spelling, size_t ngrams)
{
        struct ran_config c = toy_config();

        c.task = RAN_TASK_TAG;
        c.tag.crf = true;
        c.linear.wide = BUCKETS;
        c.spelling = spelling;
        c.linear.ngrams = ngrams;
        return c;
}

/* Sentences of random words of one or two subwords, in documents of up to three of them. A word's
 * tag is, but for some noise, what its piece and the piece before say. */
static void make(struct ran_dataset *data, size_t documents, uint64_t seed)
{
        static char *const names[C] = {"B-A", "B-B", "I-A", "O"};
        struct dice dice = {.key = seed};
        struct ran_error err = {0};

        *data = (struct ran_dataset){0};
        CHECK_OK(ran_dataset_set_classes(data, names, C, &err), err);
        for (size_t b = 0; b < documents; b++)
                for (size_t i = 0, m = dice_size(&dice, 1, 3); i < m; i++) {
                        uint32_t ids[2 * LONGEST], positions[LONGEST], tags[LONGEST];
                        uint32_t spelling[2 * LONGEST * RAN_SPELLING];
                        size_t n = dice_size(&dice, 1, LONGEST), L = 0;

                        for (size_t w = 0; w < n; w++) {
                                uint32_t id = (uint32_t)dice_size(&dice, 0, 7);
                                uint32_t before = w > 0 ? ids[positions[w - 1]] : 0;

                                positions[w] = (uint32_t)L;
                                tags[w] = dice_size(&dice, 0, 9) == 0
                                                  ? (uint32_t)dice_size(&dice, 0, C - 1)
                                                  : (id + before / 4) % C;
                                ids[L++] = id;
                                if (dice_size(&dice, 0, 2) == 0)
                                        ids[L++] = (uint32_t)dice_size(&dice, 8, TOY_V - 1);
                                for (size_t t = positions[w]; t < L; t++)
                                        for (size_t k = 0; k < RAN_SPELLING; k++)
                                                spelling[t * RAN_SPELLING + k] =
                                                        (uint32_t)((id * 7 + k * k) % SPELLING);
                        }
                        if (i == 0)
                                CHECK_OK(ran_dataset_add_words(data, ids, L, positions, tags, n, 1,
                                                               &err),
                                         err);
                        else
                                CHECK_OK(ran_dataset_continue(data, ids, L, positions, tags, n,
                                                              &err),
                                         err);
                        CHECK_OK(ran_dataset_spell(data, spelling, L, &err), err);
                }
        CHECK_OK(ran_dataset_finish(data, &err), err);
}

/* Part of the format: another function would read other rows of the tables of every model. */
TEST(word_features_are_for_ever)
{
        const uint32_t ids[] = {5, 6, 7, 8}, positions[] = {0, 2, 3};
        uint32_t spelling[4 * RAN_SPELLING], bucket[MOST];
        struct ran_config c = {
                .task = RAN_TASK_TAG, .linear.wide = 1 << 18, .linear.ngrams = 2, .spelling = 1000};
        struct ran_document d = {
                .ids = ids, .L = 4, .spelling = spelling, .positions = positions, .words = 3};
        uint64_t sum = 0;

        for (size_t i = 0; i < 4 * RAN_SPELLING; i++)
                spelling[i] = (uint32_t)(31 * i % 1000);
        CHECK_SIZE(ran_linear_words_features(&c), 47);
        size_t n = ran_linear_words_list(bucket, &c, &d, 0, 3, 1);
        CHECK_SIZE(n, 5 + 2 + 3 * RAN_SPELLING + 3 + 3); /* there is none two away */
        for (size_t i = 0; i < n; i++)
                sum = 31 * sum + bucket[i];
        CHECK_SIZE(bucket[0], 238089);
        CHECK_SIZE(bucket[2], 238914);
        CHECK_SIZE(sum % 1000000007, 761375468);
        c.spelling = 0;
        CHECK_SIZE(ran_linear_words_list(bucket, &c, &d, 0, 3, 1), 7);
        CHECK_SIZE(ran_linear_words_features(&c), 7);
        c.linear.ngrams = 4;
        CHECK_SIZE(ran_linear_words_features(&c), 5 + 2 + 3 + 4);
}

/* A word that is too far away to be looked at, or in another sentence, changes no feature. */
TEST(word_features_are_of_the_words_around)
{
        for (size_t ngrams = 1; ngrams <= 4; ngrams++) {
                struct ran_config c = wide_config(SPELLING, ngrams);
                struct ran_dataset data;
                size_t far = ngrams > 3 ? ngrams - 1 : 2, changed = 0;

                c.linear.wide = 1 << 28; /* no two in one */
                make(&data, 12, 9);
                for (size_t b = 0; b < data.B; b++) {
                        const struct ran_document d = ran_dataset_document(&data, b);
                        uint32_t *ids = data.ids + data.first[b];

                        for (size_t from = 0, end; from < d.words; from = end) {
                                end = ran_crf_sentence_end(d.begins, from, d.words);
                                for (size_t w = from; w < end; w++)
                                        for (size_t v = 0; v < d.words; v++) {
                                                uint32_t list[MOST], other[MOST];
                                                uint32_t was = ids[d.positions[v]];
                                                size_t n = ran_linear_words_list(list, &c, &d, from,
                                                                                 end, w),
                                                       m;
                                                bool near = v >= from && v < end && v + far >= w &&
                                                            v <= w + far;

                                                CHECK(n <= ran_linear_words_features(&c));
                                                ids[d.positions[v]] = TOY_V + 1;
                                                m = ran_linear_words_list(other, &c, &d, from, end,
                                                                          w);
                                                ids[d.positions[v]] = was;
                                                bool same = n == m && memcmp(list, other,
                                                                             n * sizeof *list) == 0;
                                                CHECK(same != near);
                                                changed += !same;
                                        }
                        }
                }
                CHECK(changed > 100);
                ran_dataset_release(&data);
        }
}

/* The logits of a tagger are those without the path, and the rows of its features. */
TEST(word_features_are_added_to_the_logits)
{
        struct ran_config c = wide_config(SPELLING, 2), deep = c;
        struct ran_error err = {0};
        struct ran_dataset data;
        struct toy t;

        deep.linear.wide = 0;
        toy_init(&t, &c, 3, 0.4);
        make(&data, 6, 2);
        struct ran_state *s = ran_score_state_new(&t.c, &t.p, C, NULL);
        struct ran_state *alone = ran_score_state_new(&deep, &t.p, C, NULL);
        for (size_t b = 0; b < data.B; b++) {
                const struct ran_document d = ran_dataset_document(&data, b);
                float both[3 * LONGEST * C], one[3 * LONGEST * C], u[3 * LONGEST * C],
                        v[3 * LONGEST * C];
                uint32_t tags[3 * LONGEST];

                CHECK_OK(ran_score_tags(s, NULL, &d, tags, NULL, both, &err), err);
                CHECK_OK(ran_score_tags(alone, NULL, &d, tags, NULL, one, &err), err);
                CHECK_OK(ran_score_word_parts(s, &d, u, v, &err), err);
                CHECK_OK(ran_score_tags(s, NULL, &d, tags, NULL, both, &err), err);
                CHECK(memcmp(u, one, d.words * C * sizeof *u) == 0);
                for (size_t from = 0, end; from < d.words; from = end) {
                        end = ran_crf_sentence_end(d.begins, from, d.words);
                        for (size_t w = from; w < end; w++) {
                                uint32_t bucket[MOST];
                                size_t n = ran_linear_words_list(bucket, &c, &d, from, end, w);

                                for (size_t k = 0; k < C; k++) {
                                        double sum = (double)ran_linear_of(&t.p)->bias[k];

                                        for (size_t i = 0; i < n; i++)
                                                sum += (double)ran_linear_of(&t.p)
                                                               ->wide[bucket[i] * C + k];
                                        CHECK_NEAR((double)v[w * C + k], sum, 1e-5);
                                        CHECK_NEAR((double)both[w * C + k],
                                                   (double)u[w * C + k] + sum, 1e-5);
                                }
                        }
                }
        }
        ran_state_free(s);
        ran_state_free(alone);
        ran_dataset_release(&data);
        toy_release(&t);
}

/* ---- what is learned ------------------------------------------------------------------------ */

enum { FLOATS = (BUCKETS + 1 + C + 2) * C };

struct bench {
        struct ran_config c;
        struct ran_dataset d;
        struct ran_crf_train k;
        size_t document[40];
        float w[FLOATS]; /* weight, bias, chain */
};

static void bench_init(struct bench *b, double cost, size_t passes)
{
        memset(b, 0, sizeof *b);
        b->c = wide_config(SPELLING, 2);
        make(&b->d, 40, 4);
        for (size_t i = 0; i < 40; i++)
                b->document[i] = i;
        b->k = (struct ran_crf_train){.c = &b->c,
                                      .d = &b->d,
                                      .document = b->document,
                                      .n = 40,
                                      .cost = cost,
                                      .passes = passes,
                                      .seed = 3};
}

static int learn(struct bench *b, bool chained, struct ran_error *err)
{
        return ran_crf_train_run(&b->k, b->w, b->w + BUCKETS * C,
                                 chained ? b->w + (BUCKETS + 1) * C : NULL, err);
}

/* What is to be as small as can be, by another way: 1/2 |w|² + cost Σ -log p; and its gradient. */
static double objective(const struct bench *b, float *w, bool chained, double *gradient)
{
        static double scratch[4096];
        float *const bias = w + BUCKETS * C, *const chain = bias + C;
        const struct ran_crf crf = {chain, chain + C, chain + 2 * C};
        double sum = 0;

        for (size_t i = 0; i < FLOATS; i++) {
                sum += (double)w[i] * (double)w[i] / 2;
                gradient[i] = (double)w[i];
        }
        for (size_t i = 0; i < b->d.B; i++) {
                const struct ran_document d = ran_dataset_document(&b->d, i);

                for (size_t from = 0, end; from < d.words; from = end) {
                        float score[LONGEST * C], dscore[LONGEST * C], dchain[C * (C + 2)] = {0};
                        const struct ran_crf grad = {dchain, dchain + C, dchain + 2 * C};
                        uint32_t bucket[MOST];

                        end = ran_crf_sentence_end(d.begins, from, d.words);
                        for (size_t v = from; v < end; v++) {
                                size_t n = ran_linear_words_list(bucket, &b->c, &d, from, end, v);

                                for (size_t c = 0; c < C; c++) {
                                        score[(v - from) * C + c] = bias[c];
                                        for (size_t g = 0; g < n; g++)
                                                score[(v - from) * C + c] += w[bucket[g] * C + c];
                                }
                        }
                        sum += ran_crf_loss(dscore, &grad, score, &crf,
                                            b->d.labels + b->d.label_first[i] + from, end - from, C,
                                            b->k.cost, scratch);
                        for (size_t v = from; v < end; v++) {
                                size_t n = ran_linear_words_list(bucket, &b->c, &d, from, end, v);

                                for (size_t c = 0; c < C; c++) {
                                        double x = (double)dscore[(v - from) * C + c];

                                        gradient[BUCKETS * C + c] += x;
                                        for (size_t g = 0; g < n; g++)
                                                gradient[bucket[g] * C + c] += x;
                                }
                        }
                        for (size_t c = 0; c < C * (C + 2) && chained; c++)
                                gradient[(BUCKETS + 1) * C + c] += (double)dchain[c];
                }
        }
        return sum;
}

/* The optimum, by steps along the whole gradient, with Nesterov's momentum for a condition of 2000.
 */
static double least(const struct bench *b, bool chained)
{
        double gradient[FLOATS], best = INFINITY;
        float w[FLOATS] = {0}, last[FLOATS] = {0};

        for (int i = 0; i < 500; i++) {
                best = fmin(best, objective(b, w, chained, gradient));
                for (size_t j = 0; j < FLOATS; j++) {
                        float next = w[j] - (float)(0.0005 * gradient[j]);

                        w[j] = next + 0.956f * (next - last[j]);
                        last[j] = next;
                }
        }
        return best;
}

TEST(chain_learned_is_the_optimum)
{
        for (int chained = 0; chained <= 1; chained++) {
                struct ran_error err = {0};
                double gradient[FLOATS], found, want;
                struct bench b;

                bench_init(&b, 0.7, 300);
                CHECK_OK(learn(&b, chained, &err), err);
                found = objective(&b, b.w, chained, gradient);
                want = least(&b, chained);
                if (!CHECK(found >= want - 1e-3 && found < 1.01 * want))
                        printf("  %g, the least is %g\n", found, want);
                ran_dataset_release(&b.d);
        }
}

/* What a model knows already is where it begins, and what it knows it keeps, where nothing is said
 * against it. */
TEST(chain_is_learned_from_what_is_there)
{
        struct ran_error err = {0};
        struct bench b;
        float before[FLOATS];

        bench_init(&b, 1e-9, 2); /* nothing is worth a change */
        for (size_t i = 0; i < (BUCKETS + 1) * C; i++)
                b.w[i] = (float)(i % 5) - 2;
        memcpy(before, b.w, sizeof before);
        CHECK_OK(learn(&b, true, &err), err);
        for (size_t i = 0; i < FLOATS; i++)
                CHECK_NEAR((double)b.w[i], (double)before[i], 1e-3);
        ran_dataset_release(&b.d);
}

static int second(void *arg, size_t passes, double share)
{
        CHECK(share > 0 && share <= 1);
        *(size_t *)arg = passes;
        return passes == 2;
}

TEST(chain_that_is_stopped_leaves_all_as_it_was)
{
        struct ran_error err = {0};
        size_t passes = 0;
        struct bench b;

        bench_init(&b, 1, 9);
        b.k.pass = second;
        b.k.arg = &passes;
        CHECK_SIZE((size_t)learn(&b, true, &err), RAN_EINTR);
        CHECK_SIZE(passes, 2);
        for (size_t i = 0; i < FLOATS; i++)
                CHECK(b.w[i] == 0);
        ran_dataset_release(&b.d);
}

/* ---- how much it counts --------------------------------------------------------------------- */

/* The loss of an ensemble, as the sum over sentences of the joined chain. */
static double loss_of(const struct ran_dataset *d, const struct ran_tag_scores *u,
                      const struct ran_tag_scores *v, struct ran_ensemble ensemble)
{
        static double scratch[4096];
        const float *a = u->crf.start, *b = v->crf.start; /* of all three, or NULL */
        float to[C * (C + 2)] = {0}, score[LONGEST * C];
        const struct ran_crf chain = {to, to + C, to + 2 * C};
        double sum = 0;

        for (size_t i = 0; i < C * (C + 2) && a != NULL; i++)
                to[i] = (float)(ensemble.encoder * (double)a[i] + ensemble.linear * (double)b[i]);
        for (size_t from = 0, end; from < d->label_first[d->B]; from = end) {
                end = ran_crf_sentence_end(d->begins, from, d->label_first[d->B]);
                for (size_t i = 0; i < (end - from) * C; i++)
                        score[i] = (float)(ensemble.encoder * (double)u->logits[from * C + i] +
                                           ensemble.linear * (double)v->logits[from * C + i]);
                sum += ran_crf_loss(NULL, NULL, score, &chain, d->labels + from, end - from, C, 1,
                                    scratch);
        }
        return sum;
}

/* And of two documents that hold it where it usually is. */
static double pulled(const struct ran_dataset *d, const struct ran_tag_scores *u,
                     const struct ran_tag_scores *v, struct ran_ensemble ensemble)
{
        double dx = ensemble.encoder - ran_ensemble_default_words.encoder;
        double dy = ensemble.linear - ran_ensemble_default_words.linear;

        return loss_of(d, u, v, ensemble) + dx * dx + dy * dy;
}

TEST(blend_of_words_is_what_loses_least)
{
        for (uint64_t seed = 0; seed < 4; seed++) {
                static float deep[40 * 3 * LONGEST * C], wide[40 * 3 * LONGEST * C];
                float a[C * (C + 2)], b[C * (C + 2)], joined[C * (C + 2)];
                struct ran_crf chain = {a, a + C, a + 2 * C}, other = {b, b + C, b + 2 * C};
                struct ran_tag_scores u = {deep, chain}, v = {wide, other};
                struct ran_ensemble found, usual = ran_ensemble_default_words;
                struct dice dice = {.key = seed};
                struct ran_dataset d;
                double loss;

                if (seed == 3) /* without a CRF */
                        u.crf = v.crf = (struct ran_crf){0};
                make(&d, 40, seed);
                dice_floats(&dice, deep, d.label_first[d.B] * C, 1);
                dice_floats(&dice, wide, d.label_first[d.B] * C, 2);
                dice_floats(&dice, a, C * (C + 2), 0.5);
                dice_floats(&dice, b, C * (C + 2), 0.5);
                for (size_t i = 0; i < d.label_first[d.B]; i++) {
                        deep[i * C + d.labels[i]] += (float)seed;
                        wide[i * C + d.labels[i]] += 2 - (float)seed;
                }
                found = ran_ensemble_fit_words(usual, &d, &u, &v, false);
                CHECK(found.encoder >= 0 && found.linear >= 0);
                chain = ran_ensemble_crf(joined, &found, &u.crf, &v.crf, C);
                CHECK((chain.transition == NULL) == (seed == 3));
                for (size_t i = 0; i < C * (C + 2) && seed != 3; i++)
                        CHECK_NEAR((double)joined[i],
                                   found.encoder * (double)a[i] + found.linear * (double)b[i],
                                   1e-6);
                loss = pulled(&d, &u, &v, found);
                for (double x = -1; x <= 1; x += 0.25) /* near by, and farther away */
                        for (double y = -1; y <= 1; y += 0.25) {
                                struct ran_ensemble other = {fmax(0, found.encoder + x * fabs(x)),
                                                             fmax(0, found.linear + y * fabs(y)),
                                                             0};

                                CHECK(loss <= pulled(&d, &u, &v, other) + 1e-4);
                        }
                d.labels[0] = RAN_LABEL_UNKNOWN; /* of that sentence nothing is known */
                found = ran_ensemble_fit_words(usual, &d, &u, &v, false);
                for (size_t i = 0; i < d.label_first[d.B]; i++)
                        d.labels[i] = RAN_LABEL_UNKNOWN;
                found = ran_ensemble_fit_words(usual, &d, &u, &v, false);
                CHECK(found.encoder == usual.encoder && found.linear == usual.linear);
                ran_dataset_release(&d);
        }
}

/* A text without sentences is learned from in spans, all of it. */
TEST(chain_of_a_long_text_is_learned)
{
        enum { L = 3000, ROWS = 4096 };
        static float w[(ROWS + 1) * C], logits[L * C];
        static uint32_t ids[L], positions[L], tags[L], spelling[L * RAN_SPELLING];
        struct ran_error err = {0};
        struct ran_dataset d = {0};
        static char *const names[C] = {"a", "b", "c", "d"};
        size_t document = 0, right = 0;
        struct ran_config c = wide_config(SPELLING, 1);

        c.linear.wide = ROWS;
        for (uint32_t t = 0; t < L; t++) {
                ids[t] = (uint32_t)(ran_random_draw(3, t) % 8);
                positions[t] = t;
                tags[t] = ids[t] % C;
        }
        CHECK_OK(ran_dataset_set_classes(&d, names, C, &err), err);
        CHECK_OK(ran_dataset_add_words(&d, ids, L, positions, tags, L, 1, &err), err);
        CHECK_OK(ran_dataset_spell(&d, spelling, L, &err), err);
        const struct ran_crf_train k = {
                .c = &c, .d = &d, .document = &document, .n = 1, .cost = 1, .passes = 5};
        CHECK_OK(ran_crf_train_run(&k, w, w + ROWS * C, NULL, &err), err);
        const struct ran_linear_params p = {.wide = w, .bias = w + ROWS * C};
        const struct ran_document whole = ran_dataset_document(&d, 0);
        ran_linear_words_add(logits, &p, &c, &whole, C);
        for (size_t t = 0; t < L; t++)
                right += ran_most_probable(logits + t * C, C) == tags[t];
        CHECK_SIZE(right, L);
        ran_dataset_release(&d);
}
