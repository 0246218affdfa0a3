/* Arrays that outgrow memory: nothing is lost on the way to the disk, and a disk that is full is an
 * error. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "corpus.h"
#include "test.h"

enum { KEEP = 5000 };

/* Grows by steps of any size and checks all that was written before. */
static void grow_to(struct ran_spool *s, size_t *n, size_t want)
{
        struct ran_error err = {0};
        uint32_t *p;

        if (!test_check(RAN_SPOOL(*s, p, want, &err) == RAN_OK, err.text, __FILE__, __LINE__))
                return;
        CHECK(p == s->data && s->room >= want * sizeof *p);
        for (size_t i = 0; i < *n; i++)
                if (!CHECK(p[i] == (uint32_t)i * 7))
                        return;
        for (; *n < want; ++*n)
                p[*n] = (uint32_t)*n * 7;
}

TEST(spool_keeps_its_contents_on_the_way_to_a_file)
{
        struct ran_spool s = {.keep = KEEP};
        size_t n = 0;

        for (size_t want = 1; want < 300000; want += 1 + want / 3) {
                grow_to(&s, &n, want);
                /* Memory doubles: it may hold up to twice what is to be kept. */
                CHECK(s.mapped ? want * sizeof(uint32_t) > KEEP
                               : want * sizeof(uint32_t) < 2 * KEEP);
        }
        ran_spool_release(&s);
        CHECK(s.data == NULL && s.room == 0 && !s.mapped && s.keep == KEEP);
        n = 0;
        grow_to(&s, &n, 10); /* once more */
        CHECK(!s.mapped);
        ran_spool_release(&s);
        grow_to(&s, (n = 0, &n), 100000); /* at once */
        CHECK(s.mapped);
        ran_spool_release(&s);
}

/* A file with holes would break, on a full disk, when a hole is first written to. */
TEST(spool_reserves_the_disk_before_it_is_used)
{
        struct ran_spool s = {.keep = KEEP};
        struct ran_error err = {0};
        struct stat st;
        char *p;

        for (size_t n = 1 << 20; n < 4 << 20; n += 1 << 20) {
                REQUIRE(RAN_SPOOL(s, p, n, &err) == RAN_OK && s.mapped);
                REQUIRE(fstat(s.file, &st) == 0);
                CHECK((size_t)st.st_size == s.room && (size_t)st.st_blocks * 512 >= s.room);
        }
        ran_spool_release(&s);
}

TEST(spool_of_nothing_and_of_more_than_there_is)
{
        struct ran_spool s = {.keep = KEEP};
        struct ran_error err = {0};
        uint64_t *p;
        char *bytes;

        CHECK(RAN_SPOOL(s, p, 0, &err) == RAN_OK && p != NULL);
        CHECK(RAN_SPOOL(s, p, SIZE_MAX / 4, &err) == RAN_ENOMEM && err.code == RAN_ENOMEM);
        CHECK(RAN_SPOOL(s, bytes, SIZE_MAX, &err) == RAN_ENOMEM && err.code == RAN_ENOMEM);
        CHECK(!s.mapped && s.data != NULL);
        ran_spool_release(&s);
        ran_spool_release(&s);
}

static size_t entries(const char *folder)
{
        DIR *d = opendir(folder);
        size_t n = 0;

        while (d != NULL && readdir(d) != NULL)
                n++;
        if (d != NULL)
                closedir(d);
        return n;
}

