/* Taggers: sentences that are read as one document, each with a chain of tags of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/part.h"
#include "infer/infer.h"
#include "test.h"
#include "toy.h"
#include "gradient/batch.h"
#include "evaluate/evaluate.h"
#include "task/train.h"

enum { SENTENCES = 5, LONGEST = 9, WORDS = SENTENCES * LONGEST };

/* Sentences of random words, one or two tokens each, in one document; and the same apart. */
struct fixture {
        struct toy toy;
        struct ran_dataset joined, apart;
        size_t words[SENTENCES];
};

static void add_sentence(struct fixture *f, struct dice *dice, size_t i)
{
        uint32_t ids[2 * LONGEST], positions[LONGEST], tags[LONGEST];
        size_t n = dice_size(dice, 1, LONGEST), L = 0;
        struct ran_error err = {0};

        for (size_t w = 0; w < n; w++) {
                positions[w] = (uint32_t)L;
                tags[w] = (uint32_t)dice_size(dice, 0, TOY_C - 1);
                for (size_t k = dice_size(dice, 1, 2); k > 0; k--)
                        ids[L++] = (uint32_t)dice_size(dice, 0, TOY_V - 1);
        }
        f->words[i] = n;
        CHECK_OK(ran_dataset_add_words(&f->apart, ids, L, positions, tags, n, 1, &err), err);
        if (i == 0)
                CHECK_OK(ran_dataset_add_words(&f->joined, ids, L, positions, tags, n, 1, &err),
                         err);
        else
                CHECK_OK(ran_dataset_continue(&f->joined, ids, L, positions, tags, n, &err), err);
}

static void fixture_of(struct fixture *f, struct ran_config c, bool crf)
{
        static char *const names[TOY_C] = {"B-A", "B-B", "I-A", "O"};
        struct dice dice = {.key = 5};
        struct ran_error err = {0};

        *f = (struct fixture){0};
        c.task = RAN_TASK_TAG;
        c.tag.crf = crf;
        toy_init(&f->toy, &c, 6, 0.4);
        CHECK_OK(ran_dataset_set_classes(&f->joined, names, TOY_C, &err), err);
        CHECK_OK(ran_dataset_set_classes(&f->apart, names, TOY_C, &err), err);
        for (size_t i = 0; i < SENTENCES; i++)
                add_sentence(f, &dice, i);
        CHECK_OK(ran_dataset_finish(&f->joined, &err), err);
        CHECK_OK(ran_dataset_finish(&f->apart, &err), err);
}

static void fixture_init(struct fixture *f, bool crf)
{
        fixture_of(f, toy_config(), crf);
}

static void fixture_release(struct fixture *f)
{
        ran_dataset_release(&f->joined);
        ran_dataset_release(&f->apart);
        toy_release(&f->toy);
}

TEST(joined_sentences_are_one_document_of_the_same_words)
{
        struct fixture f;
        size_t at = 0, token = 0;

        fixture_init(&f, true);
        CHECK_SIZE(f.joined.B, 1);
        CHECK_SIZE(f.apart.B, SENTENCES);
        for (size_t b = 0; b < SENTENCES; b++) {
                const struct ran_document d = ran_dataset_document(&f.apart, b);

                REQUIRE(CHECK_SIZE(d.words, f.words[b]));
                CHECK(memcmp(f.joined.ids + token, d.ids, d.L * sizeof(*d.ids)) == 0);
                for (size_t i = 0; i < d.words; i++, at++) {
                        CHECK_SIZE(f.joined.labels[at], f.apart.labels[at]);
                        CHECK_SIZE(f.joined.positions[at], token + d.positions[i]);
                        CHECK(f.joined.begins[at] == (i == 0));
                        CHECK(d.begins[i] == (i == 0));
                }
                token += d.L;
        }
        CHECK_SIZE(ran_dataset_document(&f.joined, 0).L, token);
        CHECK_SIZE(ran_dataset_document(&f.joined, 0).words, at);
        fixture_release(&f);
}

/* A document that is held out keeps its sentences. */
TEST(split_keeps_sentences_together)
{
        struct ran_dataset d = {0}, dev = {0};
        struct ran_error err = {0};
        uint32_t tag;
        bool held[20];

        CHECK_OK(ran_dataset_label(&d, "O", 1, &tag, &err), err);
        for (uint32_t b = 0; b < 20; b++) {
                CHECK_OK(ran_dataset_add_words(&d, &b, 1, (uint32_t[]){0}, &tag, 1, 1, &err), err);
                for (uint32_t i = 0; i < b % 3; i++)
                        CHECK_OK(ran_dataset_continue(&d, (uint32_t[]){b, b}, 2, (uint32_t[]){0, 1},
                                                      (uint32_t[]){tag, tag}, 2, &err),
                                 err);
        }
        CHECK_OK(ran_dataset_finish(&d, &err), err);
        CHECK_OK(ran_dataset_split(&d, 0.3, 1, NULL, held, &dev, &err), err);
        CHECK_SIZE(dev.B, 6);
        for (size_t side = 0; side < 2; side++) {
                const struct ran_dataset *s = side == 0 ? &d : &dev;

                for (size_t b = 0; b < s->B; b++) {
                        const struct ran_document one = ran_dataset_document(s, b);

                        REQUIRE(CHECK_SIZE(one.words, 1 + 2 * (one.ids[0] % 3)));
                        for (size_t i = 0; i < one.words; i++)
                                CHECK(one.begins[i] == (i % 2 == 1 || i == 0) &&
                                      one.positions[i] == i);
                }
        }
        ran_dataset_release(&d);
        ran_dataset_release(&dev);
}

