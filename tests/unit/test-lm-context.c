/* Language models as a program of one's own would call them: what makes no sense is refused with a
 * sentence, and so are states that are none. */
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tensors/tensors.h"
#include "test.h"
#include "training.h"

/* A trained model of a task, and scratch for it. */
struct subject {
        struct training t;
        struct ran_model *m;
        struct ran_state *s;
        struct ran_lm_context *past;
};

static bool prepared(struct subject *x)
{
        struct ran_error err = {0};

        x->t.s.epochs = 1;
        CHECK_OK(training_run(&x->t, 1, &err), err);
        x->m = ran_model_open(x->t.output, true, &err);
        x->s = x->m != NULL ? ran_state_new(x->m, NULL) : NULL;
        x->past = x->m != NULL ? ran_lm_context_new(x->m) : NULL;
        return test_check(x->s != NULL && x->past != NULL, err.text, __FILE__, __LINE__);
}

static bool prepare(struct subject *x, const char *name, int kind)
{
        *x = (struct subject){0};
        if (kind < 0)
                training_init(&x->t, name, 12, false);
        else
                training_init_texts(&x->t, name, 12, (enum corpus_kind)kind, 0);
        return prepared(x);
}

static void release(struct subject *x)
{
        ran_lm_context_free(x->past);
        ran_state_free(x->s);
        ran_model_free(x->m);
        training_release(&x->t);
}

static const uint32_t ids[] = {1, 2, 3, 4};
enum { N = sizeof ids / sizeof *ids };

/* Reading n ids, after those of the past, is refused with that sentence. */
static void check_read(const struct subject *x, size_t n, size_t sources,
                       const struct ran_lm_out *out, const char *sentence)
{
        struct ran_error err = {0};

        CHECK_SIZE((size_t)ran_lm_read(x->m, x->s, x->past, ids, n, sources, out, &err),
                   RAN_EINVAL);
        CHECK_STR(err.text, sentence);
}

TEST(context_refuses_what_a_causal_model_cannot_read)
{
        const struct ran_cache_settings set = {2, 0.1, 1};
        const uint32_t beyond[] = {1, RAN_NO_ID, CORPUS_V, 1};
        float nll[N];
        struct ran_config wider;
        struct ran_error err = {0};
        struct subject x;

        REQUIRE(prepare(&x, "causal", CORPUS_TEXTS));
        wider = *ran_model_config(x.m);
        wider.dim *= 2;
        struct ran_cache *cache = ran_cache_new(&wider, &set, &err);
        REQUIRE(cache != NULL);
        check_read(&x, N, 0, &(struct ran_lm_out){.skip = N}, "skip leaves none of 4 tokens");
        check_read(&x, N, 0, &(struct ran_lm_out){.gold = ids, .nll = nll, .cache = cache},
                   "the cache is for a model of another width");
        check_read(&x, N, 1, &(struct ran_lm_out){0},
                   "the model has no source tokens: its mask is not 'prefix'");
        CHECK_SIZE((size_t)ran_lm_read(x.m, x.s, NULL, ids, N, 0,
                                       &(struct ran_lm_out){.gold = beyond, .nll = nll}, &err),
                   RAN_EINVAL);
        CHECK_SIZE((size_t)ran_lm_read(x.m, x.s, NULL, beyond + 1, 1, 0, &(struct ran_lm_out){0},
                                       &err),
                   RAN_EINVAL);
        CHECK_SIZE((size_t)ran_lm_fill(x.m, x.s, ids, N, (uint32_t[]){0}, 1, NULL, NULL, NULL, NULL,
                                       &err),
                   RAN_EINVAL);
        CHECK_STR(err.text,
                  "the model is a language model (lm), not a masked language model (mlm)");
        CHECK_SIZE(ran_lm_context_tokens(x.past), 0); /* none of that was read */
        CHECK_OK(ran_lm_read(x.m, x.s, x.past, ids, N, 0,
                             &(struct ran_lm_out){.gold = ids, .nll = nll}, &err),
                 err);
        CHECK_SIZE(ran_lm_context_tokens(x.past), N);
        ran_cache_free(cache);
        release(&x);
}

