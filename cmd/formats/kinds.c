/* kinds.c - files that are not text, by their first bytes. */
#include "cmd/formats/import.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define AS_TEXT    "save the text as plain text in UTF-8 first"
#define AS_LINES   "make JSON lines of it first, with pandas or DuckDB for example"
#define AS_PLAIN   UNPACKED "; save a spreadsheet as CSV, a document as plain text"
#define NO_TEXT    "only text can be read"
#define UNPACKED   "unpack it first"
#define FROM_UTF16 "convert it: iconv -f UTF-16 -t UTF-8 FILE"
#define FROM_UTF32 "convert it: iconv -f UTF-32 -t UTF-8 FILE"

static const struct magic {
        size_t at, n;
        const char *bytes; /* (n) */
        struct kind kind;
} magics[] = {
        {0, 4, "PAR1", {"a Parquet file", AS_LINES}},
        {0, 4, "GGUF", {"a model in GGUF", NO_TEXT}},
        {0, 6, "ARROW1", {"an Arrow file", AS_LINES}},
        {0, 4, "Obj\x01", {"an Avro file", AS_LINES}},
        {0, 15, "SQLite format 3", {"an SQLite database", AS_LINES}},
        {0, 4, "\x89HDF", {"an HDF5 file", AS_LINES}},
        {0, 4, "PK\x03\x04", {"a ZIP archive (.zip, .xlsx, .docx, .odt)", AS_PLAIN}},
        {0, 4, "\xd0\xcf\x11\xe0", {"a document of an old Office (.doc, .xls)", AS_TEXT}},
        {0, 5, "{\\rtf", {"a document in RTF", AS_TEXT}},
        {0, 5, "%PDF-", {"a PDF document", "make text of it first: pdftotext FILE.pdf"}},
        {0, 4, "%!PS", {"a PostScript document", "make text of it first: ps2ascii FILE.ps"}},
        {0, 6, "7z\xbc\xaf\x27\x1c", {"a 7z archive", UNPACKED}},
        {0, 5, "Rar!\x1a", {"a RAR archive", UNPACKED}},
        {257, 5, "ustar", {"a tar archive", "unpack it first: tar -xf FILE"}},
        {4, 6, "1AY&SY", {"compressed with bzip2", "unpack it first: bzcat FILE | ..."}},
        {0, 4, "\x04\x22\x4d\x18", {"compressed with lz4", "unpack it first: lz4 -dc FILE | ..."}},
        {0, 2, "\x1f\x9d", {"compressed with compress", "unpack it first: zcat FILE | ..."}},
        {0, 2, "\x1f\x8b", {"compressed with gzip", "unpack it first: gzip -dc FILE | ..."}},
        {0, 4, "\x28\xb5\x2f\xfd", {"compressed with zstd", UNPACKED ": zstd -dc FILE | ..."}},
        {0, 5, "\xfd\x37zXZ", {"compressed with xz", "unpack it first: xz -dc FILE | ..."}},
        {0, 4, "\x89PNG", {"a picture", NO_TEXT}},
        {0, 3, "\xff\xd8\xff", {"a picture", NO_TEXT}},
        {0, 6, "GIF89a", {"a picture", NO_TEXT}},
        {0, 4, "\177ELF", {"a program", NO_TEXT}},
        {0, 3, "\x80\x04\x95", {"a pickle of Python", AS_LINES}},
        {0, 4, "\xff\xfe\0\0", {"text in UTF-32", FROM_UTF32}},
        {0, 4, "\0\0\xfe\xff", {"text in UTF-32", FROM_UTF32}},
        {0, 2, "\xff\xfe", {"text in UTF-16", FROM_UTF16}},
        {0, 2, "\xfe\xff", {"text in UTF-16", FROM_UTF16}},
};

/* Text in which all bytes of a character but one, at `at`, are zeros. */
static const struct {
        size_t width, at;
        struct kind kind;
} wide[] = {
        {2, 0, {"text in UTF-16", "convert it: iconv -f UTF-16LE -t UTF-8 FILE"}},
        {2, 1, {"text in UTF-16", "convert it: iconv -f UTF-16BE -t UTF-8 FILE"}},
        {4, 0, {"text in UTF-32", "convert it: iconv -f UTF-32LE -t UTF-8 FILE"}},
        {4, 3, {"text in UTF-32", "convert it: iconv -f UTF-32BE -t UTF-8 FILE"}},
};

static const struct kind model = {"a model",
                                  "give models to -m (or --init), and documents as files"},
                         vocabulary = {"a vocabulary",
                                       "give it to --vocab, and documents as files"},
                         lines = {"a file of JSON lines", ""}, object = {"a JSON file", ""},
                         text = {"a text file", ""};

/* Of each character of so many bytes, a few in ASCII, all bytes but one are zeros. */
static bool is_wide(const char *s, size_t n, size_t width, size_t at)
{
        for (size_t i = 0; i < 4 * width; i++)
                if (i >= n || (s[i] != '\0') != (i % width == at))
                        return false;
        return true;
}

/* safetensors: the size of the header, and an object. */
static bool is_model(const char *s, size_t n)
{
        uint64_t size = 0;

        for (size_t i = 0; i < 8 && n > 9; i++)
                size |= (uint64_t)(unsigned char)s[i] << (8 * i);
        return n > 9 && size > 1 && size < (uint64_t)1 << 32 && s[8] == '{' &&
               (s[9] == '"' || s[9] == '}' || s[9] == ' ');
}

static bool has(const char *s, size_t n, const char *what)
{
        return memmem(s, n, what, strlen(what)) != NULL;
}

const struct kind *kind_of(const char *s, size_t n)
{
        if (n > KIND_BYTES)
                n = KIND_BYTES;
        for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
                const struct magic *m = &magics[i];
                if (n >= m->at + m->n && memcmp(s + m->at, m->bytes, m->n) == 0)
                        return &m->kind;
        }
        for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
                if (is_wide(s, n, wide[i].width, wide[i].at))
                        return &wide[i].kind;
        if (is_model(s, n))
                return &model;
        if (n > 0 && s[0] == '{' && has(s, n, "\"added_tokens\"") && has(s, n, "\"truncation\""))
                return &vocabulary;
        return NULL;
}

const struct kind *kind_of_file(const char *path)
{
        char s[KIND_BYTES];
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        ssize_t got = fd >= 0 ? read(fd, s, sizeof s) : -1;
        const struct kind *kind = NULL;

        if (fd >= 0)
                close(fd);
        if (got <= 0)
                return NULL;
        size_t n = (size_t)got, valid = ran_utf8_valid(s, n);
        kind = kind_of(s, n);
        if (kind == NULL && s[0] == '{' && valid > 0) {
                const char *feed = memchr(s, '\n', n);
                kind = (feed != NULL && feed + 1 < s + n && feed[1] == '{') || has(s, n, "\"text\"")
                               ? &lines
                               : &object;
        }
        if (kind == NULL && n - valid < 4 && memchr(s, '\0', n) == NULL)
                kind = &text;
        return kind;
}