/* Loss and gradients of the chain by the logits of the whole document, sentence by sentence. */
TEST(loss_of_joined_sentences_is_the_mean_over_their_chains)
{
        struct ran_error err = {0};
        struct fixture f;
        struct ran_batcher batcher;
        struct ran_grad *g;
        double loss, want = 0;
        float start[TOY_C] = {0}, end[TOY_C] = {0}, transition[TOY_C * TOY_C] = {0};
        float dlogits[WORDS * TOY_C], logits[WORDS * TOY_C];
        uint32_t tags[WORDS];
        const struct ran_crf d = {start, end, transition};

        fixture_init(&f, true);
        const struct ran_document document = ran_dataset_document(&f.joined, 0);
        const struct ran_crf chain = ran_crf_of(&f.toy.p);
        struct ran_state *s = ran_score_state_new(&f.toy.c, &f.toy.p, TOY_C, NULL);
        double *scratch = ran_new(ran_crf_scratch(true, document.words, TOY_C), sizeof *scratch);
        CHECK_OK(ran_score_tags(s, NULL, &document, tags, NULL, logits, &err), err);
        for (size_t b = 0, at = 0; b < SENTENCES; at += f.words[b++])
                want += ran_crf_loss(dlogits, &d, logits + at * TOY_C, &chain, f.joined.labels + at,
                                     f.words[b], TOY_C, 1 / (double)document.words, scratch);
        free(scratch);
        CHECK_OK(
                ran_batcher_init(&batcher, &f.toy.c, &f.toy.p, TOY_V, TOY_C, &f.joined, NULL, &err),
                err);
        const struct ran_chunk piece = {.document = 0, .from = 0, .to = document.L};
        if (CHECK_OK(ran_batch_gradient(&batcher, &piece, 1, &loss, &g, &err), err)) {
                CHECK_NEAR(loss, want, 1e-6);
                for (size_t c = 0; c < TOY_C; c++) {
                        CHECK_NEAR((double)ran_crf_of(&g->p).start[c], (double)start[c], 1e-6);
                        CHECK_NEAR((double)ran_crf_of(&g->p).end[c], (double)end[c], 1e-6);
                }
                for (size_t c = 0; c < TOY_C * TOY_C; c++)
                        CHECK_NEAR((double)ran_crf_of(&g->p).transition[c], (double)transition[c],
                                   1e-6);
                ran_tree_give(&batcher.tree, g);
        }
        ran_batcher_release(&batcher);
        ran_state_free(s);
        fixture_release(&f);
}

/* The loss of the document that sentences were joined to, and its gradient in g (NULL: not wanted),
 * as long as the block of weights. */
static double loss_of(const struct fixture *f, float *g)
{
        struct ran_batcher batcher;
        struct ran_grad *sum;
        struct ran_error err = {0};
        double loss = NAN;
        const struct ran_chunk piece = {.document = 0, .from = 0, .to = f->joined.first[1]};

        CHECK_OK(ran_batcher_init(&batcher, &f->toy.c, &f->toy.p, TOY_V, TOY_C, &f->joined, NULL,
                                  &err),
                 err);
        if (CHECK_OK(ran_batch_gradient(&batcher, &piece, 1, &loss, &sum, &err), err)) {
                if (g != NULL)
                        memcpy(g, sum->p.block, f->toy.layout.size * sizeof *g);
                ran_tree_give(&batcher.tree, sum);
        }
        ran_batcher_release(&batcher);
        return loss;
}

/* The loss after a step along the gradient of a tensor, which has the length `size`. */
static double loss_after(struct fixture *f, const struct ran_tensor_spec *s, const float *g,
                         double size, double step)
{
        const size_t n = (s->rows > 0 ? s->rows : 1) * s->cols;
        float *x = f->toy.p.block + s->offset, *was = malloc(n * sizeof *was);

        memcpy(was, x, n * sizeof *x);
        for (size_t i = 0; i < n; i++)
                x[i] += (float)(step * (double)g[s->offset + i] / size);
        const double loss = loss_of(f, NULL);
        memcpy(x, was, n * sizeof *x);
        free(was);
        return loss;
}

