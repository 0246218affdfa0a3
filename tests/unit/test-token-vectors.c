/* In-domain vectors: pairs of tokens against a naive count, vectors of tokens that occur alike. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "part/vectors/token-vectors.h"
#include "ran.h"
#include "test.h"

enum { V = 9, WINDOW = 5 };

static uint32_t draw(uint64_t i, uint32_t below)
{
        return (uint32_t)(ran_random_uniform(ran_random_key(5, 100, 0, 0), i) * below);
}

/* B texts of 0 to 11 tokens below V - 1: the last token never occurs. */
static void make(struct ran_dataset *d, size_t B, uint64_t seed)
{
        struct ran_error err = {0};
        uint32_t ids[11];

        for (size_t b = 0; b < B; b++) {
                const size_t L = draw(seed * 1000 + b, 12);

                for (size_t i = 0; i < L; i++)
                        ids[i] = draw((seed * 1000 + b) * 100 + i, V - 1);
                CHECK_OK(ran_dataset_add(d, ids, L, NULL, 0, 1, &err), err);
        }
        REQUIRE(CHECK_OK(ran_dataset_finish(d, &err), err));
}

static void count_naively(const struct ran_dataset *d, double n[V][V])
{
        for (size_t b = 0; b < d->B; b++)
                for (size_t i = d->first[b]; i < d->first[b + 1]; i++)
                        for (size_t j = d->first[b]; j < d->first[b + 1]; j++)
                                if (i != j && i + WINDOW >= j && j + WINDOW >= i)
                                        n[d->ids[i]][d->ids[j]]++;
}

TEST(pairs_of_tokens_have_the_positive_pmi_of_a_naive_count)
{
        enum { LARGE = 20000 };
        struct ran_dataset a = {0}, b = {0};
        const struct ran_dataset *set[] = {&a, &b};
        struct ran_token_pairs p, again;
        struct ran_error err = {0};
        double n[V][V] = {{0}}, row[V] = {0}, all = 0;

        make(&a, 7, 1);
        make(&b, 40, 2);
        count_naively(&a, n);
        count_naively(&b, n);
        for (size_t i = 0; i < V; i++)
                for (size_t j = 0; j < V; j++) {
                        row[i] += n[i][j];
                        all += n[i][j];
                }
        REQUIRE(CHECK_OK(ran_token_pairs_count(&p, set, 2, V, RAN_TOKEN_PAIRS_MOST, NULL, &err),
                         err));
        CHECK_SIZE(p.count[V - 1], 0);
        for (size_t i = 0; i < V; i++) {
                size_t at = p.pmi.first[i];

                for (size_t j = 0; j < V; j++) {
                        const double pmi = n[i][j] > 0 ? log(n[i][j] * all / (row[i] * row[j])) : 0;

                        if (!(pmi > 0))
                                continue;
                        REQUIRE(at < p.pmi.first[i + 1]);
                        CHECK_SIZE(p.pmi.column[at], j);
                        CHECK_NEAR((double)p.pmi.x[at++], pmi, 1e-6);
                }
                CHECK_SIZE(at, p.pmi.first[i + 1]);
        }
        /* In a vocabulary of so many tokens each of these is a rare one. */
        REQUIRE(CHECK_OK(
                ran_token_pairs_count(&again, set, 2, LARGE, RAN_TOKEN_PAIRS_MOST, NULL, &err),
                err));
        CHECK(memcmp(again.pmi.first, p.pmi.first, (V + 1) * sizeof(size_t)) == 0);
        CHECK(memcmp(again.pmi.column, p.pmi.column, p.pmi.first[V] * sizeof(uint32_t)) == 0);
        CHECK(memcmp(again.pmi.x, p.pmi.x, p.pmi.first[V] * sizeof(float)) == 0);
        CHECK_SIZE(again.pmi.first[LARGE], p.pmi.first[V]);
        ran_token_pairs_release(&again);
        struct ran_pool *pool = ran_pool_new(3, &err);
        REQUIRE(CHECK_OK(ran_token_pairs_count(&again, set, 2, V, RAN_TOKEN_PAIRS_MOST, pool, &err),
                         err));
        CHECK_SIZE(again.pmi.first[V], p.pmi.first[V]);
        CHECK(memcmp(again.pmi.x, p.pmi.x, p.pmi.first[V] * sizeof(float)) == 0);
        ran_pool_free(pool);
        ran_token_pairs_release(&again);
        ran_token_pairs_release(&p);
        /* Room for the first set, and for all of the first text of the second but one position. */
        size_t text = 0;
        while (b.first[text + 1] == 0)
                text++;
        REQUIRE(CHECK_OK(ran_token_pairs_count(&p, set, 1, V, RAN_TOKEN_PAIRS_MOST, NULL, &err),
                         err));
        REQUIRE(CHECK_OK(ran_token_pairs_count(&again, set, 2, V,
                                               a.first[a.B] + a.B + b.first[text + 1] + text, NULL,
                                               &err),
                         err));
        CHECK(memcmp(again.count, p.count, V * sizeof *p.count) == 0);
        CHECK(memcmp(again.pmi.x, p.pmi.x, p.pmi.first[V] * sizeof(float)) == 0);
        CHECK_SIZE(again.pmi.first[V], p.pmi.first[V]);
        ran_token_pairs_release(&again);
        ran_token_pairs_release(&p);
        ran_dataset_release(&a);
        ran_dataset_release(&b);
}

