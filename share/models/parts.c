/* parts.c - cut the texts of a corpus into parts, and leave out what test sets contain
 *
 *     cc -O2 -o parts parts.c -lcjson
 *     ./parts 800 test.jsonl... -- corpus.jsonl... >parts.jsonl
 *
 * Reads JSON lines. A part is a run of whole lines of a text, of 800 words or a little more; a
 * line that is much longer is cut after a sentence. Eight words of a test set ("text", "tokens",
 * "source" or "target") that follow each other in a part, in any case and with any punctuation,
 * are an overlap: then the part is left out, and of a text below LONG words all parts are. Texts
 * and parts below SHORT words are left out, too. Tells on stderr what it did.
 */
#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OVERLAP   8     /* words */
#define LONG      20000 /* words of a book: one common phrase must not cost all of it */
#ifndef SHORT
#define SHORT 20 /* words */
#endif
#define LONG_LINE 2     /* times the length of a part */

/* A set of hashes with linear probing; 0 marks a free place. */
struct set {
        uint64_t *slots;
        size_t size, used; /* size is a power of two */
};

/* The hashes of the last words, and of the one that is being read. */
struct reader {
        uint64_t last[OVERLAP], word;
        size_t words;
        bool inside;
};

struct counts {
        size_t texts, parts, dropped, kept, words;
};

static void die(const char *what, const char *name)
{
        fprintf(stderr, "parts: %s%s%s\n", what, *name ? ": " : "", name);
        exit(1);
}

static uint64_t *slot(const struct set *s, uint64_t hash)
{
        size_t i = (hash * 0x9e3779b97f4a7c15u >> 20) & (s->size - 1);

        while (s->slots[i] != 0 && s->slots[i] != hash)
                i = (i + 1) & (s->size - 1);
        return &s->slots[i];
}

static bool set_has(const struct set *s, uint64_t hash)
{
        return s->size > 0 && *slot(s, hash | 1) != 0;
}

static void set_add(struct set *s, uint64_t hash)
{
        if (2 * s->used >= s->size) {
                struct set old = *s;

                s->size = old.size > 0 ? 2 * old.size : 1 << 20;
                s->slots = calloc(s->size, sizeof *s->slots);
                if (s->slots == NULL)
                        die("out of memory", "");
                for (size_t i = 0; i < old.size; i++)
                        if (old.slots[i] != 0)
                                *slot(s, old.slots[i]) = old.slots[i];
                free(old.slots);
        }
        uint64_t *place = slot(s, hash | 1);
        s->used += *place == 0;
        *place = hash | 1;
}

/* Reads a byte. Returns whether it ended a word, and sets *hash to that of the last OVERLAP
 * words, or to 0 where there are not as many. */
static bool reader_step(struct reader *r, unsigned char c, uint64_t *hash)
{
        if (isalnum(c) || c >= 0x80) {
                r->word = ((r->inside ? r->word : 0xcbf29ce484222325u) ^ (uint64_t)tolower(c)) *
                          0x100000001b3u;
                r->inside = true;
                return false;
        }
        if (c == '\'' || !r->inside)
                return false;
        r->inside = false;
        r->last[r->words++ % OVERLAP] = r->word;
        *hash = 0;
        for (size_t i = 0; r->words >= OVERLAP && i < OVERLAP; i++) {
                *hash = (*hash ^ r->last[(r->words + i) % OVERLAP]) * 0xff51afd7ed558ccdu;
                *hash ^= *hash >> 29;
        }
        return true;
}

static void add_test_text(struct set *s, const char *text)
{
        struct reader r = {.words = 0};
        uint64_t hash;

        for (size_t n = strlen(text), i = 0; i <= n; i++)
                if (reader_step(&r, i < n ? (unsigned char)text[i] : ' ', &hash) && hash != 0)
                        set_add(s, hash);
}

/* The words of text[0..n), and whether some of them overlap with the tests. */
static size_t count_words(const struct set *tests, const char *text, size_t n, bool *overlap)
{
        struct reader r = {.words = 0};
        uint64_t hash;

        *overlap = false;
        for (size_t i = 0; i <= n; i++)
                if (reader_step(&r, i < n ? (unsigned char)text[i] : ' ', &hash) && hash != 0)
                        *overlap = *overlap || set_has(tests, hash);
        return r.words;
}