/* A small one, windows of seven tokens. */
static struct ran_config below(bool norm_first)
{
        struct ran_config c = toy_config();

        c.encoder = RAN_ENCODER_BERT;
        c.layers = 1;
        c.ffn_dim = 9;
        c.bert.prefix = c.bert.suffix = c.bert.global_every = 1;
        c.bert.max_length = 9;
        c.bert.norm_eps = 0.1;
        c.bert.norm_first = norm_first;
        c.bert.bias = c.bert.positions = true;
        return c;
}

/* The loss grows along the gradient of each tensor as that is long. */
TEST(gradient_of_a_tagger_goes_through_its_encoder)
{
        const double step = 2e-3;

        for (size_t i = 0; i < 4; i++) {
                const struct ran_config c = below(i > 1);
                struct fixture f;

                fixture_of(&f, c, i % 3 == 0);
                float *g = malloc(f.toy.layout.size * sizeof *g);
                loss_of(&f, g);
                for (size_t k = 0; k < f.toy.layout.n; k++) {
                        const struct ran_tensor_spec *s = &f.toy.layout.spec[k];
                        double size = 0;

                        for (size_t j = 0; j < (s->rows > 0 ? s->rows : 1) * s->cols; j++)
                                size += pow((double)g[s->offset + j], 2);
                        size = sqrt(size);
                        if (size < 1e-3) /* as of the bias of keys */
                                continue;
                        if (!CHECK_NEAR((loss_after(&f, s, g, size, step) -
                                         loss_after(&f, s, g, size, -step)) /
                                                (2 * step),
                                        size, 0.02 * size + 1e-3))
                                printf("  %s of %s\n", s->name, toy_name(&c));
                }
                free(g);
                fixture_release(&f);
        }
}

/* What is decoded, and how probable it is, sentence by sentence; with rules and without a CRF, too.
 */
TEST(tags_of_joined_sentences_are_chosen_by_sentence)
{
        for (int crf = 0; crf <= 1; crf++) {
                struct ran_error err = {0};
                struct fixture f;
                struct ran_crf_rules rules;
                uint32_t tags[WORDS], want[WORDS];
                float score[WORDS], logits[WORDS * TOY_C], marginals[LONGEST * TOY_C];

                fixture_init(&f, crf);
                const struct ran_document document = ran_dataset_document(&f.joined, 0);
                const struct ran_crf chain = ran_crf_of(&f.toy.p);
                struct ran_state *s = ran_score_state_new(&f.toy.c, &f.toy.p, TOY_C, NULL);
                ran_tag_rules_init(&rules, f.joined.names, TOY_C);
                CHECK_OK(ran_score_tags(s, &rules, &document, tags, score, logits, &err), err);
                double *scratch =
                        ran_new(ran_crf_scratch(true, document.words, TOY_C), sizeof *scratch);
                for (size_t b = 0, at = 0; b < SENTENCES; at += f.words[b++]) {
                        size_t n = f.words[b];

                        ran_crf_decode(want, logits + at * TOY_C, &chain, &rules, n, TOY_C,
                                       scratch);
                        ran_crf_marginals(marginals, logits + at * TOY_C, &chain, n, TOY_C,
                                          scratch);
                        CHECK(memcmp(tags + at, want, n * sizeof(*want)) == 0);
                        CHECK(strncmp(f.joined.names[tags[at]], "I-", 2) != 0);
                        for (size_t i = 0; i < n; i++)
                                CHECK(score[at + i] == marginals[i * TOY_C + want[i]]);
                }
                free(scratch);
                ran_tag_rules_release(&rules);
                ran_state_free(s);
                fixture_release(&f);
        }
}

static void evaluate(const struct fixture *f, const struct ran_dataset *d, struct ran_rates *rates)
{
        const struct ran_crf chain = ran_crf_of(&f->toy.p);
        struct ran_error err = {0};
        float logits[WORDS * TOY_C];

        CHECK_OK(ran_evaluate_predict(&f->toy.c, &f->toy.p, TOY_C, d, NULL, NULL, logits, NULL,
                                      &err),
                 err);
        CHECK_OK(ran_tag_rates(rates, d, logits, &chain, NULL, NULL, &err), err);
}

/* Where the logits are the same for each word, joined sentences score as they do apart: entities
 * end with their sentence. */
TEST(evaluation_ends_entities_with_their_sentences)
{
        struct ran_rates joined, apart;
        struct fixture f;

        fixture_init(&f, true);
        /* biases alone */
        memset(f.toy.p.head.w, 0, TOY_C * f.toy.c.dim * sizeof(float));
        evaluate(&f, &f.joined, &joined);
        evaluate(&f, &f.apart, &apart);
        CHECK_NEAR(joined.accuracy, apart.accuracy, 1e-12);
        CHECK_NEAR(joined.micro_f1, apart.micro_f1, 1e-12);
        CHECK_NEAR(joined.loss, apart.loss, 1e-6);
        fixture_release(&f);
}
