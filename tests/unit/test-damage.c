/* Files that are damaged: cut at any byte, and with any byte changed. Each is refused with a
 * sentence, or read and used without harm.
 *
 * RAN_DAMAGE=all takes every byte and several values for it; otherwise they are a sample. Files are
 * mapped so that the page behind their last byte cannot be read, and none can be written to. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/train/run/run.h"
#include "file/model.h"
#include "infer/infer.h"
#include "test.h"
#include "toy.h"
#include "train/trainer.h"
#include "training.h"
#include "vocabulary.h"

/* ---- maps with a fence ----------------------------------------------------------------------- */

/* The last one. */
static struct {
        char *begin, *data;
        size_t size, room;
} fenced;

static size_t page(void)
{
        return (size_t)sysconf(_SC_PAGESIZE);
}

static void *map(void *p, size_t n, int protection, int flags, int fd, off_t from)
{
#ifdef SYS_mmap2 /* where a pointer has 32 bits: the other call takes its arguments in memory */
        return (void *)syscall(SYS_mmap2, p, n, protection, flags, fd, (long)(from >> 12));
#else
        return (void *)syscall(SYS_mmap, p, n, protection, flags, fd, from);
#endif
}

static void *fence(size_t n, int fd)
{
        size_t room = (n + page() - 1) / page() * page() + page();
        char *p = map(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char *data = p + room - page() - n;

        if (p == MAP_FAILED || pread(fd, data, n, 0) != (ssize_t)n ||
            mprotect(p, room - page(), PROT_READ) != 0 ||
            mprotect(p + room - page(), page(), PROT_NONE) != 0)
                abort();
        fenced.begin = p;
        fenced.data = data;
        fenced.size = n;
        fenced.room = room;
        return data;
}

/* Instead of those of the C library, for the whole program. */
void *mmap(void *p, size_t n, int protection, int flags, int fd, off_t from)
{
        if (fd >= 0 && protection == PROT_READ && from == 0 && fenced.begin == NULL)
                return fence(n, fd);
        return map(p, n, protection, flags, fd, from);
}

int munmap(void *p, size_t n)
{
        if (p == fenced.data && n == fenced.size) {
                p = fenced.begin;
                n = fenced.room;
                memset(&fenced, 0, sizeof fenced);
        }
        return (int)syscall(SYS_munmap, p, n);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* A whole file, and what reads it: whether it could, with *err filled if not. */
struct victim {
        const char *name;
        struct ran_bytes file;
        bool (*reads)(void *arg, const char *path, struct ran_error *err);
        void *arg;
        size_t guarded; /* what lies behind this byte has a digest, and no change goes unseen */
        size_t ends;    /* bytes at the end that can be spared */
};

static size_t refused, harmless;

static bool is_thorough(void)
{
        const char *how = getenv("RAN_DAMAGE");

        return how != NULL && strcmp(how, "all") == 0;
}

static void overwrite(int fd, const void *bytes, size_t n, size_t at)
{
        if (pwrite(fd, bytes, n, (off_t)at) != (ssize_t)n)
                abort();
}

/* Returns whether it was read. */
static bool attempt(const struct victim *v, const char *path, size_t at, const char *how)
{
        struct ran_error err = {0};
        bool read = v->reads(v->arg, path, &err);

        if (read)
                harmless++;
        else
                refused++;
        if (!read && !CHECK(err.code != RAN_OK && err.text[0] != '\0'))
                printf("  %s, byte %zu %s: refused without a sentence\n", v->name, at, how);
        return read;
}

static void cut(const struct victim *v, int fd, const char *path, size_t stride)
{
        for (size_t n = v->file.size - v->ends; n > stride;) {
                n -= stride;
                if (ftruncate(fd, (off_t)n) != 0)
                        abort();
                if (!CHECK(!attempt(v, path, n, "cut")))
                        printf("  %s, cut at byte %zu: it is read\n", v->name, n);
        }
        overwrite(fd, v->file.data, v->file.size, 0);
}

static void change(const struct victim *v, int fd, const char *path, size_t stride)
{
        const unsigned char flips[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80};
        const unsigned char values[] = {'0', '9', '"', ',', '}', '-', 0, 0xff};
        const size_t all = sizeof flips + sizeof values, step = is_thorough() ? 1 : all - 1;

        for (size_t at = 0; at < v->file.size; at += stride) {
                const unsigned char was = v->file.data[at];

                for (size_t k = is_thorough() ? 0 : at % all; k < all; k += step) {
                        unsigned char now =
                                k < sizeof flips ? was ^ flips[k] : values[k - sizeof flips];
                        char how[32];

                        if (now == was)
                                continue;
                        snprintf(how, sizeof how, "made %02x", now);
                        overwrite(fd, &now, 1, at);
                        if (attempt(v, path, at, how) && !CHECK(at < v->guarded))
                                printf("  %s, byte %zu %s: it is read\n", v->name, at, how);
                }
                overwrite(fd, &was, 1, at);
        }
}

/* stride: of the sample. */
static void damage(const struct victim *v, size_t stride)
{
        int fd = memfd_create(v->name, MFD_CLOEXEC);
        struct ran_error err = {0};
        char path[64];

        REQUIRE(fd >= 0 && v->file.size > 0);
        if (is_thorough())
                stride = 1;
        refused = harmless = 0;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        overwrite(fd, v->file.data, v->file.size, 0);
        if (!CHECK(v->reads(v->arg, path, &err)))
                printf("  %s: %s\n", v->name, err.text);
        cut(v, fd, path, stride);
        change(v, fd, path, stride);
        close(fd);
        if (is_thorough())
                printf("%s: %zu bytes, %zu damages refused, %zu harmless\n", v->name, v->file.size,
                       refused, harmless);
}

/* Takes the file into memory of its own. */
static struct ran_bytes slurp(const char *path)
{
        struct ran_error err = {0};
        struct ran_bytes file = {0}, copy = {0};

        if (CHECK_OK(ran_bytes_open(&file, path, &err), err)) {
                unsigned char *data = malloc(file.size);

                if (data == NULL)
                        abort();
                memcpy(data, file.data, file.size);
                copy = (struct ran_bytes){data, file.size, false};
        }
        ran_bytes_release(&file);
        return copy;
}

/* Where the data of a safetensors file begin. */
static size_t data_of(const struct ran_bytes *file)
{
        size_t length = 0;

        for (size_t i = 0; i < 8 && i < file->size; i++)
                length |= (size_t)file->data[i] << 8 * i;
        return 8 + length;
}

/* ---- trials of a search ---------------------------------------------------------------------- */

static bool reads_trial(void *arg, const char *path, struct ran_error *err)
{
        struct train_trial t = {0};
        struct ran_bytes file;
        struct ran_span run;
        bool ok = false;

        (void)arg;
        if (ran_bytes_open(&file, path, err) == RAN_OK) {
                ok = train_trial_read(&t, (const char *)file.data, file.size, &run, err) == RAN_OK;
                ran_bytes_release(&file);
        }
        free(t.dev);
        return ok;
}

TEST(damaged_trial)
{
        static const char text[] =
                "{\"trial\":2,\"settings\":{\"dropout\":0.3},\"dev\":[null,0.5,0.25],\"best\":0.5,"
                "\"best_epoch\":2,\"seconds\":0.7,\"end\":\"done\",\"model\":"
                "\"390c952d363e644ab95d1cc134fa9e0fa962e81"
                "bf82c769b9c4bd0e92d1d7ade\",\"training\":{\"seed\":1},\"vocabulary\":\"ab\"}\n";
        struct victim v = {.name = "trial",
                           .file = {(const unsigned char *)text, sizeof text - 1, false},
                           .reads = reads_trial,
                           .guarded = sizeof text - 1,
                           .ends = 1};

        damage(&v, 3);
}

/* ---- models ---------------------------------------------------------------------------------- */

enum { L = 13 };

/* A document whose ids and features a model of any size has. */
static struct ran_document document(const struct ran_model *m, uint32_t ids[L],
                                    uint32_t spelling[L * RAN_SPELLING], uint32_t positions[L])
{
        size_t V = ran_model_vocabulary(m);

        for (size_t i = 0; i < L; i++) {
                ids[i] = (uint32_t)(i * 7 % V);
                positions[i] = (uint32_t)i;
        }
        memset(spelling, 0, L * RAN_SPELLING * sizeof *spelling);
        return (struct ran_document){ids, L, .spelling = spelling, .positions = positions,
                                     .words = L};
}

static bool all_numbers(const float *x, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!isfinite(x[i]))
                        return false;
        return true;
}

static int use_lm(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
                  float *nll, struct ran_error *err)
{
        const struct ran_lm_out out = {.gold = d->ids, .nll = nll};

        return ran_model_config(m)->task == RAN_TASK_LM
                       ? ran_lm_read(m, s, NULL, d->ids, L, 0, &out, err)
                       : ran_lm_fill(m, s, d->ids, L, d->positions, L, d->ids, nll, NULL, NULL,
                                     err);
}

/* One document through the model: whether there is a result. */
static bool use(const struct ran_model *m, struct ran_error *err)
{
        const struct ran_config *c = ran_model_config(m);
        uint32_t ids[L], spelling[L * RAN_SPELLING], positions[L], tags[L];
        struct ran_document d = document(m, ids, spelling, positions);
        size_t C = ran_model_classes(m), n = c->task == RAN_TASK_CLASSIFY ? C : L;
        float *x = ran_alloc_floats(C + L, err), *p = ran_alloc_floats(C + L, err);
        struct ran_state *s = ran_state_new(m, NULL);
        int rc = RAN_ENOMEM;

        if (s != NULL && x != NULL && p != NULL)
                rc = c->task == RAN_TASK_CLASSIFY ? ran_classify(m, s, &d, x, NULL, err)
                     : c->task == RAN_TASK_TAG    ? ran_tag(m, s, &d, tags, x, NULL, err)
                                                  : use_lm(m, s, &d, x, err);
        CHECK(rc != RAN_OK || all_numbers(x, n));
        if (rc == RAN_OK && c->task == RAN_TASK_CLASSIFY) {
                ran_probabilities(c, x, C, p);
                CHECK(ran_most_probable(p, C) < C && ran_model_label(m, C - 1) != NULL);
        }
        for (size_t i = 0; rc == RAN_OK && c->task == RAN_TASK_TAG && i < L; i++)
                CHECK(tags[i] < C);
        ran_state_free(s);
        free(x);
        free(p);
        return rc == RAN_OK;
}

static struct ran_config small(void)
{
        struct ran_config c = toy_config();

        c.dim = 4, c.layers = 1, c.head_dim = 2, c.ffn_dim = 6, c.contextualizer.rank = 3;
        return c;
}

static void write_parts(const char *path, const struct toy *t,
                        const struct ran_tokenizer *tokenizer, const char *training)
{
        static char *const labels[TOY_C] = {"B-PER", "I-PER", "O", "\xc3\xa9 \"quoted\""};
        struct ran_error err = {0};
        struct ran_parts parts = {.config = &t->c,
                                  .layout = &t->layout,
                                  .params = &t->p,
                                  .V = t->V,
                                  .C = t->C,
                                  .labels = ran_task_is_tied(&t->c) ? NULL : labels,
                                  .tokenizer = tokenizer,
                                  .training = training};

        CHECK_OK(ran_model_write(path, NULL, &parts, &err), err);
}

static void write_toy(const char *path, const struct ran_config *c,
                      const struct ran_tokenizer *tokenizer, const char *training)
{
        struct toy t;

        toy_init(&t, c, 5, 0.3);
        write_parts(path, &t, tokenizer, training);
        toy_release(&t);
}

static void check_no_result(const struct toy *t, float bad)
{
        char *path = test_path("no-numbers");
        struct ran_error err = {0};

        write_parts(path, t, NULL, NULL);
        struct ran_model *m = ran_model_open(path, true, &err);
        CHECK(m != NULL);
        if (!CHECK(m != NULL && !use(m, &err) && err.code == RAN_EFORMAT &&
                   strstr(err.text, "no number") != NULL))
                printf("  task %d, weights %g: %s\n", t->c.task, (double)bad, err.text);
        ran_model_free(m);
        free(path);
}

/* Weights that nobody verified: of NaN, of infinity, and so large that sums overflow. */
TEST(weights_that_are_no_numbers_give_no_result)
{
        static const float bad[] = {NAN, INFINITY, 1e38f};

        for (int task = RAN_TASK_CLASSIFY; task <= RAN_TASK_MLM; task++)
                for (size_t k = 0; k < 3; k++) {
                        struct ran_config c = small();
                        struct toy t;

                        c.task = task;
                        c.mask = c.task == RAN_TASK_LM ? RAN_MASK_CAUSAL : RAN_MASK_NONE;
                        c.tag.crf = c.task == RAN_TASK_TAG;
                        toy_init(&t, &c, 5, 0.3);
                        for (size_t i = 0; i < t.layout.size; i++)
                                t.p.block[i] = bad[k];
                        check_no_result(&t, bad[k]);
                        toy_release(&t);
                }
}

/* Of tokens that the text does not have; found by fuzz-model. */
TEST(scores_of_other_tokens_that_are_no_numbers_are_not_given)
{
        char *path = test_path("other-tokens");
        struct ran_config c = small();
        const uint32_t ids[] = {1, 2, 3}, gold[] = {2, 3, 4};
        float nll[3], logits[3 * TOY_V];
        struct ran_lm_out out = {.gold = gold, .nll = nll};
        struct ran_error err = {0};
        struct toy t;

        c.task = RAN_TASK_LM;
        c.mask = RAN_MASK_CAUSAL;
        c.lm.shortlist = 6;
        toy_init(&t, &c, 5, 0.3);
        t.embed[20 * c.dim] = NAN;
        write_parts(path, &t, NULL, NULL);
        toy_release(&t);
        struct ran_model *m = ran_model_open(path, true, &err);
        struct ran_state *s = m != NULL ? ran_state_new(m, NULL) : NULL;
        if (CHECK(s != NULL)) {
                CHECK_OK(ran_lm_read(m, s, NULL, ids, 3, 0, &out, &err), err);
                out.logits = logits;
                CHECK(ran_lm_read(m, s, NULL, ids, 3, 0, &out, &err) == RAN_EFORMAT);
                out = (struct ran_lm_out){.last = logits};
                CHECK(ran_lm_read(m, s, NULL, ids, 3, 0, &out, &err) == RAN_EFORMAT);
        }
        ran_state_free(s);
        ran_model_free(m);
        free(path);
}

/* The logits have nothing of the chain of tags. */
TEST(a_chain_of_tags_that_is_no_number_gives_no_result)
{
        for (size_t i = 0; i < TOY_C * TOY_C; i++) {
                struct ran_config c = small();
                struct toy t;

                c.task = RAN_TASK_TAG;
                c.tag.crf = true;
                toy_init(&t, &c, 5, 0.3);
                ran_crf_of(&t.p).transition[i] = i % 2 == 0 ? NAN : INFINITY;
                check_no_result(&t, ran_crf_of(&t.p).transition[i]);
                toy_release(&t);
        }
}

static bool reads_model(void *arg, const char *path, struct ran_error *err)
{
        struct ran_model *m = ran_model_open(path, arg != NULL, err);
        bool used = m != NULL && use(m, err);

        ran_model_free(m);
        return used;
}

/* [UNK] and so on, and letters: as many tokens as a toy has. */
static struct ran_tokenizer *letters(void)
{
        struct ran_buf text = {0};
        struct ran_error err = {0};
        struct ran_tokenizer *t;

        ran_buf_str(&text, "[UNK]\n[MASK]\n[SEP]\n[START]\n[END]\n");
        for (char c = 'a'; c < 'a' + TOY_V - 5; c++)
                ran_buf_printf(&text, "%c\n", c);
        t = ran_tokenizer_load(text.data, text.len, &err);
        test_check(t != NULL && ran_tokenizer_size(t) == TOY_V, err.text, __FILE__, __LINE__);
        ran_buf_release(&text);
        return t;
}

/* As it is read by default, and with --verify. */
static void damage_model(const char *name, const struct ran_config *c, bool words,
                         const char *training)
{
        struct ran_tokenizer *tokenizer = words ? letters() : NULL;
        char *path = test_path(name);

        write_toy(path, c, tokenizer, training);
        struct victim v = {.name = name, .file = slurp(path), .reads = reads_model};
        v.guarded = v.file.size;
        damage(&v, 23);
        v.arg = &v; /* --verify */
        v.guarded = data_of(&v.file);
        damage(&v, 131);
        ran_bytes_release(&v.file);
        ran_tokenizer_free(tokenizer);
        free(path);
}

TEST(damaged_classifier)
{
        struct ran_config c = small();

        c.linear.wide = 10, c.linear.affixes = true, c.spelling = 7;
        damage_model("classifier", &c, true,
                     "{\"seed\":7,\"calibration\":{\"documents\":3,\"probabilities\":[0.9,0.5,"
                     "0.1]}}");
        c = small();
        c.classify.multilabel = true;
        damage_model("several", &c, false, "{\"thresholds\":[0.1,0.2,0.3,0.4]}");
}

TEST(damaged_models_without_an_encoder)
{
        struct ran_config c = small();

        c.encoder = RAN_ENCODER_NONE;
        c.linear.wide = 10;
        damage_model("none", &c, true, "{\"seed\":7}");
        c.task = RAN_TASK_TAG;
        c.tag.crf = true, c.spelling = 7;
        damage_model("none-tags", &c, false, NULL);
}

TEST(damaged_models_of_other_encoders)
{
        struct ran_config c = small();

        c.encoder = RAN_ENCODER_TRANSFORMER;
        c.transformer.attention.n = 2;
        c.transformer.attention.item[0] = RAN_ATTENTION_DISPERSED;
        c.transformer.attention.item[1] = RAN_ATTENTION_DILATED;
        damage_model("transformer", &c, false, "{}");
        c = small();
        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        damage_model("contextualizer", &c, false, "{\"seed\":1}");
}

TEST(damaged_tagger)
{
        struct ran_config c = small();

        c.task = RAN_TASK_TAG;
        c.tag.crf = true;
        c.linear.wide = 10, c.spelling = 7;
        damage_model("tagger", &c, false, NULL);
}

static struct ran_config lm(void)
{
        struct ran_config c = small();

        c.task = RAN_TASK_LM;
        c.mask = RAN_MASK_CAUSAL;
        return c;
}

TEST(damaged_language_models)
{
        struct ran_config c = lm();

        c.lm.shortlist = 5;
        damage_model("language", &c, true, NULL);
        c = lm();
        c.task = RAN_TASK_MLM;
        c.mask = RAN_MASK_NONE;
        damage_model("masked", &c, false, NULL);
}

/* ---- states ---------------------------------------------------------------------------------- */

/* What a state belongs to. */
static bool reads_state(void *arg, const char *path, struct ran_error *err)
{
        static const uint32_t ids[] = {5, 3, 8, 1};
        const struct ran_model *m = arg;
        struct ran_lm_context *past = ran_lm_context_load(m, path, err);
        struct ran_state *s = past != NULL ? ran_state_new(m, NULL) : NULL;
        float nll[4];
        struct ran_lm_out out = {.gold = ids, .nll = nll};
        bool ok = s != NULL && ran_lm_read(m, s, past, ids, 4, 0, &out, err) == RAN_OK;

        CHECK(!ok || all_numbers(nll, 4));
        ran_state_free(s);
        ran_lm_context_free(past);
        return ok;
}

static void write_state(const struct ran_model *m, const char *path)
{
        static const uint32_t ids[L] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9};
        struct ran_error err = {0};
        struct ran_lm_context *past = ran_lm_context_new(m);
        struct ran_state *s = ran_state_new(m, NULL);
        float nll[L];
        struct ran_lm_out out = {.gold = ids, .nll = nll};

        CHECK_OK(ran_lm_read(m, s, past, ids, L, 0, &out, &err), err);
        ran_lm_context_set_pending(past, 7);
        CHECK_OK(ran_lm_context_save(past, path, &err), err);
        ran_state_free(s);
        ran_lm_context_free(past);
}

