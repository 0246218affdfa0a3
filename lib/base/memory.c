/* memory.c - checked allocation. See ran/base.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ran/base.h"

static int out_of_memory(size_t n, size_t size, struct ran_error *err)
{
        return ran_fail(err, RAN_ENOMEM, "out of memory: %zu x %zu bytes requested", n, size);
}

static void (*on_out_of_memory)(const char *sentence);

void ran_memory_handler(void (*handler)(const char *sentence))
{
        on_out_of_memory = handler;
}

void ran_out_of_memory(size_t n, size_t size)
{
        struct ran_error err;

        out_of_memory(n, size, &err);
        if (on_out_of_memory != NULL)
                on_out_of_memory(err.text);
        fprintf(stderr, "%s\n", err.text);
        _exit(3);
}

void *ran_alloc(size_t n, size_t size, struct ran_error *err)
{
        void *p = n == 0 || size == 0 ? calloc(1, 1) : calloc(n, size);

        if (p == NULL)
                out_of_memory(n, size, err);
        return p;
}

int ran_grow(void *array, size_t *cap, size_t want, size_t size, struct ran_error *err)
{
        void *p;

        memcpy(&p, array, sizeof p);
        if (want <= *cap && p != NULL)
                return RAN_OK;
        size_t n = *cap <= SIZE_MAX / 2 ? *cap * 2 : want;
        if (n < want)
                n = want;
        if (n < 16)
                n = 16;
        if (n > SIZE_MAX / size)
                n = want; /* the doubled size overflows; perhaps the exact one does not */

        p = n > SIZE_MAX / size ? NULL : realloc(p, n * size);
        if (p == NULL)
                return out_of_memory(want, size, err);
        memcpy(array, &p, sizeof p);
        *cap = n;
        return RAN_OK;
}

void *ran_new(size_t n, size_t size)
{
        void *p = ran_alloc(n, size, NULL);

        if (p == NULL)
                ran_out_of_memory(n, size);
        return p;
}

float *ran_new_floats(size_t n)
{
        float *p = ran_alloc_floats(n, NULL);

        if (p == NULL)
                ran_out_of_memory(n, sizeof *p);
        return p;
}

char *ran_copy(const char *s, size_t n)
{
        char *copy = ran_new(n + 1, 1);

        if (n > 0)
                memcpy(copy, s, n);
        return copy;
}

int ran_order(const char *a, size_t n, const char *b, size_t m)
{
        const size_t least = n < m ? n : m;
        const int order = least > 0 ? memcmp(a, b, least) : 0;

        return order != 0 ? order : (n > m) - (n < m);
}

void ran_room(void *array, size_t *cap, size_t want, size_t size)
{
        if (ran_grow(array, cap, want, size, NULL) != RAN_OK)
                ran_out_of_memory(want, size);
}

void ran_memory_huge(void *p, size_t n, bool huge)
{
        const size_t page = (size_t)2 << 20;
        const uintptr_t begin = ((uintptr_t)p + page - 1) / page * page;
        const uintptr_t end = ((uintptr_t)p + n) / page * page;

#ifdef MADV_HUGEPAGE
        if (begin < end)
                madvise((void *)begin, end - begin, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
}

/* Whole pages of memory of malloc get zeros from the system, when they are first touched: an array
 * that nobody uses costs nothing. */
static void clear(char *p, size_t n)
{
        const long size = sysconf(_SC_PAGESIZE);
        const size_t page = size > 0 ? (size_t)size : 4096, least = (size_t)4 << 20;
        char *begin = (char *)(((uintptr_t)p + page - 1) / page * page);
        const size_t whole = n < least ? 0 : (size_t)(p + n - begin) / page * page;

        if (whole == 0 || madvise(begin, whole, MADV_DONTNEED) != 0) {
                memset(p, 0, n);
                return;
        }
        memset(p, 0, (size_t)(begin - p));
        memset(begin + whole, 0, (size_t)(p + n - begin) - whole);
}

float *ran_alloc_floats(size_t n, struct ran_error *err)
{
        const size_t line = 64; /* a cache line, and the widest vector register */

        if (n > (SIZE_MAX - line) / sizeof(float)) {
                out_of_memory(n, sizeof(float), err);
                return NULL;
        }
        size_t bytes = (n * sizeof(float) + line - 1) / line * line;
        float *p = aligned_alloc(line, bytes > 0 ? bytes : line);
        if (p == NULL) {
                out_of_memory(n, sizeof(float), err);
                return NULL;
        }
        ran_memory_huge(p, bytes, true);
        clear((char *)p, bytes > 0 ? bytes : line);
        return p;
}
