/* Datasets: classes, documents in flat arrays, and the held-out share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "test.h"

/* Adds a document of the ids with labels separated by spaces. */
static int add(struct ran_dataset *d, const uint32_t *ids, size_t L, const char *names,
               struct ran_error *err)
{
        uint32_t labels[16];
        size_t n = 0;

        for (const char *p = names; *p != '\0' && n < 16; n++) {
                size_t length = strcspn(p, " ");
                if (ran_dataset_label(d, p, length, &labels[n], err) != RAN_OK)
                        return err->code;
                p += length + (p[length] == ' ');
        }
        return ran_dataset_add(d, ids, L, labels, n, 1, err);
}

static const char *label_of(const struct ran_dataset *d, size_t b)
{
        uint32_t label = d->labels[d->label_first[b]];

        return label == RAN_LABEL_UNKNOWN ? NULL : d->names[label];
}

TEST(documents_lie_one_after_another)
{
        struct ran_dataset d = {0};
        struct ran_error err = {0};

        REQUIRE(CHECK_OK(add(&d, (uint32_t[]){7, 8, 9}, 3, "b", &err), err));
        REQUIRE(CHECK_OK(ran_dataset_add(&d, (uint32_t[]){5}, 1, NULL, 0, 2.5, &err), err));
        REQUIRE(CHECK_OK(add(&d, (uint32_t[]){1, 2}, 2, "a", &err), err));
        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        CHECK_SIZE(d.B, 3);
        CHECK_SIZE(d.first[1], 3);
        CHECK_SIZE(d.first[2], 4);
        CHECK_SIZE(d.first[3], 6);
        CHECK(d.ids[0] == 7 && d.ids[3] == 5 && d.ids[5] == 2);
        CHECK_SIZE(d.label_first[1], 1);
        CHECK_SIZE(d.label_first[2], 1);
        CHECK_SIZE(d.label_first[3], 2);
        CHECK(d.weight[0] == 1 && d.weight[1] == 2.5f);
        ran_dataset_release(&d);
        CHECK(d.B == 0 && d.ids == NULL);
}

TEST(classes_are_ordered_by_bytes)
{
        static const char *const turn[] = {"z", "B", "\xc3\xa9", "a", "", "10", "9", "a", "z"};
        static const char *const order[] = {"", "10", "9", "B", "a", "z", "\xc3\xa9"};
        struct ran_dataset d = {0};
        struct ran_error err = {0};
        uint32_t label, id = 1;

        for (size_t b = 0; b < 9; b++) {
                REQUIRE(CHECK_OK(ran_dataset_label(&d, turn[b], strlen(turn[b]), &label, &err),
                                 err));
                REQUIRE(CHECK_OK(ran_dataset_add(&d, &id, 1, &label, 1, 1, &err), err));
        }
        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        REQUIRE(CHECK_SIZE(d.C, 7));
        for (size_t c = 0; c < d.C; c++)
                CHECK_STR(d.names[c], order[c]);
        for (size_t b = 0; b < d.B; b++)
                CHECK_STR(label_of(&d, b), turn[b]);
        ran_dataset_release(&d);
}

TEST(many_classes_are_told_apart)
{
        struct ran_dataset d = {0};
        struct ran_error err = {0};
        char name[16];

        for (size_t pass = 0; pass < 2; pass++)
                for (size_t i = 0; i < 5000; i++) {
                        snprintf(name, sizeof name, "class %05zu", i);
                        uint32_t label, id = (uint32_t)i;
                        REQUIRE(CHECK_OK(ran_dataset_label(&d, name, strlen(name), &label, &err),
                                         err));
                        REQUIRE(label == i);
                        REQUIRE(CHECK_OK(ran_dataset_add(&d, &id, 1, &label, 1, 1, &err), err));
                }
        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        CHECK_SIZE(d.C, 5000);
        CHECK_STR(label_of(&d, 5000 + 1234), "class 01234");
        ran_dataset_release(&d);
}