/* The length of the first part of a text. */
static size_t part_length(const char *text, size_t words)
{
        struct reader r = {.words = 0};
        uint64_t hash;
        size_t i = 0;

        for (; text[i] != '\0'; i++) {
                reader_step(&r, (unsigned char)text[i], &hash);
                if (text[i] == '\n' && r.words >= words)
                        break;
                if (text[i] == '.' && text[i + 1] == ' ' && r.words >= LONG_LINE * words)
                        return i + 1;
        }
        return i;
}

static void write_part(const char *text, size_t n)
{
        char *part = strndup(text, n);
        cJSON *record = cJSON_CreateObject();

        if (part == NULL || cJSON_AddStringToObject(record, "text", part) == NULL)
                die("out of memory", "");
        char *line = cJSON_PrintUnformatted(record);
        if (line == NULL)
                die("out of memory", "");
        puts(line);
        free(line);
        cJSON_Delete(record);
        free(part);
}

static void cut_text(const struct set *tests, const char *text, size_t words, struct counts *c)
{
        bool overlap;
        size_t all = count_words(tests, text, strlen(text), &overlap);

        c->texts++;
        if (overlap && all < LONG) {
                c->parts++;
                c->dropped++;
                return;
        }
        while (text += strspn(text, " \n"), *text != '\0') {
                size_t n = part_length(text, words),
                       in_part = count_words(tests, text, n, &overlap);

                c->parts++;
                c->dropped += overlap;
                if (!overlap && in_part >= SHORT) {
                        write_part(text, n);
                        c->kept++;
                        c->words += in_part;
                }
                text += n;
        }
}

static void add_tests(struct set *tests, const cJSON *record)
{
        static const char *const members[] = {"text", "source", "target"};
        const cJSON *token, *tokens = cJSON_GetObjectItem(record, "tokens");
        char *joined = NULL;
        size_t n = 0;
        FILE *f = open_memstream(&joined, &n);

        if (f == NULL)
                die("out of memory", "");
        cJSON_ArrayForEach(token, tokens)
                fprintf(f, "%s ", cJSON_IsString(token) ? token->valuestring : "");
        if (fclose(f) != 0)
                die("out of memory", "");
        add_test_text(tests, joined);
        free(joined);
        for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
                const cJSON *text = cJSON_GetObjectItem(record, members[i]);
                if (cJSON_IsString(text))
                        add_test_text(tests, text->valuestring);
        }
}

/* Reads a file of the tests, or with counts one of the corpus. */
static void read_file(const char *name, struct set *tests, size_t words, struct counts *counts)
{
        FILE *f = fopen(name, "r");
        char *line = NULL;
        size_t size = 0;
        ssize_t n;

        if (f == NULL)
                die("cannot open", name);
        while ((n = getline(&line, &size, f)) > 0) {
                cJSON *record = cJSON_ParseWithLength(line, (size_t)n);
                const cJSON *text = cJSON_GetObjectItem(record, "text");

                if (record == NULL)
                        die("a line is not JSON", name);
                if (counts == NULL)
                        add_tests(tests, record);
                else if (cJSON_IsString(text))
                        cut_text(tests, text->valuestring, words, counts);
                cJSON_Delete(record);
        }
        if (ferror(f))
                die("cannot read", name);
        free(line);
        fclose(f);
}

int main(int argc, char **argv)
{
        struct set tests = {.slots = NULL};
        size_t words = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
        int i = 2;

        if (words == 0)
                die("usage: parts WORDS [test.jsonl...] -- corpus.jsonl...", "");
        for (; i < argc && strcmp(argv[i], "--") != 0; i++)
                read_file(argv[i], &tests, words, NULL);
        fprintf(stderr, "tests: %zu different runs of %d words\n", tests.used, OVERLAP);
        for (i++; i < argc; i++) {
                struct counts c = {.texts = 0};

                read_file(argv[i], &tests, words, &c);
                fprintf(stderr,
                        "%s: %zu texts, %zu parts, %zu left out for an overlap, %zu kept with %zu "
                        "words\n",
                        argv[i], c.texts, c.parts, c.dropped, c.kept, c.words);
        }
        free(tests.slots);
        if (fflush(stdout) != 0 || ferror(stdout))
                die("cannot write", "standard output");
        return 0;
}