/* Many tokens, so that several threads count several shares of rows. */
TEST(pairs_of_many_tokens_are_the_same_with_any_number_of_threads)
{
        enum { MANY = 3000, TEXTS = 4000, L = 40 };
        struct ran_dataset d = {0};
        const struct ran_dataset *set[] = {&d};
        struct ran_token_pairs p, again;
        struct ran_error err = {0};
        uint32_t ids[L];
        size_t tokens = 0;

        for (size_t b = 0; b < TEXTS; b++) {
                for (size_t i = 0; i < L; i++)
                        ids[i] = draw(b * L + i, i % 3 == 0 ? 10 : MANY);
                CHECK_OK(ran_dataset_add(&d, ids, L, NULL, 0, 1, &err), err);
        }
        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        d.keep = 1 << 16; /* the rest is in files */
        REQUIRE(CHECK_OK(ran_token_pairs_count(&p, set, 1, MANY, RAN_TOKEN_PAIRS_MOST, NULL, &err),
                         err));
        for (size_t id = 0; id < MANY; id++)
                tokens += p.count[id];
        CHECK_SIZE(tokens, TEXTS * L);
        CHECK(p.column.mapped);
        struct ran_pool *pool = ran_pool_new(4, &err);
        REQUIRE(CHECK_OK(
                ran_token_pairs_count(&again, set, 1, MANY, RAN_TOKEN_PAIRS_MOST, pool, &err),
                err));
        CHECK(memcmp(again.pmi.first, p.pmi.first, (MANY + 1) * sizeof(size_t)) == 0);
        CHECK(memcmp(again.pmi.column, p.pmi.column, p.pmi.first[MANY] * sizeof(uint32_t)) == 0);
        CHECK(memcmp(again.pmi.x, p.pmi.x, p.pmi.first[MANY] * sizeof(float)) == 0);
        ran_pool_free(pool);
        ran_token_pairs_release(&again);
        ran_token_pairs_release(&p);
        ran_dataset_release(&d);
}

static double cosine(const float *x, const float *y)
{
        double sum = 0;

        for (size_t d = 0; d < RAN_TOKEN_VECTOR; d++)
                sum += (double)x[d] * (double)y[d];
        return sum;
}

/* Texts of three topics with 40 tokens each, and five tokens that all have. */
TEST(tokens_of_the_same_texts_have_vectors_that_are_alike)
{
        enum { TOPICS = 3, OWN = 40, COMMON = 5, ALL = TOPICS * OWN + COMMON, L = 12 };
        struct ran_dataset d = {0};
        const struct ran_dataset *set[] = {&d};
        struct ran_token_pairs p;
        struct ran_error err = {0};
        float *rows = ran_alloc_floats((ALL + 1) * RAN_TOKEN_VECTOR, &err);
        double within = 0, across = 0;
        uint32_t ids[L];

        REQUIRE(rows != NULL);
        for (uint32_t b = 0; b < 600; b++) {
                for (size_t i = 0; i < L; i++)
                        ids[i] = i % 4 == 0 ? TOPICS * OWN + draw(b * L + i, COMMON)
                                            : b % TOPICS * OWN + draw(b * L + i, OWN);
                CHECK_OK(ran_dataset_add(&d, ids, L, NULL, 0, 1, &err), err);
        }
        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        REQUIRE(CHECK_OK(
                ran_token_pairs_count(&p, set, 1, ALL + 1, RAN_TOKEN_PAIRS_MOST, NULL, &err), err));
        REQUIRE(CHECK_OK(ran_token_vectors(&p, rows, 1, NULL, NULL, NULL, &err), err));
        for (size_t i = 0; i < OWN; i++) {
                const float *x = rows + i * RAN_TOKEN_VECTOR;

                CHECK_NEAR(cosine(x, x), 1, 1e-5);
                for (size_t j = 0; j < OWN; j++) {
                        within += i != j ? cosine(x, rows + j * RAN_TOKEN_VECTOR) : 0;
                        across += cosine(x, rows + (OWN + j) * RAN_TOKEN_VECTOR);
                }
        }
        CHECK(within / (OWN * (OWN - 1)) > across / (OWN * OWN) + 0.1);
        for (size_t k = 0; k < RAN_TOKEN_VECTOR; k++)
                CHECK(!(fabs((double)rows[ALL * RAN_TOKEN_VECTOR + k]) > 0));
        ran_token_pairs_release(&p);
        ran_dataset_release(&d);
        free(rows);
}