/* Names whose FNV ends in the same bits, which is easy to do: minutes if each met all others. */
TEST(names_cannot_be_written_to_fall_in_one_place)
{
        const size_t many = test_all() ? 150000 : 40000;
        struct ran_dataset d = {0};
        struct ran_error err;
        uint32_t label;

        for (size_t i = 0; d.C < many; i++) {
                uint64_t fnv = UINT64_C(0xcbf29ce484222325);
                char name[32];
                size_t n = (size_t)snprintf(name, sizeof name, "%zx", i);

                for (size_t k = 0; k < n; k++)
                        fnv = (fnv ^ (unsigned char)name[k]) * UINT64_C(0x100000001b3);
                if ((fnv & 0xfffff) < 8192)
                        REQUIRE(ran_dataset_label(&d, name, n, &label, &err) == RAN_OK);
        }
        CHECK_SIZE(label, many - 1);
        ran_dataset_release(&d);
}

TEST(labels_of_a_document_ascend_and_count_once)
{
        struct ran_dataset d = {.multilabel = true};
        struct ran_error err = {0};
        uint32_t id = 3;

        REQUIRE(CHECK_OK(add(&d, &id, 1, "c b c a b", &err), err));
        REQUIRE(CHECK_OK(add(&d, &id, 1, "", &err), err));
        REQUIRE(CHECK_OK(add(&d, &id, 1, "b a", &err), err));
        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        REQUIRE(CHECK_SIZE(d.label_first[3], 5));
        CHECK_SIZE(d.label_first[1], 3);
        CHECK_SIZE(d.label_first[2], 3);
        for (size_t i = 0; i < 3; i++)
                CHECK(d.labels[i] == i);
        CHECK(d.labels[3] == 0 && d.labels[4] == 1);
        ran_dataset_release(&d);
}

TEST(given_classes_stay_and_others_are_unknown)
{
        char *names[] = {"yes", "no"}; /* a model's order, which need not be that of bytes */
        struct ran_dataset d = {0};
        struct ran_error err = {0};
        uint32_t id = 3;

        REQUIRE(CHECK_OK(ran_dataset_set_classes(&d, names, 2, &err), err));
        REQUIRE(CHECK_OK(add(&d, &id, 1, "no", &err), err));
        REQUIRE(CHECK_OK(add(&d, &id, 1, "maybe", &err), err));
        REQUIRE(CHECK_OK(add(&d, &id, 1, "yes", &err), err));
        CHECK_SIZE(d.C, 2);
        CHECK_STR(label_of(&d, 0), "no");
        CHECK(label_of(&d, 1) == NULL);
        CHECK_STR(label_of(&d, 2), "yes");
        CHECK(d.labels[0] == 1);
        REQUIRE(CHECK_OK(add(&d, &id, 1, "maybe no perhaps no", &err), err));
        REQUIRE(CHECK_SIZE(d.label_first[4], 6));
        CHECK(d.labels[3] == 1 && d.labels[4] == RAN_LABEL_UNKNOWN &&
              d.labels[5] == RAN_LABEL_UNKNOWN);
        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        CHECK(d.C == 2 && d.labels[0] == 1);
        ran_dataset_release(&d);
}

TEST(a_label_with_a_nul_is_refused)
{
        struct ran_dataset d = {0};
        struct ran_error err = {0};
        uint32_t label;

        CHECK(ran_dataset_label(&d, "a\0b", 3, &label, &err) == RAN_EFORMAT);
        CHECK_STR(err.text, "a label cannot hold U+0000");
        CHECK_SIZE(d.C, 0);
        ran_dataset_release(&d);
}

/* As a buffer has it to which nothing was added. */
TEST(a_label_of_nothing_is_one)
{
        struct ran_dataset d = {0};
        struct ran_error err = {0};
        uint32_t label[3];

        CHECK_OK(ran_dataset_label(&d, NULL, 0, &label[0], &err), err);
        CHECK_OK(ran_dataset_label(&d, "a", 1, &label[1], &err), err);
        CHECK_OK(ran_dataset_label(&d, NULL, 0, &label[2], &err), err);
        CHECK_SIZE(d.C, 2);
        CHECK(label[0] == label[2] && label[0] != label[1]);
        ran_dataset_release(&d);
}

TEST(labels_that_are_no_class_are_refused)
{
        for (int soft = 0; soft < 2; soft++) {
                const uint32_t id = 1, labels[] = {0, 7};
                struct ran_dataset d = {0};
                struct ran_error err = {0};

                CHECK_OK(add(&d, &id, 1, "a", &err), err);
                if (soft)
                        CHECK_OK(ran_dataset_soft_target(&d, labels, (float[]){0.5f, 0.5f}, 2,
                                                         false, &err),
                                 err);
                else
                        CHECK_OK(ran_dataset_add(&d, &id, 1, labels, 2, 1, &err), err);
                CHECK(ran_dataset_finish(&d, &err) == RAN_EINVAL);
                CHECK_STR(err.text, "label 7 is none of 1 classes");
                ran_dataset_release(&d);
        }
}