TEST(context_that_shares_a_text_is_no_state_of_its_own)
{
        struct ran_error err = {0};
        struct subject x;

        REQUIRE(prepare(&x, "fork", CORPUS_TEXTS));
        struct ran_lm_context *copy = ran_lm_context_new(x.m);
        REQUIRE(copy != NULL);
        CHECK_OK(ran_lm_read(x.m, x.s, x.past, ids, N, 0, &(struct ran_lm_out){0}, &err), err);
        CHECK_SIZE((size_t)ran_lm_context_fork(x.past, x.past, &err), RAN_EINVAL);
        CHECK_OK(ran_lm_context_fork(copy, x.past, &err), err);
        CHECK_SIZE(ran_lm_context_tokens(copy), N);
        CHECK_SIZE((size_t)ran_lm_context_fork(x.past, copy, &err), RAN_EINVAL);
        CHECK_STR(err.text, "a context cannot become a copy of a context that shares its text");
        CHECK_SIZE((size_t)ran_lm_context_save(copy, "fork.state", &err), RAN_EINVAL);
        CHECK_STR(err.text, "a copy shares the text of another context: save that one");
        ran_lm_context_clear(copy);
        CHECK_SIZE(ran_lm_context_tokens(copy), 0);
        ran_lm_context_free(copy);
        release(&x);
}

TEST(context_reads_a_source_at_once_and_first)
{
        struct ran_error err = {0};
        struct subject x;

        REQUIRE(prepare(&x, "pairs", CORPUS_PAIRS));
        check_read(&x, N, N + 1, &(struct ran_lm_out){0},
                   "the model has no source tokens: its mask is not 'prefix'");
        CHECK_OK(ran_lm_read(x.m, x.s, x.past, ids, N, 2, &(struct ran_lm_out){0}, &err), err);
        check_read(&x, N, 2, &(struct ran_lm_out){0},
                   "source tokens must be read at once, at the beginning");
        CHECK_SIZE(ran_lm_context_tokens(x.past), N);
        release(&x);
}

TEST(fill_predicts_masked_tokens)
{
        const struct {
                uint32_t positions[2];
                const char *sentence;
        } bad[] = {{{0, N}, "masked token 1 is not one of the 4"},
                   {{2, 2}, "masked token 1 is not one of the 4"},
                   {{2, 1}, "masked token 1 is not one of the 4"}};
        struct ran_error err = {0};
        struct subject x;
        float nll[2];

        REQUIRE(prepare(&x, "masked", CORPUS_MASKED));
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                CHECK_SIZE((size_t)ran_lm_fill(x.m, x.s, ids, N, bad[i].positions, 2, ids, nll,
                                               NULL, NULL, &err),
                           RAN_EINVAL);
                CHECK_STR(err.text, bad[i].sentence);
        }
        CHECK_SIZE((size_t)ran_lm_fill(x.m, x.s, ids, N, (uint32_t[]){0}, 1,
                                       (uint32_t[]){CORPUS_V + 1}, nll, NULL, NULL, &err),
                   RAN_EINVAL);
        CHECK_OK(ran_lm_fill(x.m, x.s, ids, N, (uint32_t[]){0, 3}, 2, ids, nll, NULL, NULL, &err),
                 err);
        release(&x);
}

enum { MASKED = 1200 }; /* a few blocks of them, the last not full */

struct taken {
        const float *nll;
        const uint32_t *gold;
        size_t V, n, same, last;
};

static int compare(void *arg, size_t i, const float *logits, struct ran_error *err)
{
        struct taken *t = arg;

        t->same +=
                i == t->n++ && fabs(ran_nll(logits, t->V, t->gold[i]) - (double)t->nll[i]) < 1e-5;
        return i == t->last ? ran_fail(err, RAN_EIO, "enough") : RAN_OK;
}

