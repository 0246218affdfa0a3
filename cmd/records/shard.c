/* shard.c - the part of the input for this process: --shard I/N. */
#include "cmd/records/run.h"

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

/* The end of part i of n, and the beginning of the next one. */
static uint64_t boundary(uint64_t all, size_t i, size_t n)
{
        return all / n * i + all % n * i / n;
}

void shard_init(struct shard *s, const char *text, char **files)
{
        const char *slash = text != NULL ? strchr(text, '/') : NULL;
        size_t which, of;
        uint64_t all = 0, size;

        *s = (struct shard){.to = UINT64_MAX};
        if (text == NULL)
                return;
        if (slash == NULL || !ran_parse_size(text, (size_t)(slash - text), &which) ||
            !ran_parse_size(slash + 1, strlen(slash + 1), &of) || which < 1 || which > of ||
            of > MOST)
                cmd_usage("--shard %s: give I/N, part I of N, as in 1/4 to 4/4 (N at most %d)",
                          text, MOST);
        for (; *files != NULL; files++) {
                if (!shard_size(*files, &size))
                        cmd_usage(
                                "--shard needs the sizes of files, and %s has none: give files, or "
                                "split the input with split or parallel --pipe",
                                strcmp(*files, "-") == 0 ? "standard input" : *files);
                all += size;
        }
        s->from = boundary(all, which - 1, of);
        if (which < of)
                s->to = boundary(all, which, of);
}
