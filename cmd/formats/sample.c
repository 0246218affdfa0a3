/* sample.c - the beginning of a file, line by line. */
#include "cmd/formats/lines.h"

#include <string.h>

bool sample_next(const struct sample *sample, size_t *at, const char **line, size_t *n)
{
        if (*at >= sample->n)
                return false;
        *line = sample->s + *at;
        const char *feed = memchr(*line, '\n', sample->n - *at);
        *n = feed != NULL ? (size_t)(feed - *line) : sample->n - *at;
        *at += *n + 1;
        if (*n > 0 && (*line)[*n - 1] == '\r')
                --*n;
        return true;
}

bool sample_is_blank(const char *s, size_t n)
{
        while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t' || s[n - 1] == '\r'))
                n--;
        return n == 0;
}

bool sample_next_full(const struct sample *sample, size_t *at, const char **line, size_t *n)
{
        while (sample_next(sample, at, line, n))
                if (!sample_is_blank(*line, *n))
                        return true;
        return false;
}
