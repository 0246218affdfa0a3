/* safetensors files: what is read, what is refused, what is written. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensors/tensors.h"
#include "test.h"

/* ---- files made here ------------------------------------------------------------------------- */

/* The length, a header and n bytes of data (0, 1, 2, ...). */
static struct ran_bytes make_file(const char *header, size_t header_n, size_t n)
{
        unsigned char *bytes = malloc(8 + header_n + n);

        for (size_t i = 0; i < 8; i++)
                bytes[i] = (unsigned char)((uint64_t)header_n >> 8 * i);
        memcpy(bytes + 8, header, header_n);
        for (size_t i = 0; i < n; i++)
                bytes[8 + header_n + i] = (unsigned char)i;
        return (struct ran_bytes){bytes, 8 + header_n + n, false};
}

static int read_made(struct ran_tensors *t, struct ran_bytes *file, const char *header, size_t n,
                     struct ran_error *err)
{
        *file = make_file(header, strlen(header), n);
        return ran_tensors_read(t, file, err);
}

/* A tensor with two floats in bytes 0 to 8, as a member and as an object. */
#define DESCRIBED "{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"
#define A         "\"a\":" DESCRIBED

static const struct {
        const char *header;
        size_t data;
} good[] = {
        {"{}", 0},
        {" \t\r\n{" A "} \t\r\n", 8},
        {"{\"__metadata__\":null," A "}", 8},
        {"{" A ",\"__metadata__\":{\"\":\"\",\"k\":\"\\u0000\"}}", 8},
        {"{\"\":" DESCRIBED "}", 8},
        {"{\"a\":{\"x\":[[{}]],\"shape\":[2],\"data_offsets\":[0,8],\"x\":1e999,\"dtype\":\"F32\"}"
         "}",
         8},
        {"{\"a\":{\"\\u0064type\":\"\\u00463\\u0032\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8},
        {"{\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[8,11]}," A "}", 11},
        {"{\"e\":{\"dtype\":\"F64\",\"shape\":[0,4294967295],\"data_offsets\":[0,0]}," A "}", 8},
        {"{" A ",\"e\":{\"dtype\":\"F64\",\"shape\":[4,0],\"data_offsets\":[8,8]}}", 8},
        {"{\"s\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]}}", 8},
};

TEST(tensors_reads_what_is_odd_but_right)
{
        for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
                struct ran_error err = {0};
                struct ran_bytes file;
                struct ran_tensors t;

                if (!CHECK_OK(read_made(&t, &file, good[i].header, good[i].data, &err), err))
                        printf("  %s\n", good[i].header);
                ran_tensors_release(&t);
                ran_bytes_release(&file);
        }
}

#if SIZE_MAX > UINT32_MAX /* the square of the first, and eight times the second, are no size */
#define ROOT   "4294967296"
#define EIGHTH "2305843009213693952"
#else
#define ROOT   "65536"
#define EIGHTH "536870912"
#endif

#define ONE(dtype, shape, offsets) \
        "{\"a\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" offsets "]}}"
#define TWO(offsets) "{" A ",\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[" offsets "]}}"