/* What follows changes TMPDIR or limits: in a process of its own. Returns whether fn did. */
static bool in_child(bool (*fn)(const char *folder))
{
        char *folder = test_path(""); /* made here, so that it is removed here */
        int status = 0;
        pid_t child;

        fflush(NULL);
        child = fork();
        if (child == 0)
                test_leave(!fn(folder));
        free(folder);
        return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool look_at_folder(const char *folder)
{
        struct ran_spool s = {.keep = KEEP};
        struct ran_error err = {0};
        size_t before = entries(folder);
        char *p;

        setenv("TMPDIR", folder, 1);
        return before > 0 && RAN_SPOOL(s, p, 1 << 20, &err) == RAN_OK && s.mapped &&
               entries(folder) == before;
}

TEST(spool_leaves_no_name_in_the_folder)
{
        CHECK(in_child(look_at_folder));
}

static bool use_no_folder(const char *folder)
{
        struct ran_spool s = {.keep = KEEP};
        struct ran_error err = {0};
        size_t n = 0;
        char *p;

        grow_to(&s, &n, 100);
        setenv("TMPDIR", "/nowhere", 1);
        if (RAN_SPOOL(s, p, 1 << 20, &err) != RAN_EIO || err.code != RAN_EIO ||
            strstr(err.text, "/nowhere") == NULL)
                return false;
        setenv("TMPDIR", folder, 1);
        grow_to(&s, &n, 10000);
        return s.mapped && n == 10000;
}

TEST(spool_says_where_it_cannot_make_a_file_and_keeps_what_it_has)
{
        CHECK(in_child(use_no_folder));
}

/* SIGXFSZ ignored, a file beyond the limit fails as on a full disk. */
static void limit_files(size_t bytes, const char *folder)
{
        struct rlimit limit = {bytes, bytes};

        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        setenv("TMPDIR", folder, 1);
}

static bool fill_disk(const char *folder)
{
        struct ran_spool s = {.keep = KEEP};
        struct ran_error err = {0};
        size_t n = 0;
        char *p;

        limit_files(1 << 20, folder);
        grow_to(&s, &n, 100000);
        if (!s.mapped || RAN_SPOOL(s, p, 1 << 21, &err) != RAN_EIO || err.code != RAN_EIO ||
            strstr(err.text, "TMPDIR") == NULL)
                return false;
        grow_to(&s, &n, 120000); /* still whole */
        return n == 120000;
}

TEST(spool_on_a_full_disk_is_an_error)
{
        CHECK(in_child(fill_disk));
}

/* ---- data sets ------------------------------------------------------------------------------- */

static void add_all(struct ran_dataset *d, size_t keep, bool words)
{
        struct dice dice = {.key = ran_random_key(1, 2, 3, 4)};
        struct ran_error err = {0};

        *d = (struct ran_dataset){.keep = keep};
        for (size_t b = 0; b < 3000; b++) {
                uint32_t ids[40], place[40], label[40];
                size_t L = dice_size(&dice, 1, 40), n = words ? L : 1;

                for (size_t t = 0; t < L; t++) {
                        ids[t] = (uint32_t)dice_size(&dice, 0, 1000);
                        place[t] = (uint32_t)t;
                        CHECK_OK(ran_dataset_label(d, ids[t] % 2 ? "odd" : "even",
                                                   ids[t] % 2 ? 3 : 4, &label[t], &err),
                                 err);
                }
                if (words)
                        CHECK_OK(ran_dataset_add_words(d, ids, L, place, label, n, 2, &err), err);
                else {
                        const float p[] = {(float)b, 1};
                        const uint32_t classes[] = {label[0], 1 - label[0]};

                        CHECK_OK(ran_dataset_add(d, ids, L, label, n, 2, &err), err);
                        CHECK_OK(ran_dataset_soft_target(d, classes, p, d->C, b % 7 == 0, &err),
                                 err);
                }
        }
        CHECK_OK(ran_dataset_finish(d, &err), err);
}

static bool same(const struct ran_dataset *a, const struct ran_dataset *b)
{
        size_t B = a->B, n = a->label_first[B];

        if (a->soft_first != NULL &&
            (memcmp(a->soft_first, b->soft_first, (B + 1) * sizeof *a->first) != 0 ||
             memcmp(a->soft_labels, b->soft_labels, a->soft_first[B] * sizeof *a->labels) != 0 ||
             memcmp(a->soft, b->soft, a->soft_first[B] * sizeof *a->soft) != 0 ||
             memcmp(a->guessed, b->guessed, B * sizeof *a->guessed) != 0))
                return false;
        return b->B == B && b->C == a->C && (a->positions == NULL) == (b->positions == NULL) &&
               memcmp(a->first, b->first, (B + 1) * sizeof *a->first) == 0 &&
               memcmp(a->label_first, b->label_first, (B + 1) * sizeof *a->first) == 0 &&
               memcmp(a->weight, b->weight, B * sizeof *a->weight) == 0 &&
               memcmp(a->ids, b->ids, a->first[B] * sizeof *a->ids) == 0 &&
               memcmp(a->labels, b->labels, n * sizeof *a->labels) == 0 &&
               (a->positions == NULL ||
                memcmp(a->positions, b->positions, n * sizeof *a->positions) == 0);
}

TEST(spool_data_sets_on_disk_are_those_in_memory)
{
        struct ran_error err = {0};

        for (int words = 0; words < 2; words++) {
                struct ran_dataset disk, memory, disk_dev = {0}, memory_dev = {0};

                add_all(&disk, KEEP, words);
                add_all(&memory, 0, words);
                CHECK(words || (disk.spool.soft.mapped && disk.spool.soft_labels.mapped));
                CHECK(disk.spool.ids.mapped && disk.spool.first.mapped && !memory.spool.ids.mapped);
                CHECK(same(&disk, &memory));
                bool *held = ran_alloc(disk.B, sizeof *held, &err);

                CHECK_OK(ran_dataset_split(&disk, 0.3, 1, NULL, held, &disk_dev, &err), err);
                CHECK_OK(ran_dataset_split(&memory, 0.3, 1, NULL, held, &memory_dev, &err), err);
                free(held);
                CHECK(disk_dev.spool.ids.mapped);
                CHECK(same(&disk, &memory) && same(&disk_dev, &memory_dev));
                ran_dataset_release(&disk);
                ran_dataset_release(&memory);
                ran_dataset_release(&disk_dev);
                ran_dataset_release(&memory_dev);
        }
}

static bool fill_disk_with_documents(const char *folder)
{
        struct ran_dataset d = {.keep = KEEP};
        struct ran_error err = {0};
        uint32_t ids[1000] = {0}, label;

        limit_files(1 << 20, folder);
        while (ran_dataset_label(&d, "x", 1, &label, &err) == RAN_OK &&
               ran_dataset_add(&d, ids, 1000, &label, 1, 1, &err) == RAN_OK)
                if (d.B > 1000)
                        return false;
        return err.code == RAN_EIO && d.B > 100 && d.first[d.B] == d.B * 1000;
}

TEST(spool_a_data_set_on_a_full_disk_is_an_error)
{
        CHECK(in_child(fill_disk_with_documents));
}
