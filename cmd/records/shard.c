/* shard.c - which part of the input this process reads: --shard I/N. */
#include "cmd/records/shard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/options/message.h"

enum { MOST = 1000000 }; /* parts */

bool shard_size(const char *file, uint64_t *size)
{
        struct stat st;
        off_t at = 0;

        *size = 0;
        if (strcmp(file, "-") != 0) {
                if (stat(file, &st) != 0)
                        return true; /* opening it will say why not */
                if (!S_ISREG(st.st_mode))
                        return false;
        } else if (fstat(STDIN_FILENO, &st) != 0 || !S_ISREG(st.st_mode) ||
                   (at = lseek(STDIN_FILENO, 0, SEEK_CUR)) < 0) {
                return false;
        }
        *size = st.st_size > at ? (uint64_t)(st.st_size - at) : 0;
        return true;
}

static bool parse_number(const char **s, unsigned long *n)
{
        char *end;

        if (**s < '0' || **s > '9')
                return false;
        *n = strtoul(*s, &end, 10);
        *s = end;
        return *n >= 1 && *n <= MOST;
}

static bool parse(const char *s, unsigned long *which, unsigned long *of)
{
        return parse_number(&s, which) && *s++ == '/' && parse_number(&s, of) && *s == '\0' &&
               *which <= *of;
}

/* Where the part after the first i of n begins. */
static uint64_t cut(uint64_t all, unsigned long i, unsigned long n)
{
        return all / n * i + all % n * i / n;
}

void shard_init(struct shard *s, const char *text, char **files)
{
        unsigned long which, of;
        uint64_t all = 0, size;

        *s = (struct shard){.to = UINT64_MAX};
        if (text == NULL)
                return;
        if (!parse(text, &which, &of))
                cmd_usage(
                        "--shard %s: give I/N, the I-th of N parts, as in 1/4 to 4/4 (%d at most)",
                        text, MOST);
        for (; *files != NULL; files++) {
                if (!shard_size(*files, &size))
                        cmd_usage("--shard cuts files at their sizes, and %s has none: give files, "
                                  "or cut the input with split or parallel --pipe",
                                  strcmp(*files, "-") == 0 ? "standard input" : *files);
                all += size;
        }
        s->from = cut(all, which - 1, of);
        if (which < of)
                s->to = cut(all, which, of);
}
