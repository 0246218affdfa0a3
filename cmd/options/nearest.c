/* nearest.c - see nearest.h. */
#include "cmd/options/nearest.h"
#include "cmd/options/synonyms.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LONGEST_NAME = 63, SHORTEST_WORD = 4 };

/* ---- misspelt names ------------------------------------------------------------------------- */

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
        unsigned m = a < b ? a : b;

        return m < c ? m : c;
}

/* '_' is as good as '-', as elsewhere. */
static char letter(const char *s, size_t i)
{
        return s[i] == '_' ? '-' : s[i];
}

static bool same(const char *a, const char *b, size_t n)
{
        size_t i = 0;

        while (i < n && letter(a, i) == letter(b, i) && a[i] != '\0')
                i++;
        return i == n || (a[i] == '\0' && b[i] == '\0');
}

/* The edit distance of a and b: letters to insert, remove, replace, or swap with a neighbour. Large
 * when either is too long for a name. */
static unsigned distance(const char *a, const char *b)
{
        unsigned char d[LONGEST_NAME + 1][LONGEST_NAME + 1]; /* of the first i and j letters */
        size_t n = strlen(a), m = strlen(b);

        if (n > LONGEST_NAME || m > LONGEST_NAME)
                return UINT_MAX;
        for (size_t i = 0; i <= n; i++) {
                for (size_t j = 0; j <= m; j++) {
                        if (i == 0 || j == 0) {
                                d[i][j] = (unsigned char)(i + j);
                                continue;
                        }
                        unsigned best =
                                min3(d[i - 1][j] + 1, d[i][j - 1] + 1,
                                     d[i - 1][j - 1] + (letter(a, i - 1) != letter(b, j - 1)));
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                best = min3(best, best, d[i - 2][j - 2] + 1);
                        d[i][j] = (unsigned char)best;
                }
        }
        return d[n][m];
}

/* The mistakes in `given` if it is `name` misspelt, else UINT_MAX. A mistake for every three
 * letters, of the shorter of the two; and who makes more than one has the first letter right:
 * `test` is not `task`, nor `size` `wide`. */
static unsigned mistakes(const char *given, const char *name)
{
        const size_t n = strlen(given), m = strlen(name), shorter = n < m ? n : m;
        const unsigned most = shorter < 9 ? (unsigned)shorter / 3 : 3, d = distance(given, name);

        if (d > most || (d > 1 && given[0] != name[0]))
                return UINT_MAX;
        return d;
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Whether the name `whole` has `part` and a word more, before it or after it. */
static bool has_more(const char *whole, const char *part)
{
        const size_t n = strlen(whole), m = strlen(part);

        if (m < SHORTEST_WORD || n < m + 2)
                return false;
        return (same(whole, part, m) && letter(whole, m) == '-') ||
               (same(whole + n - m, part, m) && letter(whole, n - m - 1) == '-');
}

static bool begins(const char *name, const char *given)
{
        return given[0] != '\0' && same(name, given, strlen(given));
}

/* The other way round, `--size` for `--vocab-size`, it would be a guess. */
static bool has_words_more(const char *name, const char *given)
{
        return has_more(given, name);
}

/* The only name of which that is true. */
static const char *only(bool is(const char *name, const char *given), const char *given,
                        cmd_names *names, const void *arg)
{
        const char *found = NULL, *name;

        for (unsigned i = 0; (name = names(arg, i)) != NULL; i++) {
                if (!is(name, given))
                        continue;
                if (found != NULL)
                        return NULL;
                found = name;
        }
        return found;
}

/* ---- the nearest ---------------------------------------------------------------------------- */

static const char *find(const char *name, cmd_names *names, const void *arg)
{
        const char *ours;

        for (unsigned i = 0; (ours = names(arg, i)) != NULL; i++)
                if (same(ours, name, SIZE_MAX))
                        return ours;
        return NULL;
}

/* Other tools call it so. */
static const char *synonym(const char *given, cmd_names *names, const void *arg)
{
        const char *theirs, *ours, *found = NULL;

        for (unsigned i = 0; found == NULL && (theirs = cmd_synonym_at(i, &ours)) != NULL; i++)
                if (same(theirs, given, SIZE_MAX))
                        found = find(ours, names, arg);
        return found;
}

/* The name with the fewest mistakes, among ours and then among those of other tools. */
static const char *misspelt(const char *given, cmd_names *names, const void *arg)
{
        const char *best = NULL, *ours, *theirs;
        unsigned fewest = UINT_MAX;

        for (unsigned i = 0; (ours = names(arg, i)) != NULL; i++) {
                const unsigned d = mistakes(given, ours);

                if (d < fewest) {
                        best = ours;
                        fewest = d;
                }
        }
        for (unsigned i = 0; (theirs = cmd_synonym_at(i, &ours)) != NULL; i++) {
                const unsigned d = mistakes(given, theirs);
                const char *found = d < fewest ? find(ours, names, arg) : NULL;

                if (found != NULL) {
                        best = found;
                        fewest = d;
                }
        }
        return best;
}

const char *cmd_nearest(const char *given, cmd_names *names, const void *arg)
{
        const char *found = synonym(given, names, arg);

        if (found == NULL)
                found = only(begins, given, names, arg);
        if (found == NULL)
                found = misspelt(given, names, arg);
        return found != NULL ? found : only(has_words_more, given, names, arg);
}