static const struct {
        const char *header;
        size_t data;
        const char *sentence; /* a part of it */
} bad[] = {
        {"", 0, "bad header: column 1"},
        {"[" A "]", 8, "bad header: column 1"},
        {"{" A, 8, "bad header"},
        {"{" A ",}", 8, "bad header"},
        {"{" A "}x", 8, "bad header"},
        {"\xef\xbb\xbf{" A "}", 8, "bad header: column 1"},
        {"{\"\xff\":" DESCRIBED "}", 8, "UTF-8"},
        {"{\"\\ud800\":" DESCRIBED "}", 8, "surrogate"},
        {"{\"a\":null}", 8, "tensor \"a\": it is not an object"},
        {"{\"a\":[\"F32\",[2],[0,8]]}", 8, "tensor \"a\": it is not an object"},
        {"{\"__metadata__\":[]," A "}", 8, "__metadata__ is not an object"},
        {"{\"__metadata__\":{\"k\":1}," A "}", 8, "__metadata__: \"k\" is not a string"},
        {"{\"__metadata__\":{\"k\":\"\",\"\\u006b\":\"\"}," A "}", 8, "\"k\" is given twice"},
        {"{\"__metadata__\":{}," A ",\"__metadata__\":{}}", 8, "__metadata__ is given twice"},
        {"{\"__metadata__\":null," A ",\"__metadata__\":null}", 8, "__metadata__ is given twice"},
        {"{\"__metadata__\":" DESCRIBED "}", 8, "__metadata__: \"shape\" is not a string"},
        {"{" A "," A "}", 8, "tensor \"a\" is given twice"},
        {"{" A ",\"\\u0061\":" DESCRIBED "}", 8, "tensor \"a\" is given twice"},
        {"{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "dtype is missing"},
        {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8, "shape is missing"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "data_offsets is missing"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"sh\\u0061pe\":[2],\"data_offsets\":[0,8]}}", 8,
         "shape is given twice"},
        {"{\"a\":{\"dtype\":5,\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "dtype is not a string"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", 8,
         "shape is not an array"},
        {ONE("F31", "2", "0,8"), 8, "unknown dtype \"F31\""},
        {ONE("f32", "2", "0,8"), 8, "unknown dtype \"f32\""},
        {ONE("F32\\u0000", "2", "0,8"), 8, "unknown dtype"},
        {ONE("F32", "-2", "0,8"), 8, "shape holds -2"},
        {ONE("F32", "2.0", "0,8"), 8, "shape holds 2.0"},
        {ONE("F32", "2e0", "0,8"), 8, "shape holds 2e0"},
        {ONE("F32", "\"2\"", "0,8"), 8, "shape holds \"2\""},
        {ONE("F32", "2", "0,8,8"), 8, "data_offsets holds 3 numbers"},
        {ONE("F32", "2", "0"), 8, "data_offsets holds 1 numbers"},
        {ONE("F32", "2", "0,18446744073709551624"), 8, "data_offsets holds 18446744073709551624"},
        {ONE("F32", "2", "8,0"), 8, "data_offsets are [8, 0]"},
        {ONE("F32", "3", "0,8"), 8, "take 12 bytes"},
        {ONE("F32", "1", "0,8"), 8, "take 4 bytes"},
        {ONE("F4", "3", "0,1"), 1, "unknown dtype \"F4\""},
        {ONE("U8", ROOT "," ROOT, "0,0"), 0, "the product of its shape overflows"},
        {ONE("U8", ROOT "," ROOT ",0", "0,0"), 0, "the product of its shape overflows"},
        {ONE("F64", EIGHTH, "0,0"), 0, "its size overflows"},
        {ONE("U8", "1,1,1,1,1,1,1,1,1", "0,1"), 1, "shape holds 9 numbers; at most 8"},
        {ONE("F32", "2", "4,12"), 12,
         "begins at byte 4 of the data, but the ones before it end at 0"},
        {TWO("9,13"), 13, "tensor \"b\" begins at byte 9"},
        {TWO("4,8"), 8, "tensor \"b\" begins at byte 4"},
        {TWO("8,12"), 13, "13 bytes of data follow the header, but the tensors take 12"},
        {TWO("8,12"), 11, "11 bytes of data follow the header, but the tensors take 12"},
        {"{}", 1, "1 bytes of data follow the header, but the tensors take 0"},
};

TEST(tensors_refuses_what_breaks_a_rule)
{
        for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
                struct ran_error err = {0};
                struct ran_bytes file;
                struct ran_tensors t;

                CHECK(read_made(&t, &file, bad[i].header, bad[i].data, &err) == RAN_EFORMAT);
                if (!CHECK(strstr(err.text, bad[i].sentence) != NULL))
                        printf("  %s\n  %s\n", bad[i].header, err.text);
                CHECK(t.tensor == NULL && t.strings.data == NULL);
                ran_bytes_release(&file);
        }
}