/* As ran.h has it, all labels being 0. */
TEST(words_to_be_masked_need_no_classes)
{
        const uint32_t ids[] = {1, 2, 3}, positions[] = {0, 2}, none[] = {0, 0};
        struct ran_dataset d = {0};
        struct ran_error err = {0};

        CHECK_OK(ran_dataset_add_words(&d, ids, 3, positions, none, 2, 1, &err), err);
        CHECK_OK(ran_dataset_finish(&d, &err), err);
        CHECK(d.labels[0] == 0 && d.labels[1] == 0 && d.C == 0);
        ran_dataset_release(&d);
}

TEST(an_empty_set_can_be_read)
{
        struct ran_dataset d = {0}, dev = {0};
        struct ran_error err = {0};

        bool held[1];

        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        CHECK_SIZE(d.first[d.B], 0);
        CHECK_SIZE(d.label_first[d.B], 0);
        REQUIRE(CHECK_OK(ran_dataset_split(&d, 0.5, 1, NULL, held, &dev, &err), err));
        CHECK_SIZE(dev.first[dev.B], 0);
        ran_dataset_release(&dev);
        ran_dataset_release(&d);
}

/* ---- the held-out share --------------------------------------------------------------------- */

enum { DOCUMENTS = 1000 };

/* The spelling of a token is its id, and counts up from it. */
static bool spell(struct ran_dataset *d, const uint32_t *ids, size_t L)
{
        uint32_t spelling[3 * RAN_SPELLING];
        struct ran_error err = {0};

        for (uint32_t i = 0; i < L * RAN_SPELLING; i++)
                spelling[i] = ids[0] + i;
        return CHECK_OK(ran_dataset_spell(d, spelling, L, &err), err);
}

/* Document b is b % 3 + 1 copies of id b; 600 "a", 390 "b", 10 "c", turn by turn. */
static bool build(struct ran_dataset *d, bool multilabel)
{
        struct ran_error err = {0};

        d->multilabel = multilabel;
        for (uint32_t b = 0; b < DOCUMENTS; b++) {
                uint32_t ids[] = {b, b, b};
                const char *names = b % 100 == 0 ? "c" : b % 5 < 3 ? "a" : "b";
                if (!CHECK_OK(add(d, ids, b % 3 + 1, names, &err), err) ||
                    !spell(d, ids, b % 3 + 1))
                        return false;
        }
        return CHECK_OK(ran_dataset_finish(d, &err), err);
}

static size_t count(const struct ran_dataset *d, const char *name)
{
        size_t n = 0;

        for (size_t b = 0; b < d->B; b++)
                n += strcmp(label_of(d, b), name) == 0;
        return n;
}

/* 200 documents, each with a target of another length; every second label is guessed. Its
 * classes turn up in another order than that of their names. */
static void build_soft(struct ran_dataset *d)
{
        static const char *const turn[] = {"c", "a", "b"};
        struct ran_error err = {0};
        uint32_t labels[3];

        for (uint32_t b = 0; b < 200; b++) {
                const float p[] = {(float)b, (float)b + 0.25f, (float)b + 0.5f};

                for (size_t i = 0; i < 3; i++)
                        CHECK_OK(ran_dataset_label(d, turn[i], 1, &labels[i], &err), err);
                CHECK_OK(ran_dataset_add(d, &b, 1, &labels[b % 3], 1, 1, &err), err);
                CHECK_OK(ran_dataset_soft_target(d, labels, p, b % 4, b % 2 == 1, &err), err);
        }
        CHECK_OK(ran_dataset_finish(d, &err), err);
}

