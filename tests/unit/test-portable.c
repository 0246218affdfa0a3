/* RAN_ISA=portable: results are the same bytes on every processor, with every compiler and C
 * library, and whatever OpenBLAS takes the processor for. So they can be written down here. What
 * changes a result on purpose changes these digests, too. */
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "model/score.h"
#include "test.h"
#include "toy.h"
#include "training.h"

static bool is_portable(void)
{
        return strcmp(ran_isa(), "portable") == 0;
}

static void check_digest(const void *bytes, size_t n, const char *want)
{
        struct ran_sha256 sha;
        char hex[65];

        ran_sha256_init(&sha);
        ran_sha256_add(&sha, bytes, n);
        ran_sha256_hex(&sha, hex);
        hex[16] = '\0';
        CHECK_STR(hex, want);
}

/* ---- scoring -----------------------------------------------------------------------------------
 */

/* The logits of some documents, the longest of which is long enough for products that OpenBLAS
 * would take. */
static void check_logits(struct ran_config c, const char *want)
{
        static const size_t lengths[] = {1, 700, 64, 5, 300};
        enum { DOCUMENTS = sizeof lengths / sizeof *lengths };
        float logits[DOCUMENTS * TOY_C];
        unsigned char bytes[sizeof logits]; /* least significant first */
        struct ran_error err = {0};
        struct dice dice = {.key = 40};
        struct ran_rows rows = {0};
        struct ran_state *state;
        struct toy t;

        c.dim = 96, c.heads = 4, c.head_dim = 16;
        toy_init(&t, &c, 41, 0.1);
        state = ran_scorer_new(&t.c, &t.p, TOY_C, NULL, &err);
        for (size_t b = 0; b < DOCUMENTS; b++) {
                toy_add(&t, &rows, &dice, lengths[b], b);
                const struct ran_document d = toy_document(&rows, b);
                CHECK_OK(ran_score(state, &d, logits + b * TOY_C, NULL, &err), err);
        }
        for (size_t i = 0; i < sizeof bytes; i++) {
                uint32_t bits;

                memcpy(&bits, logits + i / 4, sizeof bits);
                bytes[i] = (unsigned char)(bits >> 8 * (i % 4));
        }
        check_digest(bytes, sizeof bytes, want);
        ran_state_free(state);
        ran_rows_release(&rows);
        toy_release(&t);
}

TEST(bits_of_logits)
{
        struct ran_config c = toy_config();

        if (!is_portable())
                return;
        c.window = 200;
        check_logits(c, "9a8db1eb5c1e5ec5");
        c.encoder = RAN_ENCODER_TRANSFORMER;
        c.ffn_dim = 200;
        c.attention.n = 4;
        for (unsigned char j = 0; j < 4; j++)
                c.attention.item[j] = j;
        check_logits(c, "5b820417cc9f6672");
        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        c.rank = 70;
        check_logits(c, "516f959fffebbf66");
}

/* ---- training ----------------------------------------------------------------------------------
 */

/* The weights in a model file. The rest holds the version, too. */
static void check_model(const char *path, const char *want)
{
        struct ran_error err = {0};
        struct ran_bytes file = {0};
        size_t header = 0;

        if (!CHECK_OK(ran_bytes_open(&file, path, &err), err) || !CHECK(file.size > 8))
                return;
        for (size_t i = 0; i < 8; i++)
                header |= (size_t)file.data[i] << 8 * i;
        if (CHECK(header < file.size - 8))
                check_digest(file.data + 8 + header, file.size - 8 - header, want);
        ran_bytes_release(&file);
}

TEST(bits_of_a_trained_model)
{
        struct ran_error err = {0};
        struct training t;

        if (!is_portable())
                return;
        training_init(&t, "portable", 300, false);
        t.c.dim = 64, t.c.head_dim = 16, t.s.schedule = RAN_SCHEDULE_COSINE;
        t.s.epochs = 1;
        CHECK_OK(training_run(&t, 2, &err), err);
        check_model(t.output, "f955873c2f126d5a");
        training_release(&t);
}

TEST(bits_of_a_trained_language_model)
{
        struct ran_error err = {0};
        struct training t;

        if (!is_portable())
                return;
        training_init_texts(&t, "portable-lm", 100, CORPUS_TEXTS, 0);
        t.c.dim = 64, t.c.head_dim = 16;
        t.s.epochs = 1;
        CHECK_OK(training_run(&t, 2, &err), err);
        check_model(t.output, "7462c3041733fd1d");
        training_release(&t);
}

TEST(portable_is_the_same_whatever_openblas_would_choose)
{
        static const char *const cores[] = {NULL, "Prescott", "Sandybridge", "Haswell", "SkylakeX"};

        if (getenv("RAN_ISA") != NULL || !kernels_know("portable"))
                return;
        for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
                kernels_check_with("bits_", "portable", cores[i]);
}