static void refused_start(const unsigned char *bytes, size_t n, const char *sentence)
{
        struct ran_error err = {0};
        struct ran_bytes file = {bytes, n, false};
        struct ran_tensors t;

        CHECK(ran_tensors_read(&t, &file, &err) == RAN_EFORMAT);
        CHECK_STR(err.text, sentence);
}

TEST(tensors_refuses_a_bad_length)
{
        refused_start((const unsigned char *)"", 0, "0 bytes are too few for a safetensors file");
        refused_start((const unsigned char *)"\2\0\0\0\0\0\0", 7,
                      "7 bytes are too few for a safetensors file");
        refused_start((const unsigned char *)"\3\0\0\0\0\0\0\0{}", 10,
                      "the header should take 3 bytes, but 2 follow: the file is no safetensors "
                      "file, or cut short");
        refused_start((const unsigned char *)"\1\341\365\5\0\0\0\0{}", 10,
                      "not a safetensors file: its header would take 100000001 bytes");
        refused_start((const unsigned char *)"\377\377\377\377\377\377\377\377{}", 10,
                      "not a safetensors file: its header would take 18446744073709551615 bytes");
}

TEST(tensors_nul_padding_is_refused)
{
        static const char header[] = "{" A "}\0\0\0";
        struct ran_bytes file = make_file(header, sizeof(header) - 1, 8);
        struct ran_tensors t;

        CHECK(ran_tensors_read(&t, &file, NULL) == RAN_EFORMAT);
        ran_bytes_release(&file);
}

TEST(tensors_deep_nesting_is_no_danger)
{
        enum { DEPTH = 1000000 };
        struct ran_buf header = {0};
        struct ran_tensors t;

        ran_buf_str(&header, "{\"a\":{\"x\":");
        for (int i = 0; i < DEPTH; i++)
                ran_buf_char(&header, '[');
        for (int i = 0; i < DEPTH; i++)
                ran_buf_char(&header, ']');
        ran_buf_str(&header, ",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}");
        struct ran_bytes file = make_file(header.data, header.len, 8);
        CHECK(ran_tensors_read(&t, &file, NULL) == RAN_OK);
        ran_tensors_release(&t);
        ran_bytes_release(&file);
        ran_buf_release(&header);
}

TEST(tensors_names_and_texts_may_hold_anything)
{
        const char *header =
                "{\"__metadata__\":{\"b\":\"2\",\"a\\u0000\":\"x\\u0000y\",\"a\":\"1\"},"
                "\"z\\u0000\\n\\\"\":" DESCRIBED "}";
        struct ran_error err = {0};
        struct ran_bytes file;
        struct ran_tensors t;

        REQUIRE(CHECK_OK(read_made(&t, &file, header, 8, &err), err));
        CHECK_SIZE(t.n, 1);
        CHECK(t.tensor[0].name_n == 4 && memcmp(t.tensor[0].name, "z\0\n\"", 5) == 0);
        CHECK(ran_tensors_find(&t, "z") == NULL);
        CHECK_SIZE(t.metadata_n, 3);
        CHECK_STR(t.metadata[2].key, "b");
        const struct ran_metadata *a = ran_tensors_metadata(&t, "a");
        REQUIRE(a != NULL);
        CHECK_STR(a->text, "1");
        CHECK(a[1].key_n == 2 && a[1].text_n == 3 && memcmp(a[1].text, "x\0y", 4) == 0);
        CHECK(ran_tensors_metadata(&t, "c") == NULL);
        ran_tensors_release(&t);
        ran_bytes_release(&file);
}

/* ---- elements -------------------------------------------------------------------------------- */