/* Those that are left have what they had, by the names of the classes. */
static void check_soft(const struct ran_dataset *d)
{
        for (size_t b = 0; b < d->B; b++) {
                uint32_t id = d->ids[d->first[b]];
                size_t n = d->soft_first[b + 1] - d->soft_first[b], last = 0;

                CHECK(d->guessed[b] == (id % 2 == 1));
                REQUIRE(CHECK_SIZE(n, id % 4));
                for (size_t i = d->soft_first[b]; i < d->soft_first[b + 1]; i++) {
                        uint32_t label = d->soft_labels[i];
                        char name = d->names[label][0];

                        CHECK(i == d->soft_first[b] || label > last);
                        last = label;
                        CHECK(d->soft[i] == (float)id + (name == 'c'   ? 0
                                                         : name == 'a' ? 0.25f
                                                                       : 0.5f));
                }
        }
}

/* Documents of groups of 1 to 5, scattered; those of group 0 are the only ones of class "c". */
static bool build_groups(struct ran_dataset *d, size_t groups)
{
        struct ran_error err = {0};

        for (uint32_t turn = 0; turn < 5; turn++)
                for (uint32_t g = 0; g < groups; g++) {
                        const char *name = g == 0 ? "c" : g % 2 == 0 ? "a" : "b";
                        char group[16];
                        int n = snprintf(group, sizeof group, "%u", (unsigned)g);

                        if (turn > g % 5)
                                continue;
                        if (!CHECK_OK(add(d, &g, 1, name, &err), err) ||
                            !CHECK_OK(ran_dataset_group(d, group, (size_t)n, &err), err))
                                return false;
                }
        return CHECK_OK(ran_dataset_finish(d, &err), err);
}

TEST(groups_are_held_out_whole)
{
        enum { GROUPS = 100, ALL = 300 };
        size_t seen[2] = {0}; /* of a group and seed that are held out, and that are not */

        for (uint64_t seed = 1; seed <= 5; seed++) {
                struct ran_dataset d = {0}, dev = {0};
                struct ran_error err = {0};
                bool held[ALL];

                REQUIRE(build_groups(&d, GROUPS) && CHECK_SIZE(d.B, ALL));
                REQUIRE(CHECK_OK(ran_dataset_split(&d, 0.2, seed, NULL, held, &dev, &err), err));
                CHECK(dev.B >= 58 && dev.B <= 62);
                for (size_t b = 0; b < ALL; b++)
                        for (size_t other = 0; other < b; other++)
                                if (d.ids[b] == d.ids[other])
                                        CHECK(held[b] == held[other]);
                CHECK_SIZE(count(&dev, "c"), 0); /* nobody else has that class */
                seen[held[1]]++;
                ran_dataset_release(&dev);
                ran_dataset_release(&d);
        }
        CHECK(seen[false] > 0 && seen[true] > 0);
}

/* Document b has 30 words of its cluster b / 4, but for a word of its own. */
TEST(near_duplicates_are_held_out_together)
{
        enum { CLUSTERS = 40, EACH = 4, ALL = CLUSTERS * EACH, LENGTH = 30 };
        struct ran_dataset d = {0}, dev = {0};
        struct ran_error err = {0};
        bool held[ALL];
        size_t parted = 0;

        for (uint32_t b = 0; b < ALL; b++) {
                uint32_t ids[LENGTH];

                for (uint32_t t = 0; t < LENGTH; t++)
                        ids[t] = b / EACH * LENGTH + t;
                ids[LENGTH - 1] = 100000 + b;
                REQUIRE(CHECK_OK(add(&d, ids, LENGTH, b % 2 == 0 ? "a" : "b", &err), err));
        }
        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        REQUIRE(CHECK_OK(ran_dataset_group_alike(&d, 0.8, &err), err));
        for (size_t b = 0; b < ALL; b++)
                CHECK_SIZE(d.group[b], b / EACH * EACH);
        REQUIRE(CHECK_OK(ran_dataset_split(&d, 0.2, 1, NULL, held, &dev, &err), err));
        CHECK(dev.B >= 28 && dev.B <= 36);
        for (size_t b = 1; b < ALL; b++)
                parted += b % EACH != 0 && held[b] != held[b - 1];
        CHECK_SIZE(parted, 0);
        ran_dataset_release(&dev);
        ran_dataset_release(&d);
}

