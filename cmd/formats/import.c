/* import.c - the table of input formats, and functions for any of them. */
#include "cmd/formats/import.h"

#include <stdlib.h>
#include <string.h>

#define X(symbol, name, help) &import_##symbol,
static const struct import_format *const formats[] = {IMPORT_FORMATS(X)};
#undef X
#define X(symbol, name, help) name,
const char *const import_names[] = {"auto", IMPORT_FORMATS(X) NULL};
#undef X

enum { FORMATS = sizeof formats / sizeof formats[0] };

const struct import_format *import_choice(int choice)
{
        return choice > 0 ? formats[choice - 1] : NULL;
}

const char *import_name(const struct import_format *format)
{
        size_t i = 0;

        while (i + 1 < FORMATS && formats[i] != format)
                i++;
        return import_names[i + 1];
}

/* Also with an ending of compressed data behind it: x.csv.gz. */
static bool has_ending_of(const struct import_format *format, const char *file)
{
        const size_t n = unpack_name(file, strlen(file));

        for (const char *const *end = format->endings; end != NULL && *end != NULL; end++) {
                const size_t m = strlen(*end);
                if (n > m && memcmp(file + n - m, *end, m) == 0)
                        return true;
        }
        return false;
}

const struct import_format *import_guess(const char *file, const struct sample *sample,
                                         enum import_match *match)
{
        for (size_t i = 0; i < FORMATS; i++) {
                const struct import_format *f = formats[i];
                *match = f->guess != NULL ? f->guess(sample) : IMPORT_UNLIKE;
                if (f->by_ending && file != NULL && has_ending_of(f, file))
                        *match = IMPORT_CLEAR;
                if (*match != IMPORT_UNLIKE)
                        return f;
        }
        return NULL;
}

bool import_lists(const char *list, const char *s, size_t n)
{
        for (const char *at = list; at != NULL; at = strchr(at, ',')) {
                at += *at == ',';
                if (strcspn(at, ",") == n && (n == 0 || memcmp(at, s, n) == 0))
                        return true;
        }
        return false;
}

bool import_has_ending(const char *file)
{
        for (size_t i = 0; i < FORMATS; i++)
                if (has_ending_of(formats[i], file))
                        return true;
        return false;
}

void import_end(struct import *i)
{
        if (i->format != NULL && i->format->end != NULL)
                i->format->end(i);
        free(i->state);
        i->state = NULL;
}

const char *import_encoding_advice(const char *s, size_t n, size_t valid)
{
        const char before = valid > 0 ? (char)(s[valid - 1] | 0x20) : ' ';
        size_t end = valid;
        bool missing = false;

        for (; end < n && (unsigned char)s[end] >= 0x80; end++)
                missing |= strchr("\x81\x8d\x8f\x90\x9d", s[end]) != NULL;
        /* One character, or two behind a letter. */
        const bool few = end - valid == 1 || (end - valid == 2 && before >= 'a' && before <= 'z');
        return few && !missing ? "Windows-1252? iconv -f WINDOWS-1252 -t UTF-8 FILE"
                               : "iconv converts other encodings";
}

int import_refuse_bytes(const struct text_line *text, size_t valid, size_t *line,
                        struct ran_error *err)
{
        const char *s = text->s, *end = s + valid, *feed;

        while ((feed = memchr(s, '\n', (size_t)(end - s))) != NULL) {
                ++*line;
                s = feed + 1;
        }
        return ran_fail(err, RAN_EFORMAT, "column %zu: this is not valid UTF-8 (%s)",
                        (size_t)(end - s) + 1, import_encoding_advice(text->s, text->n, valid));
}

int import_text_line(const struct import *i, const struct text_line *text, struct ran_buf *out,
                     size_t *line, struct ran_error *err)
{
        struct ran_error why = {0};

        *line = 0;
        if (text->why != NULL && i->format->unit != LINES_FILE)
                return ran_fail(err, RAN_EFORMAT, "the record is left out: %s", text->why);
        const size_t valid = i->format->any_bytes ? text->n : ran_utf8_valid(text->s, text->n);
        int rc = valid < text->n ? import_refuse_bytes(text, valid, line, &why)
                                 : i->format->import(i, text, out, line, &why);
        if (rc == RAN_EFORMAT && i->guessed && !i->header && !i->format->any_bytes &&
            i->format->looks_like != NULL)
                return ran_fail(err, rc,
                                "%s (the first lines of the file look like %s; set the format with "
                                "--%s-format)",
                                why.text, i->format->looks_like, i->option);
        return rc == RAN_OK ? RAN_OK : ran_fail(err, (enum ran_code)rc, "%s", why.text);
}