static void check_floats(const char *dtype, const void *bytes, size_t size, const float *want,
                         size_t n)
{
        for (size_t shift = 0; shift < 4; shift++) { /* at every alignment */
                struct ran_buf b = {0};
                struct ran_error err = {0};
                struct ran_tensors t;
                float got[16];

                ran_buf_printf(
                        &b,
                        "{\"x\":{\"dtype\":\"%s\",\"shape\":[%zu],\"data_offsets\":[0,%zu]}}%.*s",
                        dtype, n, size, (int)shift, "   ");
                struct ran_bytes file = make_file(b.data, b.len, size);
                memcpy((void *)(file.data + 8 + b.len), bytes, size);
                if (CHECK_OK(ran_tensors_read(&t, &file, &err), err) &&
                    CHECK_OK(ran_tensor_floats(&t, &t.tensor[0], got, &err), err)) {
                        for (size_t i = 0; i < n; i++)
                                CHECK(isnan(want[i]) ? isnan(got[i])
                                                     : memcmp(&got[i], &want[i], 4) == 0);
                }
                ran_tensors_release(&t);
                ran_bytes_release(&file);
                ran_buf_release(&b);
        }
}

TEST(tensors_convert_to_float)
{
        const float f32[] = {1.5f, -0.0f, 1e-45f, INFINITY};
        check_floats("F32", "\0\0\xc0\x3f\0\0\0\x80\1\0\0\0\0\0\x80\x7f", 16, f32, 4);

        const float f64[] = {1.5f, 0.1f, INFINITY};
        check_floats("F64",
                     "\0\0\0\0\0\0\xf8\x3f\x9a\x99\x99\x99\x99\x99\xb9\x3f\0\0\0\0\0\0\xf0\x7f", 24,
                     f64, 3);

        const float bf16[] = {1.5f, -2.0f, NAN, -INFINITY};
        check_floats("BF16", "\xc0\x3f\0\xc0\xc0\x7f\x80\xff", 8, bf16, 4);

        /* one, largest, smallest normal, largest and smallest subnormal, -0, inf, NaN */
        const float f16[] = {1,     65504,     0x1p-14f,  0x1.ff8p-15f, 0x1p-24f,
                             -0.0f, -0x1p-24f, -INFINITY, NAN};
        check_floats("F16", "\0\x3c\xff\x7b\0\x04\xff\x03\x01\0\0\x80\x01\x80\0\xfc\0\x7e", 18, f16,
                     9);
}

TEST(tensors_of_other_types_are_no_floats)
{
        struct ran_error err = {0};
        struct ran_bytes file;
        struct ran_tensors t;
        float x[2];

        REQUIRE(read_made(&t, &file, ONE("I32", "2", "0,8"), 8, NULL) == RAN_OK);
        CHECK(ran_tensor_floats(&t, &t.tensor[0], x, &err) == RAN_EFORMAT);
        CHECK_STR(err.text,
                  "tensor \"a\" has elements of type I32: F32, F16, BF16, F64 or I8 is needed");
        CHECK(ran_tensor_in_place(&t, &t.tensor[0]) == NULL);
        ran_tensors_release(&t);
        ran_bytes_release(&file);
}

/* ---- writing --------------------------------------------------------------------------------- */

static const float weights[6] = {1, -2, 0.5f, 1e-8f, 3, 4};
static const double loss[1] = {0.25};
static const uint16_t halves[3] = {0x3c00, 0x4000, 1};
static const struct ran_tensor_source sources[] = {
        {"tokenizer.json", RAN_DTYPE_U8, 1, {5}, "{\"a\"}"},
        {"z.weight", RAN_DTYPE_F32, 2, {2, 3}, weights},
        {"a.bias", RAN_DTYPE_F32, 1, {2}, weights + 4},
        {"empty", RAN_DTYPE_F32, 2, {0, 7}, NULL},
        {"half", RAN_DTYPE_F16, 1, {3}, halves},
        {"loss", RAN_DTYPE_F64, 0, {0}, loss},
};
enum { SOURCES = sizeof(sources) / sizeof(*sources) };
static const struct ran_metadata_source notes[] = {{"format", "ran"},
                                                   {"config", "{\"dim\":\"\n\"}"}};

static int write_sources(const char *path, struct ran_error *err)
{
        return ran_tensors_write(path, NULL, sources, SOURCES, notes, 2, err);
}