/* b is like a and like c, which are not like each other, and comes last: one group. */
TEST(what_links_two_near_duplicates_joins_their_groups)
{
        enum { LENGTH = 30, CHANGED = 2 };
        struct ran_dataset d = {0};
        struct ran_error err = {0};

        for (uint32_t b = 0; b < 4; b++) {
                uint32_t ids[LENGTH];

                for (uint32_t t = 0; t < LENGTH; t++)
                        ids[t] = b == 0 && t < CHANGED             ? 100 + t
                                 : b == 1 && t >= LENGTH - CHANGED ? 200 + t
                                 : b == 2                          ? 300 + t
                                                                   : t;
                REQUIRE(CHECK_OK(add(&d, ids, LENGTH, "a", &err), err));
        }
        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        REQUIRE(CHECK_OK(ran_dataset_group_alike(&d, 0.8, &err), err));
        CHECK_SIZE(d.group[0], 0);
        CHECK_SIZE(d.group[1], 0);
        CHECK_SIZE(d.group[2], 2);
        CHECK_SIZE(d.group[3], 0);
        ran_dataset_release(&d);
}

TEST(known_documents_are_not_held_out)
{
        static const struct {
                uint32_t known;
                double share;
                size_t held;
        } want[] = {{100, 0.1, 20}, {170, 0.1, 15}, {170, 0.9, 27}, {0, 0.1, 20}, {200, 0.1, 0}};

        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
                struct ran_dataset d = {0}, dev = {0};
                struct ran_error err = {0};
                bool held[200], known[200];

                for (uint32_t b = 0; b < 200; b++) {
                        REQUIRE(CHECK_OK(add(&d, &b, 1, "a", &err), err));
                        known[b] = b * 7 % 200 < want[i].known;
                }
                REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
                REQUIRE(CHECK_OK(ran_dataset_split(&d, want[i].share, 1, known, held, &dev, &err),
                                 err));
                CHECK_SIZE(dev.B, want[i].held);
                for (size_t b = 0; b < 200; b++)
                        CHECK(!held[b] || !known[b]);
                ran_dataset_release(&dev);
                ran_dataset_release(&d);
        }
}

TEST(groups_with_a_known_document_are_not_held_out)
{
        enum { GROUPS = 100, ALL = 300 };
        struct ran_dataset d = {0}, dev = {0};
        struct ran_error err = {0};
        bool held[ALL], known[ALL] = {0};

        REQUIRE(build_groups(&d, GROUPS) && CHECK_SIZE(d.B, ALL));
        for (size_t b = 0; b < GROUPS / 2; b++)
                known[b] = true; /* the first document of half of the groups */
        REQUIRE(CHECK_OK(ran_dataset_split(&d, 0.2, 1, known, held, &dev, &err), err));
        CHECK(dev.B >= 58 && dev.B <= 62);
        for (size_t b = 0; b < ALL; b++)
                CHECK(!held[b] || d.ids[b] >= GROUPS / 2);
        ran_dataset_release(&dev);
        ran_dataset_release(&d);
}

TEST(a_fingerprint_adds_up_over_sentences)
{
        struct ran_dataset d = {0};
        struct ran_error err = {0};
        const uint32_t id = 1;

        for (uint32_t b = 1; b <= 3; b++) {
                REQUIRE(CHECK_OK(add(&d, &id, 1, "a", &err), err));
                for (uint32_t i = 0; i < b; i++)
                        REQUIRE(CHECK_OK(ran_dataset_fingerprint(&d, 1000 * b + i, &err), err));
        }
        CHECK(d.fingerprint[0] == 1000 && d.fingerprint[1] == 4001 && d.fingerprint[2] == 9003);
        ran_dataset_release(&d);
}

TEST(documents_without_a_group_are_one_each)
{
        struct ran_dataset d = {0}, dev = {0};
        struct ran_error err = {0};
        bool held[200];

        for (uint32_t b = 0; b < 200; b++) {
                REQUIRE(CHECK_OK(add(&d, &b, 1, b % 2 == 0 ? "a" : "b", &err), err));
                REQUIRE(CHECK_OK(ran_dataset_group(&d, "one", b < 100 ? 3 : 0, &err), err));
        }
        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        REQUIRE(CHECK_OK(ran_dataset_split(&d, 0.1, 1, NULL, held, &dev, &err), err));
        CHECK_SIZE(dev.B, 20);
        for (size_t b = 0; b < 100; b++)
                CHECK(!held[b]);
        ran_dataset_release(&dev);
        ran_dataset_release(&d);
}

