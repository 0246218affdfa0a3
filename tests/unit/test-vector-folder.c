/* Folders of vectors in Model2Vec's form: what is read, and what is refused with which sentence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ran.h"
#include "test.h"

#define TOKENIZER                                                                                 \
        "{\"version\":\"1.0\",\"added_tokens\":[],\"normalizer\":{\"type\":\"BertNormalizer\","   \
        "\"clean_text\":true,\"handle_chinese_chars\":true,\"strip_accents\":null,"               \
        "\"lowercase\":true},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"                  \
        "\"post_processor\":null,\"decoder\":null,\"model\":{\"type\":\"WordPiece\","             \
        "\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","                           \
        "\"max_input_chars_per_word\":100,\"vocab\":{\"[UNK]\":0,\"rain\":1,\"sun\":2,\"##s\":3}" \
        "}}"

/* ---- a folder ------------------------------------------------------------------------------- */

static void put(const char *folder, const char *name, const void *bytes, size_t n)
{
        char path[4096];
        FILE *f;

        snprintf(path, sizeof path, "%s/%s", folder, name);
        unlink(path);
        if (bytes == NULL)
                return;
        f = fopen(path, "wb");
        if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
                abort();
}

/* The length, a header and the data of a safetensors file. */
static void put_tensors(const char *folder, const char *header, const void *data, size_t n)
{
        unsigned char bytes[4096] = {0};
        size_t header_n = strlen(header);

        if (8 + header_n + n > sizeof bytes)
                abort();
        bytes[0] = (unsigned char)header_n;
        bytes[1] = (unsigned char)(header_n >> 8);
        memcpy(bytes + 8, header, header_n);
        if (n > 0)
                memcpy(bytes + 8 + header_n, data, n);
        put(folder, "model.safetensors", bytes, 8 + header_n + n);
}

/* Its vectors, "1 2 3, 4 5 6", and " normal" if a mean is divided by its length; "error: ..." else,
 * with FOLDER for the path. */
static char shown[4096];

static const char *read_folder(const char *folder)
{
        struct ran_vector_folder f;
        struct ran_error err = {0};
        size_t at = 0;

        shown[0] = '\0';
        if (ran_vector_folder_open(&f, folder, &err) != RAN_OK) {
                const char *found = strstr(err.text, folder);

                CHECK(f.tokenizer == NULL && f.rows.rows == NULL);
                snprintf(shown, sizeof shown, "error: %s", err.text);
                if (found != NULL)
                        snprintf(shown, sizeof shown, "error: %.*sFOLDER%s",
                                 (int)(found - err.text), err.text, found + strlen(folder));
                return shown;
        }
        for (size_t id = 0; id < f.rows.V; id++) {
                CHECK(f.rows.given[id]);
                for (size_t d = 0; d < f.rows.D; d++)
                        at += (size_t)snprintf(shown + at, sizeof shown - at, "%s%g",
                                               d > 0    ? " "
                                               : id > 0 ? ", "
                                                        : "",
                                               (double)f.rows.rows[id * f.rows.D + d]);
        }
        CHECK(ran_tokenizer_size(f.tokenizer) == f.rows.V && strlen(f.rows.digest) == 64);
        snprintf(shown + at, sizeof shown - at, "%s", f.normalize ? " normal" : "");
        ran_vector_folder_release(&f);
        ran_vector_folder_release(&f);
        return shown;
}

static char *new_folder(void)
{
        char *folder = test_path("folder");

        if (mkdir(folder, 0700) != 0)
                abort();
        put(folder, "tokenizer.json", TOKENIZER, strlen(TOKENIZER));
        put(folder, "config.json", "{\"normalize\":true}", 18);
        return folder;
}

static void remove_folder(char *folder)
{
        put(folder, "tokenizer.json", NULL, 0);
        put(folder, "config.json", NULL, 0);
        put(folder, "model.safetensors", NULL, 0);
        CHECK(rmdir(folder) == 0);
        free(folder);
}

/* What the folder with these tensors gives. */
static const char *read_tensors(const char *folder, const char *header, const void *data, size_t n)
{
        put_tensors(folder, header, data, n);
        return read_folder(folder);
}

#define ROWS(type, rows, end)                                                              \
        "\"embeddings\":{\"dtype\":\"" type "\",\"shape\":[" rows ",2],\"data_offsets\":[" \
        "0," end "]}"

/* ---- what is read --------------------------------------------------------------------------- */

TEST(vectors_of_each_type)
{
        static const float f32[] = {1, 2, 3, 4, 5, 6, 7, -0.5F};
        static const uint16_t f16[] = {0x3c00, 0x4000, 0, 0xc000, 0x3800, 1, 0, 0};
        static const int8_t i8[] = {1, 2, 3, 4, -128, 127, 0, -1};
        char *folder = new_folder();

        CHECK_STR(read_tensors(folder, "{" ROWS("F32", "4", "32") "}", f32, sizeof f32),
                  "1 2, 3 4, 5 6, 7 -0.5 normal");
        CHECK_STR(read_tensors(folder, "{" ROWS("F16", "4", "16") "}", f16, sizeof f16),
                  "1 2, 0 -2, 0.5 5.96046e-08, 0 0 normal");
        CHECK_STR(read_tensors(folder, "{" ROWS("I8", "4", "8") "}", i8, sizeof i8),
                  "1 2, 3 4, -128 127, 0 -1 normal");
        put(folder, "config.json", "{}", 2);
        CHECK_STR(read_folder(folder), "1 2, 3 4, -128 127, 0 -1");
        remove_folder(folder);
}