TEST(fill_predicts_masked_tokens_one_by_one)
{
        static uint32_t many[MASKED], positions[MASKED];
        static float nll[MASKED];
        struct ran_error err = {0};
        struct subject x;

        REQUIRE(prepare(&x, "each-mask", CORPUS_MASKED));
        struct taken t = {nll, many, ran_model_vocabulary(x.m), .last = MASKED};
        for (uint32_t i = 0; i < MASKED; i++) {
                many[i] = i % CORPUS_V;
                positions[i] = i;
        }
        CHECK_OK(
                ran_lm_fill(x.m, x.s, many, MASKED, positions, MASKED, many, nll, NULL, NULL, &err),
                err);
        CHECK_OK(ran_lm_fill(x.m, x.s, many, MASKED, positions, MASKED, NULL, NULL, compare, &t,
                             &err),
                 err);
        CHECK_SIZE(t.same, MASKED);
        t = (struct taken){nll, many, t.V, .last = 700};
        CHECK_SIZE((size_t)ran_lm_fill(x.m, x.s, many, MASKED, positions, MASKED, NULL, NULL,
                                       compare, &t, &err),
                   RAN_EIO);
        CHECK_STR(err.text, "enough");
        CHECK_SIZE(t.same, 701);
        CHECK_SIZE((size_t)ran_lm_fill(x.m, x.s, many, MASKED, (uint32_t[]){MASKED}, 1, NULL, NULL,
                                       compare, &t, &err),
                   RAN_EINVAL);
        release(&x);
}

/* It has had enough, and says so by its code alone. */
static int take_none(void *arg, size_t i, const float *logits, struct ran_error *err)
{
        (void)i, (void)logits, (void)err;
        ++*(size_t *)arg;
        return RAN_EINTR;
}

/* The code of the error was returned, which nobody had set: so it had all gone well. */
TEST(fill_returns_what_stops_it)
{
        struct ran_error err = {0};
        struct subject x;
        size_t calls = 0;

        REQUIRE(prepare(&x, "enough", CORPUS_MASKED));
        CHECK_SIZE((size_t)ran_lm_fill(x.m, x.s, ids, N, (uint32_t[]){0, 2}, 2, NULL, NULL,
                                       take_none, &calls, &err),
                   RAN_EINTR);
        CHECK_SIZE((size_t)ran_lm_fill(x.m, x.s, ids, N, (uint32_t[]){0, 2}, 2, NULL, NULL,
                                       take_none, &calls, NULL),
                   RAN_EINTR);
        CHECK_SIZE(calls, 2);
        release(&x);
}