TEST(soft_targets_follow_their_documents)
{
        struct ran_dataset d = {0}, dev = {0}, more = {0};
        struct ran_error err = {0};
        bool held[200];

        build_soft(&d);
        check_soft(&d);
        CHECK_SIZE(ran_dataset_guessed(&d), 100);
        REQUIRE(CHECK_OK(ran_dataset_split(&d, 0.1, 1, NULL, held, &dev, &err), err));
        CHECK_SIZE(dev.B, 10); /* of those that nobody guessed */
        CHECK_SIZE(ran_dataset_guessed(&dev), 0);
        CHECK_SIZE(dev.soft_first[dev.B], 0);
        CHECK_SIZE(d.B, 200);
        check_soft(&d);
        for (size_t b = 0; b < d.B; b++)
                d.guessed[b] = true;
        REQUIRE(CHECK_OK(ran_dataset_split(&d, 0.1, 1, NULL, held, &more, &err), err));
        CHECK_SIZE(more.B, 20); /* unless there are no others */
        CHECK_SIZE(ran_dataset_guessed(&more), 20);
        ran_dataset_release(&d);
        ran_dataset_release(&dev);
        ran_dataset_release(&more);
}

/* Where the classes are given, they keep their numbers. */
TEST(soft_targets_are_ordered_by_class)
{
        char *names[] = {"z", "y", "x"};
        struct ran_dataset d = {0};
        struct ran_error err = {0};
        uint32_t id = 0;

        CHECK_OK(ran_dataset_set_classes(&d, names, 3, &err), err);
        CHECK_OK(ran_dataset_add(&d, &id, 1, &id, 1, 1, &err), err);
        CHECK_OK(ran_dataset_soft_target(&d, (uint32_t[]){2, 0}, (float[]){0.25f, 0.75f}, 2, false,
                                         &err),
                 err);
        CHECK_OK(ran_dataset_finish(&d, &err), err);
        CHECK(d.soft_labels[0] == 0 && d.soft_labels[1] == 2);
        CHECK(d.soft[0] == 0.75f && d.soft[1] == 0.25f);
        ran_dataset_release(&d);
}

TEST(what_is_held_out_is_copied_whole)
{
        struct ran_dataset d = {0}, dev = {0};
        struct ran_error err = {0};
        bool held[DOCUMENTS];
        size_t n = 0;

        REQUIRE(build(&d, false));
        REQUIRE(CHECK_OK(ran_dataset_split(&d, 0.1, 1, NULL, held, &dev, &err), err));
        CHECK_SIZE(d.B, DOCUMENTS);
        for (uint32_t id = 0; id < DOCUMENTS; id++) {
                if (!held[id])
                        continue;
                const struct ran_document one = ran_dataset_document(&dev, n);

                REQUIRE(n < dev.B && CHECK_SIZE(one.L, id % 3 + 1) && one.words == 0);
                CHECK(one.ids[0] == id && one.ids[one.L - 1] == id);
                CHECK_STR(label_of(&dev, n), label_of(&d, id));
                for (size_t i = 0; i < one.L * RAN_SPELLING; i++)
                        CHECK_SIZE(one.spelling[i], id + i);
                n++;
        }
        CHECK_SIZE(dev.B, n);
        ran_dataset_release(&d);
        ran_dataset_release(&dev);
}

TEST(each_class_gives_its_fraction)
{
        struct ran_dataset d = {0}, dev = {0};
        struct ran_error err = {0};
        bool held[DOCUMENTS];

        REQUIRE(build(&d, false));
        REQUIRE(CHECK_OK(ran_dataset_split(&d, 0.1, 1, NULL, held, &dev, &err), err));
        CHECK(dev.B >= 99 && dev.B <= 101);
        CHECK(count(&dev, "a") >= 58 && count(&dev, "a") <= 60);
        CHECK(count(&dev, "b") >= 39 && count(&dev, "b") <= 41);
        CHECK(count(&dev, "c") >= 1 && count(&dev, "c") <= 2);
        CHECK_SIZE(dev.C, 3);
        ran_dataset_release(&d);
        ran_dataset_release(&dev);
}