/* Sentence Transformers: another name, and no config.json beside it. */
TEST(vectors_of_a_static_embedding)
{
        static const float rows[] = {1, 2, 3, 4, 5, 6, 7, 8};
        char *folder = new_folder();

        put(folder, "config.json", NULL, 0);
        CHECK_STR(read_tensors(folder,
                               "{\"embedding.weight\":{\"dtype\":\"F32\",\"shape\":[4,2],"
                               "\"data_offsets\":[0,32]}}",
                               rows, sizeof rows),
                  "1 2, 3 4, 5 6, 7 8");
        remove_folder(folder);
}

/* Two rows for four tokens, and a factor for each token. */
TEST(vectors_follow_mapping_and_weights)
{
        struct {
                float rows[4];
                double weights[4];
                int64_t mapping[4];
        } data = {{1, 2, 3, 4}, {1, 0.5, 2, 0}, {1, 0, 1, 0}};
        char *folder = new_folder();

        CHECK_STR(read_tensors(folder,
                               "{" ROWS("F32", "2",
                                        "16") ",\"weights\":{\"dtype\":\"F64\",\"shape\":[4],"
                                              "\"data_offsets\":[16,48]},\"mapping\":{\"dtype\":"
                                              "\"I64\",\"shape\":[4],\"data_offsets\":[48,80]}}",
                               &data, sizeof data),
                  "3 4, 0.5 1, 6 8, 0 0 normal");
        remove_folder(folder);
}

/* ---- what is refused ------------------------------------------------------------------------ */

TEST(tensors_that_do_not_belong_to_the_vocabulary_are_refused)
{
        static const float zeros[16];
        static const struct {
                const char *header;
                size_t n;
                const char *sentence;
        } bad[] = {
                {"{}", 0, "there is no tensor \"embeddings\" or \"embedding.weight\""},
                {"{" ROWS("F32", "3", "24") "}", 24,
                 "tensor \"embeddings\" has 3 rows, but tokenizer.json has 4 tokens, and there is "
                 "no tensor \"mapping\""},
                {"{" ROWS("I32", "4", "32") "}", 32,
                 "tensor \"embeddings\" has elements of type I32: F32, F16 or I8 is needed"},
                {"{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[0,32]}}", 32,
                 "tensor \"embeddings\" is not a matrix with a row or more"},
                {"{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[4,0],\"data_offsets\":[0,0]}}", 0,
                 "tensor \"embeddings\" is not a matrix with a row or more"},
                {"{" ROWS("F32", "4", "32") ",\"weights\":{\"dtype\":\"F32\",\"shape\":[3],"
                                            "\"data_offsets\":[32,44]}}",
                 44,
                 "tensor \"weights\" is not a vector of 4 elements, one for each token of "
                 "tokenizer.json"},
                {"{" ROWS("F32", "4", "32") ",\"weights\":{\"dtype\":\"I32\",\"shape\":[4],"
                                            "\"data_offsets\":[32,48]}}",
                 48, "tensor \"weights\" has elements of type I32: F64, F32 or F16 is needed"},
                {"{" ROWS("F32", "4", "32") ",\"mapping\":{\"dtype\":\"F32\",\"shape\":[4],"
                                            "\"data_offsets\":[32,48]}}",
                 48, "tensor \"mapping\" has elements of type F32: I64 or I32 is needed"},
                {"{" ROWS("F32", "4", "32") ",\"mapping\":{\"dtype\":\"I32\",\"shape\":[2,2],"
                                            "\"data_offsets\":[32,48]}}",
                 48,
                 "tensor \"mapping\" is not a vector of 4 elements, one for each token of "
                 "tokenizer.json"},
        };
        char *folder = new_folder(), wanted[1024];

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                snprintf(wanted, sizeof wanted, "error: FOLDER/model.safetensors: %s",
                         bad[i].sentence);
                CHECK_STR(read_tensors(folder, bad[i].header, zeros, bad[i].n), wanted);
        }
        /* Sizes that no file has end in the reader of tensors, before anything is allocated. */
        CHECK(strstr(read_tensors(folder,
                                  "{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[4,"
                                  "9223372036854775807],\"data_offsets\":[0,32]}}",
                                  zeros, 32),
                     "error: FOLDER/model.safetensors: ") == shown);
        remove_folder(folder);
}