TEST(context_of_a_classifier_reads_nothing)
{
        struct subject x;

        REQUIRE(prepare(&x, "classifier", -1));
        check_read(&x, N, 0, &(struct ran_lm_out){0},
                   "the model is a classifier, not a language model (lm)");
        release(&x);
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Loading is refused, by the name of the file and that sentence. */
static void check_load(const struct subject *x, const char *path, const char *sentence)
{
        struct ran_error err = {0};

        CHECK(ran_lm_context_load(x->m, path, &err) == NULL);
        if (!CHECK(strstr(err.text, path) != NULL && strstr(err.text, sentence) != NULL))
                printf("  %s\n", err.text);
}

/* The file, saying that it is of eight digits more tokens. */
static void say_more_tokens(const char *path)
{
        static const char said[] = "\"tokens\":\"4";
        struct ran_error err = {0};
        struct ran_bytes file;
        struct ran_buf out = {0};

        REQUIRE(ran_bytes_open(&file, path, &err) == RAN_OK);
        const unsigned char *at = memmem(file.data, file.size, said, sizeof said - 1);
        REQUIRE(at != NULL);
        size_t n = (size_t)(at - file.data) + sizeof said - 1;
        ran_buf_add(&out, file.data, n);
        ran_buf_str(&out, "00000000");
        ran_buf_add(&out, file.data + n, file.size - n);
        unsigned length = file.data[0] + 256u * file.data[1] + 8; /* of the header */
        out.data[0] = (char)(length % 256);
        out.data[1] = (char)(length / 256);
        FILE *f = fopen(path, "wb");
        CHECK(f != NULL && fwrite(out.data, 1, out.len, f) == out.len && fclose(f) == 0);
        ran_bytes_release(&file);
        ran_buf_release(&out);
}

/* A state in the middle of a window, saved and loaded, reads on as if nothing had happened; that of
 * a window of the review has a fixed size. */
static void check_reads_on(int review, size_t sources)
{
        enum { ALL = 100, PART = 75 };
        char *path = test_path("pattern.state");
        struct ran_bytes file = {0};
        struct ran_tensors tensors;
        struct ran_error err = {0};
        struct subject x = {0};
        uint32_t text[ALL];
        float whole[ALL], part[ALL];

        training_init_texts(&x.t, "pattern", 60, sources > 0 ? CORPUS_PAIRS : CORPUS_TEXTS, 0);
        x.t.c.ran.review = review;
        x.t.c.ran.review_source = sources > 0;
        x.t.c.ran.review_window = 4;
        REQUIRE(prepared(&x));
        for (uint32_t i = 0; i < ALL; i++)
                text[i] = i * 7 % 5 + i % 3;
        CHECK_OK(ran_lm_read(x.m, x.s, NULL, text, ALL - 1, sources,
                             &(struct ran_lm_out){.gold = text + 1, .nll = whole}, &err),
                 err);
        CHECK_OK(ran_lm_read(x.m, x.s, x.past, text, PART, sources, &(struct ran_lm_out){0}, &err),
                 err);
        CHECK_OK(ran_lm_context_save(x.past, path, &err), err);
        REQUIRE(ran_bytes_open(&file, path, &err) == RAN_OK &&
                ran_tensors_read(&tensors, &file, &err) == RAN_OK);
        const struct ran_tensor *key = ran_tensors_find(&tensors, "key.0");
        CHECK(key != NULL &&
              key->shape[0] == sources + (review == RAN_REVIEW_WINDOW ? 2 : PART / 8));
        ran_tensors_release(&tensors);
        ran_bytes_release(&file);
        struct ran_lm_context *again = ran_lm_context_load(x.m, path, &err);
        REQUIRE(again != NULL);
        CHECK_OK(ran_lm_read(x.m, x.s, again, text + PART, ALL - 1 - PART, 0,
                             &(struct ran_lm_out){.gold = text + PART + 1, .nll = part}, &err),
                 err);
        for (size_t i = 0; i < ALL - 1 - PART; i++)
                CHECK_NEAR((double)part[i], (double)whole[PART + i], 1e-4);
        ran_lm_context_free(again);
        unlink(path);
        free(path);
        release(&x);
}

TEST(context_of_a_review_pattern_reads_on)
{
        for (int review = RAN_REVIEW_NONE; review <= RAN_REVIEW_DISPERSED; review++)
                check_reads_on(review, 0);
}

/* Sources that end in a window, at its end, and in the window that stays open. */
TEST(context_of_a_review_of_the_source_reads_on)
{
        static const size_t sources[] = {13, 16, 74};

        for (size_t i = 0; i < 3; i++)
                check_reads_on(RAN_REVIEW_ALL, sources[i]);
}

TEST(context_files_that_are_no_states_of_this_model)
{
        char *path = test_path("past.state");
        struct ran_error err = {0};
        struct subject x, other;

        REQUIRE(prepare(&x, "one", CORPUS_TEXTS) && prepare(&other, "other", CORPUS_PAIRS));
        CHECK_SIZE((size_t)ran_lm_context_save(x.past, path, &err), RAN_EINVAL);
        CHECK_STR(err.text, "nothing was read: there is no state to keep");
        check_load(&x, path, "No such file");
        check_load(&x, x.t.output, "a safetensors file, but not a state of ran-lm");
        CHECK_OK(ran_lm_read(x.m, x.s, x.past, ids, N, 0, &(struct ran_lm_out){0}, &err), err);
        CHECK_OK(ran_lm_context_save(x.past, path, &err), err);
        check_load(&other, path, "the state of another model");
        struct ran_lm_context *again = ran_lm_context_load(x.m, path, &err);
        REQUIRE(again != NULL);
        CHECK_SIZE(ran_lm_context_tokens(again), N);
        ran_lm_context_clear(again);
        CHECK_SIZE(ran_lm_context_tokens(again), 0);
        CHECK(ran_lm_context_pending(again) == RAN_NO_ID);
        ran_lm_context_free(again);
        say_more_tokens(path);
        check_load(&x, path, "it is too small for 400000000 tokens");
        unlink(path);
        free(path);
        release(&other);
        release(&x);
}