TEST(no_class_vanishes_from_training)
{
        struct ran_dataset d = {0}, dev = {0};
        struct ran_error err = {0};
        bool held[10];

        for (uint32_t b = 0; b < 10; b++) {
                char name[] = {(char)('a' + b / 2), '\0'};
                REQUIRE(CHECK_OK(add(&d, &b, 1, name, &err), err));
        }
        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        REQUIRE(CHECK_OK(ran_dataset_split(&d, 0.9, 1, NULL, held, &dev, &err), err));
        CHECK_SIZE(dev.B, 5);
        for (size_t b = 0; b < d.B; b += 2)
                CHECK(held[b] != held[b + 1]);
        ran_dataset_release(&d);
        ran_dataset_release(&dev);
}

TEST(holding_out_passes_over_labels_that_are_no_class)
{
        struct ran_dataset d = {0}, dev = {0};
        struct ran_error err = {0};
        bool held[6];

        for (uint32_t b = 0; b < 6; b++)
                CHECK_OK(add(&d, &b, 1, b % 2 ? "a" : "b", &err), err);
        CHECK_OK(ran_dataset_finish(&d, &err), err);
        d.labels[1] = d.labels[4] = RAN_LABEL_UNKNOWN;
        CHECK_OK(ran_dataset_split(&d, 0.5, 1, NULL, held, &dev, &err), err);
        CHECK_SIZE(dev.B, 3);
        ran_dataset_release(&dev);
        ran_dataset_release(&d);
}

TEST(the_choice_depends_on_the_seed_alone)
{
        struct ran_dataset d[3] = {{0}}, dev[3] = {{0}};
        struct ran_error err = {0};
        bool held[DOCUMENTS];

        for (size_t i = 0; i < 3; i++) {
                REQUIRE(build(&d[i], true));
                REQUIRE(CHECK_OK(
                        ran_dataset_split(&d[i], 0.1, i < 2 ? 1 : 2, NULL, held, &dev[i], &err),
                        err));
                CHECK_SIZE(dev[i].B, 100);
        }
        size_t size = dev[0].first[dev[0].B];
        REQUIRE(CHECK_SIZE(dev[1].first[dev[1].B], size));
        CHECK(memcmp(dev[0].ids, dev[1].ids, size * sizeof *dev[0].ids) == 0);
        CHECK(dev[2].first[dev[2].B] != size ||
              memcmp(dev[0].ids, dev[2].ids, size * sizeof *dev[0].ids) != 0);
        for (size_t i = 0; i < 3; i++) {
                ran_dataset_release(&d[i]);
                ran_dataset_release(&dev[i]);
        }
}

TEST(texts_of_a_language_model_keep_their_sources)
{
        struct ran_dataset d = {0}, dev = {0};
        struct ran_error err = {0};
        bool held[100];

        for (uint32_t b = 0; b < 100; b++) {
                uint32_t ids[] = {b, b, b, b, b};

                REQUIRE(CHECK_OK(
                        ran_dataset_add_text(&d, ids, 2 + b % 4, b % (2 + b % 4), 1 + b % 2, &err),
                        err));
        }
        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        REQUIRE(CHECK_OK(ran_dataset_split(&d, 0.2, 1, NULL, held, &dev, &err), err));
        CHECK_SIZE(dev.B, 20);
        for (size_t b = 0; b < dev.B; b++) {
                uint32_t id = dev.ids[dev.first[b]];

                CHECK_SIZE(dev.first[b + 1] - dev.first[b], 2 + id % 4);
                CHECK_SIZE(dev.sources[b], id % (2 + id % 4));
                CHECK(dev.weight[b] == 1.0f + (float)(id % 2));
                CHECK(held[id]);
        }
        ran_dataset_release(&d);
        ran_dataset_release(&dev);
}

TEST(a_text_must_have_something_to_predict)
{
        const uint32_t ids[] = {5, 6, 7};
        struct ran_dataset d = {0};
        struct ran_error err = {0};

        CHECK(ran_dataset_add_text(&d, ids, 1, 0, 1, &err) == RAN_EINVAL);
        CHECK_STR(err.text, "1 ids, 0 of them source: none is left to predict");
        CHECK(ran_dataset_add_text(&d, ids, 0, 0, 1, &err) == RAN_EINVAL);
        CHECK(ran_dataset_add_text(&d, ids, 3, 3, 1, &err) == RAN_EINVAL);
        CHECK_SIZE(d.B, 0);
        CHECK_OK(ran_dataset_add_text(&d, ids, 3, 2, 1, &err), err);
        CHECK_SIZE(d.B, 1);
        ran_dataset_release(&d);
}