TEST(rows_that_are_not_there_and_numbers_that_are_not_finite_are_refused)
{
        struct {
                float rows[4];
                int32_t mapping[4];
                float weights[4];
        } data = {{1, 2, 3, 4}, {0, 1, 1, 0}, {1, 1, 1, 1}};
        static const char header[] =
                "{" ROWS("F32", "2", "16") ",\"mapping\":{\"dtype\":\"I32\",\"shape\":[4],"
                                           "\"data_offsets\":[16,32]},\"weights\":{\"dtype\":"
                                           "\"F32\",\"shape\":[4],\"data_offsets\":[32,48]}}";
        static const char missing[] =
                "error: FOLDER/model.safetensors: \"mapping\" sends token 2 to a row that "
                "\"embeddings\", with 2 rows, does not have";
        static const char infinite[] = "error: FOLDER/model.safetensors: the vector of token 1 has "
                                       "a number that is not finite";
        char *folder = new_folder();

        CHECK_STR(read_tensors(folder, header, &data, sizeof data), "1 2, 3 4, 3 4, 1 2 normal");
        data.mapping[2] = 2;
        CHECK_STR(read_tensors(folder, header, &data, sizeof data), missing);
        data.mapping[2] = -1;
        CHECK_STR(read_tensors(folder, header, &data, sizeof data), missing);
        data.mapping[2] = 0;
        data.rows[3] = __builtin_nanf("");
        CHECK_STR(read_tensors(folder, header, &data, sizeof data), infinite);
        data.rows[3] = 3e38F;
        CHECK_STR(read_tensors(folder, header, &data, sizeof data),
                  "1 2, 3 3e+38, 1 2, 1 2 normal");
        data.weights[1] = 2;
        CHECK_STR(read_tensors(folder, header, &data, sizeof data), infinite);
        remove_folder(folder);
}

/* A hostile folder: nothing waits for a pipe, and nothing reads without end. */
TEST(files_without_an_end_are_refused)
{
        static const float rows[] = {1, 2, 3, 4, 5, 6, 7, 8};
        static const char *const names[] = {"tokenizer.json", "model.safetensors", "config.json"};
        char *folder = new_folder(), wanted[256], path[4200];

        for (size_t i = 0; i < 6; i++) {
                const char *name = names[i % 3];

                put(folder, "tokenizer.json", TOKENIZER, strlen(TOKENIZER));
                put_tensors(folder, "{" ROWS("F32", "4", "32") "}", rows, sizeof rows);
                put(folder, "config.json", "{}", 2);
                put(folder, name, NULL, 0);
                snprintf(path, sizeof path, "%s/%s", folder, name);
                REQUIRE((i < 3 ? mkfifo(path, 0600) : symlink("/dev/zero", path)) == 0);
                snprintf(wanted, sizeof wanted, "error: FOLDER/%s is not a regular file", name);
                CHECK_STR(read_folder(folder), wanted);
                unlink(path);
        }
        put(folder, "tokenizer.json", TOKENIZER, strlen(TOKENIZER));
        put_tensors(folder, "{" ROWS("F32", "4", "32") "}", rows, sizeof rows);
        put(folder, "config.json", "{}", 2);
        REQUIRE(truncate(path, INT64_C(1) << 33) == 0); /* without blocks */
        CHECK_STR(read_folder(folder), "error: FOLDER/config.json has more than 1048576 bytes, too "
                                       "many for such a file");
        remove_folder(folder);
}

TEST(each_missing_or_wrong_file_has_its_sentence)
{
        static const float rows[] = {1, 2, 3, 4, 5, 6, 7, 8};
        static const char *const names[] = {"tokenizer.json", "model.safetensors", "config.json"};
        static const char header[] = "{" ROWS("F32", "4", "32") "}";
        static const char unigram[] = "{\"model\":{\"type\":\"Unigram\",\"vocab\":[]}}";
        char *folder = new_folder(), wanted[256];

        for (size_t i = 0; i < 3; i++) {
                put(folder, "tokenizer.json", TOKENIZER, strlen(TOKENIZER));
                put_tensors(folder, header, rows, sizeof rows);
                put(folder, names[i], NULL, 0);
                snprintf(wanted, sizeof wanted, "error: FOLDER/%s: No such file or directory",
                         names[i]);
                CHECK_STR(read_folder(folder), wanted);
        }
        put_tensors(folder, header, rows, sizeof rows);
        put(folder, "config.json", "no", 2);
        CHECK_STR(read_folder(folder), "error: FOLDER/config.json: it is not JSON");
        put(folder, "config.json", "[]", 2);
        CHECK_STR(read_folder(folder), "error: FOLDER/config.json: it is not a JSON object");
        put(folder, "config.json", "{\"normalize\":1}", 15);
        CHECK_STR(read_folder(folder),
                  "error: FOLDER/config.json: \"normalize\" must be true or false");
        put(folder, "tokenizer.json", unigram, strlen(unigram));
        CHECK(strstr(read_folder(folder), "error: FOLDER/tokenizer.json: ") == shown &&
              strstr(shown, "Unigram") != NULL);
        put(folder, "model.safetensors", "no", 2);
        put(folder, "tokenizer.json", TOKENIZER, strlen(TOKENIZER));
        CHECK(strstr(read_folder(folder), "error: FOLDER/model.safetensors: ") == shown);
        CHECK(ran_vector_folder_open(&(struct ran_vector_folder){0}, folder, NULL) != RAN_OK);
        remove_folder(folder);
}