static void damage_state(const char *name, const struct ran_config *c)
{
        char *path = test_path(name), *state = test_path("state");
        struct ran_error err = {0};

        write_toy(path, c, NULL, NULL);
        struct ran_model *m = ran_model_open(path, true, &err);
        REQUIRE(m != NULL);
        write_state(m, state);
        struct victim v = {.name = name, .file = slurp(state), .reads = reads_state, .arg = m};
        v.guarded = data_of(&v.file);
        damage(&v, 3);
        ran_bytes_release(&v.file);
        ran_model_free(m);
        free(path);
        free(state);
}

TEST(damaged_states)
{
        struct ran_config c = lm();

        damage_state("state of a RAN", &c);
        c.encoder = RAN_ENCODER_TRANSFORMER;
        damage_state("state of a Transformer", &c);
}

/* ---- vocabularies ---------------------------------------------------------------------------- */

static bool reads_vocabulary(void *arg, const char *path, struct ran_error *err)
{
        static const char text[] = "A dog, a b\xc3\xa9te\n and 12 dogs [MASK] \xf0\x9f\x90\xb6.";
        struct ran_encoding e = {0};
        struct ran_buf back = {0};
        struct ran_bytes file;
        int rc = RAN_EFORMAT;

        (void)arg;
        if (ran_bytes_open(&file, path, err) != RAN_OK)
                return false;
        struct ran_tokenizer *t = ran_tokenizer_load((const char *)file.data, file.size, err);
        if (t != NULL) {
                rc = ran_tokenizer_encode(t, text, sizeof text - 1, &e, err);
                for (size_t i = 0; rc == RAN_OK && i < e.n; i++)
                        CHECK(e.ids[i] < ran_tokenizer_size(t));
                if (rc == RAN_OK)
                        rc = ran_tokenizer_decode(t, e.ids, e.n, &back, err);
        }
        ran_buf_release(&back);
        ran_encoding_release(&e);
        ran_tokenizer_free(t);
        ran_bytes_release(&file);
        return rc == RAN_OK;
}