TEST(tensors_written_as_the_format_does)
{
        static const char header[] =
                "{\"__metadata__\":{\"config\":\"{\\\"dim\\\":\\\"\\n\\\"}\",\"digest\":\""
                "9100c5d3ccc86ac422a5ce77a6be8fc93e5bcb113e2c4ce146b277d14eed20d0"
                "\",\"format\":\"ran\"},"
                "\"loss\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]},"
                "\"a.bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]},"
                "\"empty\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[16,16]},"
                "\"z.weight\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[16,40]},"
                "\"half\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[40,46]},"
                "\"tokenizer.json\":{\"dtype\":\"U8\",\"shape\":[5],\"data_offsets\":[46,51]}}";
        char *path = test_path("written");
        struct ran_error err = {0};
        struct ran_bytes file;

        REQUIRE(CHECK_OK(write_sources(path, &err), err));
        REQUIRE(CHECK_OK(ran_bytes_open(&file, path, &err), err));
        size_t n = file.data[0] | (size_t)file.data[1] << 8;
        CHECK_SIZE((8 + n) % 64, 0);
        CHECK_SIZE(file.size, 8 + n + 51);
        char *text = strndup((const char *)file.data + 8, n);
        text[strlen(header) < n ? strlen(header) : n] = '\0'; /* spaces follow */
        CHECK_STR(text, header);
        CHECK(memcmp(file.data + 8 + n + 46, "{\"a\"}", 5) == 0);
        CHECK(memcmp(file.data + 8 + n + 16, "\0\0\x80\x3f\0\0\0\xc0", 8) == 0);
        free(text);
        ran_bytes_release(&file);
        free(path);
}

TEST(tensors_written_are_read_back)
{
        char *path = test_path("back");
        struct ran_error err = {0};
        struct ran_bytes file;
        struct ran_tensors t;
        float got[6];

        REQUIRE(CHECK_OK(write_sources(path, &err), err));
        REQUIRE(CHECK_OK(ran_bytes_open(&file, path, &err), err));
        REQUIRE(CHECK_OK(ran_tensors_read(&t, &file, &err), err));
        CHECK_OK(ran_tensors_verify(&t, &err), err);
        CHECK_SIZE(t.n, SOURCES);
        const struct ran_tensor *z = ran_tensors_find(&t, "z.weight");
        REQUIRE(z != NULL);
        CHECK(z->rank == 2 && z->shape[0] == 2 && z->shape[1] == 3 && z->elements == 6);
        CHECK_OK(ran_tensor_floats(&t, z, got, &err), err);
        CHECK(memcmp(got, weights, sizeof(weights)) == 0);
        const float *in_place = ran_tensor_in_place(&t, z);
        CHECK(in_place != NULL && memcmp(in_place, weights, sizeof(weights)) == 0);
        CHECK_STR(ran_tensors_metadata(&t, "config")->text, notes[1].text);
        CHECK(ran_tensors_find(&t, "y") == NULL);
        ran_tensors_release(&t);
        ran_bytes_release(&file);
        free(path);
}

TEST(tensors_order_of_the_sources_does_not_matter)
{
        struct ran_tensor_source turned[SOURCES];
        struct ran_metadata_source turned_notes[] = {notes[1], notes[0]};
        char *one = test_path("one"), *two = test_path("two");
        struct ran_bytes a, b;

        for (size_t i = 0; i < SOURCES; i++)
                turned[i] = sources[SOURCES - 1 - i];
        REQUIRE(write_sources(one, NULL) == RAN_OK);
        REQUIRE(ran_tensors_write(two, NULL, turned, SOURCES, turned_notes, 2, NULL) == RAN_OK);
        REQUIRE(ran_bytes_open(&a, one, NULL) == RAN_OK && ran_bytes_open(&b, two, NULL) == RAN_OK);
        CHECK(a.size == b.size && memcmp(a.data, b.data, a.size) == 0);
        ran_bytes_release(&a);
        ran_bytes_release(&b);
        free(one);
        free(two);
}

