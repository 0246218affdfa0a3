/* Labels by their descriptions: the file, and the classifier that they make of a small encoder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "test.h"

/* An encoder that makes vectors of length 1. */
static const char unit[] = "tests/encoders/sentence-mean";

/* Labels with commas between, or the error. Good until the next call. */
static const char *labels_of(struct ran_label_texts *t, const struct ran_error *err)
{
        static char shown[512];
        size_t at = 0;

        if (t == NULL)
                snprintf(shown, sizeof shown, "%s", err->text);
        if (t == NULL)
                return shown;
        for (size_t c = 0; c < ran_label_texts_count(t); c++)
                at += (size_t)snprintf(shown + at, sizeof shown - at, "%s%s", c > 0 ? "," : "",
                                       ran_label_texts_label(t, c));
        ran_label_texts_free(t);
        return shown;
}

static const char *read_names(const char *names)
{
        struct ran_error err = {0};

        return labels_of(ran_label_texts_of(names, "--labels", &err), &err);
}

static struct ran_label_texts *open_text(const char *text, struct ran_error *err)
{
        char *path = test_path("labels");
        FILE *f = fopen(path, "w");

        if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
                abort();
        struct ran_label_texts *t = ran_label_texts_open(path, err);
        free(path);
        return t;
}

/* The error without the name of the file. */
static const char *read_text(const char *text)
{
        struct ran_error err = {0};
        struct ran_label_texts *t = open_text(text, &err);
        const char *shown = labels_of(t, &err), *name = strstr(shown, "labels:");

        return name != NULL ? name : shown;
}

TEST(label_texts_are_in_the_order_in_which_labels_are_first_named)
{
        CHECK_STR(read_names("b, a b ,c"), "b,a b,c");
        CHECK_STR(read_text("b\tx\na\ty\tz\nb\tw\n"), "b,a");
        CHECK_STR(read_text("\n7\tx\ty\r\n \nb\r\n"), "7,b");
        CHECK_STR(read_text("no end\tof line\nb"), "no end,b");
}

TEST(label_texts_say_what_is_wrong)
{
        CHECK_STR(read_names(""), "--labels: a name is empty: give names with commas between");
        CHECK_STR(read_names("a,"), "--labels: a name is empty: give names with commas between");
        CHECK_STR(read_names("a,b, a"), "--labels: \"a\" is there twice");
        CHECK_STR(read_names("a"), "--labels: \"a\" is the only label: two are needed");
        CHECK_STR(read_text(""), "labels: no label");
        CHECK_STR(read_text("\na\tx\na\ty\n"), "labels:2: \"a\" is the only label: two are needed");
        CHECK_STR(read_text("a\tx\n \tb\n"),
                  "labels:2: no label: a line is label, tab, description");
        CHECK_STR(read_text("a\tx\t\ty\n"), "labels:1: the description of \"a\" is empty");
        CHECK_STR(read_text("a\tx\n{\"label\": \"b\"}\n"),
                  "labels:2: JSON: a line is label, tab, description");
}

static void classify(const struct ran_model *m, const char *text, float *logits)
{
        struct ran_error err = {0};
        struct ran_encoding e = {0};
        struct ran_state *s = ran_state_new(m, NULL);

        CHECK_OK(ran_tokenizer_encode(ran_model_tokenizer(m), text, strlen(text), &e, &err), err);
        const struct ran_document d = {.ids = e.ids, .L = e.n};
        CHECK_OK(ran_classify(m, s, &d, logits, NULL, &err), err);
        ran_encoding_release(&e);
        ran_state_free(s);
}

TEST(label_texts_make_a_classifier_that_gives_14_times_the_cosine_and_can_be_written)
{
        struct ran_error err = {0};
        struct ran_model *m = ran_model_open(unit, false, &err);
        struct ran_label_words words;

        REQUIRE(CHECK_STR(m != NULL ? NULL : err.text, NULL));
        struct ran_label_texts *t = open_text("one\tthe river\ntwo\tthe mill\tthe village\n", &err);
        REQUIRE(CHECK_STR(t != NULL ? NULL : err.text, NULL));
        struct ran_model *made = ran_label_model(m, t, &words, &err);
        REQUIRE(CHECK_STR(made != NULL ? NULL : err.text, NULL));
        CHECK_STR(ran_model_label(made, 0), "one");
        CHECK(words.tokens >= 6);

        float logits[2], again[2];
        classify(made, "the river", logits);
        CHECK_NEAR((double)logits[0], 14, 1e-4);
        CHECK(logits[1] < 14 && logits[1] > -14);

        char *path = test_path("made.ran");
        CHECK_OK(ran_model_convert(made, RAN_STORAGE_F32, true, path, &err), err);
        struct ran_model *read = ran_model_open(path, true, &err);
        REQUIRE(CHECK_STR(read != NULL ? NULL : err.text, NULL));
        classify(read, "the river", again);
        CHECK(memcmp(logits, again, sizeof logits) == 0);
        CHECK(ran_label_model(read, t, &words, &err) == NULL);
        CHECK_STR(err.text, "the model is a classifier, and has labels already");

        ran_model_free(read);
        ran_model_free(made);
        ran_label_texts_free(t);
        ran_model_free(m);
        free(path);
}

TEST(label_texts_that_a_model_reads_alike_are_refused)
{
        struct ran_error err = {0};
        struct ran_model *m = ran_model_open(unit, false, &err);
        struct ran_label_texts *t = open_text("one\tthe river\n\ntwo\tthe  river\n", &err);
        struct ran_label_words words;

        REQUIRE(m != NULL && t != NULL);
        CHECK(ran_label_model(m, t, &words, &err) == NULL);
        CHECK(strstr(err.text, "labels:3: \"one\" and \"two\" have the same description, "
                               "\"the  river\" (line 1)") != NULL);
        ran_label_texts_free(t);
        ran_model_free(m);
}