static void damage_vocabulary(const char *name, int type)
{
        static const char *const texts[] = {"a dog and a dog and dogs", "the dog is a b\xc3\xa9te",
                                            "12 dogs, no more", NULL};
        struct ran_vocab_settings settings = type_settings(type);
        struct ran_error err = {0};
        size_t n;

        settings.vocab_size = type == RAN_VOCAB_BPE ? 275 : 40;
        struct ran_tokenizer *t = learn_from(&settings, texts, &err);
        if (!test_check(t != NULL, err.text, __FILE__, __LINE__))
                return;
        const char *json = ran_tokenizer_json(t, &n);
        struct victim v = {.name = name,
                           .file = {(const unsigned char *)json, n, false},
                           .reads = reads_vocabulary,
                           .guarded = n,
                           .ends = 1}; /* the line feed */
        damage(&v, 7);
        ran_tokenizer_free(t);
        ran_fields_release(ran_vocab_fields, &settings);
}

TEST(damaged_vocabularies)
{
        damage_vocabulary("word vocabulary", RAN_VOCAB_WORD);
        damage_vocabulary("wordpiece vocabulary", RAN_VOCAB_WORDPIECE);
        damage_vocabulary("bpe vocabulary", RAN_VOCAB_BPE);
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static bool reads_checkpoint(void *arg, const char *path, struct ran_error *err)
{
        struct training *t = arg;
        struct ran_trainer trainer;
        const char *checkpoint = t->job.checkpoint;

        t->job.checkpoint = path;
        int rc = ran_trainer_init(&trainer, &t->job, err);
        if (rc == RAN_OK)
                rc = ran_checkpoint_read(&trainer, err);
        ran_trainer_release(&trainer);
        t->job.checkpoint = checkpoint;
        return rc == RAN_OK;
}

TEST(damaged_checkpoint)
{
        struct ran_error err = {0};
        struct training t;

        training_init(&t, "damaged", 10, false);
        t.c.dim = 2, t.c.head_dim = 2, t.c.heads = t.c.layers = 1, t.c.linear.wide = 10;
        t.stop_at = 6;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINTR);
        struct victim v = {.name = "checkpoint",
                           .file = slurp(t.checkpoint),
                           .reads = reads_checkpoint,
                           .arg = &t};
        v.guarded = data_of(&v.file);
        t.job.pool = ran_pool_new(1, &err);
        damage(&v, 29);
        ran_pool_free(t.job.pool);
        ran_bytes_release(&v.file);
        training_release(&t);
}