TEST(tensors_cut_anywhere_are_refused)
{
        char *path = test_path("cut");
        struct ran_bytes file;

        REQUIRE(write_sources(path, NULL) == RAN_OK);
        REQUIRE(ran_bytes_open(&file, path, NULL) == RAN_OK);
        for (size_t n = 0; n < file.size; n++) {
                /* A copy of exactly that size, so that a sanitizer sees a read past its end. */
                unsigned char *bytes = malloc(n > 0 ? n : 1);
                struct ran_bytes cut = {bytes, n, false};
                struct ran_tensors t;

                memcpy(bytes, file.data, n);
                CHECK(ran_tensors_read(&t, &cut, NULL) == RAN_EFORMAT);
                free(bytes);
        }
        ran_bytes_release(&file);
        free(path);
}

/* Any one byte of the header may be anything: the reader answers, and what it accepts is sound. */
TEST(tensors_damaged_headers_are_survived)
{
        char *path = test_path("damaged");
        struct ran_bytes file;

        REQUIRE(write_sources(path, NULL) == RAN_OK);
        REQUIRE(ran_bytes_open(&file, path, NULL) == RAN_OK);
        unsigned char *bytes = malloc(file.size);
        for (size_t i = 0; i < file.size; i++) {
                static const unsigned char other[] = {0, '"', '9', '}', ']', ',', 0xff, '\\'};

                for (size_t k = 0; k < sizeof(other); k++) {
                        struct ran_bytes damaged = {bytes, file.size, false};
                        struct ran_tensors t;

                        memcpy(bytes, file.data, file.size);
                        bytes[i] = other[k];
                        if (ran_tensors_read(&t, &damaged, NULL) != RAN_OK)
                                continue;
                        for (size_t n = 0; n < t.n; n++)
                                CHECK(t.tensor[n].end <= t.size);
                        ran_tensors_release(&t);
                }
        }
        free(bytes);
        ran_bytes_release(&file);
        free(path);
}

TEST(tensors_verify_finds_damage)
{
        char *path = test_path("verify");
        struct ran_error err = {0};
        struct ran_bytes file;
        struct ran_tensors t;

        REQUIRE(write_sources(path, NULL) == RAN_OK);
        REQUIRE(ran_bytes_open(&file, path, NULL) == RAN_OK);
        unsigned char *bytes = malloc(file.size);
        memcpy(bytes, file.data, file.size);
        bytes[file.size - 1] ^= 1;
        struct ran_bytes damaged = {bytes, file.size, false};
        REQUIRE(ran_tensors_read(&t, &damaged, NULL) == RAN_OK);
        CHECK(ran_tensors_verify(&t, &err) == RAN_EFORMAT);
        CHECK_STR(err.text, "the data does not match its digest: the file is damaged");
        ran_tensors_release(&t);
        ran_bytes_release(&file);
        free(bytes);
        free(path);

        REQUIRE(read_made(&t, &file, "{}", 0, NULL) == RAN_OK);
        CHECK(ran_tensors_verify(&t, &err) == RAN_EFORMAT);
        CHECK_STR(err.text, "there is no digest to verify the data with");
        ran_tensors_release(&t);
        ran_bytes_release(&file);
}

TEST(tensors_write_fails_in_a_sentence)
{
        struct ran_tensor_source big = {"x", RAN_DTYPE_F32, 2, {SIZE_MAX / 2, 3}, weights};
        struct ran_error err = {0};

        CHECK(write_sources("/nowhere/at-all", &err) == RAN_EIO);
        CHECK_STR(err.text, "cannot write /nowhere/at-all: No such file or directory");
        CHECK(write_sources("/dev/full", &err) == RAN_EIO);
        CHECK(ran_tensors_write("/dev/null", NULL, &big, 1, NULL, 0, &err) == RAN_EFORMAT);
        CHECK_STR(err.text, "the product of its shape overflows");
}
