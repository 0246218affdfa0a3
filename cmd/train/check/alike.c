/* alike.c - labels that look alike: different case, spaces, characters that cannot be seen,
 * composed letters or not, 1 and 1.0. */
#include "cmd/train/check/check.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"

int train_shown(const char *name)
{
        size_t n = strlen(name);

        if (n > 100)
                for (n = 100; n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80;)
                        n--;
        return (int)n;
}

/* A label without what cannot be seen, or is easily written in two ways. */
struct folded {
        char *text;
        size_t label;
};

static char *fold(const char *name)
{
        struct ran_buf text = {0};
        struct ran_error err = {0};

        if (ran_text_fold(name, strlen(name), &text, &err) != RAN_OK) {
                text.len = 0; /* not UTF-8: whole */
                ran_buf_str(&text, name);
        }
        ran_buf_char(&text, '\0');
        return text.data;
}

static int by_text(const void *a, const void *b)
{
        const struct folded *x = a, *y = b;
        int order = strcmp(x->text, y->text);

        return order != 0 ? order : (x->label > y->label) - (x->label < y->label);
}

/* Whether two labels differ in ASCII case and white space only, as anyone can see. */
static bool differ_visibly(const char *a, const char *b)
{
        for (;; a++, b++) {
                a += strspn(a, " \t_");
                b += strspn(b, " \t_");
                const char x = (char)(*a >= 'A' && *a <= 'Z' ? *a - 'A' + 'a' : *a);
                const char y = (char)(*b >= 'A' && *b <= 'Z' ? *b - 'A' + 'a' : *b);
                if (x != y)
                        return false;
                if (x == '\0')
                        return true;
        }
}

/* "U+00A0", the first character of a text; "its end". */
static void add_code_point(struct ran_buf *out, const char *s)
{
        const unsigned char c = (unsigned char)*s;
        const size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
        unsigned code = n == 1 ? c : c & (0x7fu >> n);

        for (size_t i = 1; i < n && s[i] != '\0'; i++)
                code = code << 6 | ((unsigned char)s[i] & 0x3f);
        if (c == '\0')
                ran_buf_str(out, "the end");
        else
                ran_buf_printf(out, "U+%04X", code);
}

/* Names that look alike differ in these characters, the first that do. */
static void add_difference(struct ran_buf *out, const char *a, const char *b)
{
        size_t at = 0;

        if (differ_visibly(a, b)) {
                ran_buf_str(out, "differ in case or spaces only");
                return;
        }
        while (a[at] != '\0' && a[at] == b[at])
                at++;
        while (at > 0 &&
               (((unsigned char)a[at] & 0xc0) == 0x80 || ((unsigned char)b[at] & 0xc0) == 0x80))
                at--;
        ran_buf_str(out, "look alike (where one has ");
        add_code_point(out, a + at);
        ran_buf_str(out, ", the other has ");
        add_code_point(out, b + at);
        ran_buf_char(out, ')');
}

void train_find_alike(struct train_problems *w, const struct ran_dataset *set, const size_t *count,
                      const char *word)
{
        enum { SHOWN = 3 };
        struct folded *folded = ran_new(set->C, sizeof *folded);
        size_t found = 0;

        for (size_t c = 0; c < set->C; c++)
                folded[c] = (struct folded){fold(set->names[c]), c};
        if (set->C > 0)
                qsort(folded, set->C, sizeof *folded, by_text);
        for (size_t i = 1; i < set->C && found < SHOWN; i++) {
                if (strcmp(folded[i - 1].text, folded[i].text) != 0)
                        continue;
                const size_t a = folded[i - 1].label, b = folded[i].label;
                const char *x = set->names[a], *y = set->names[b];
                struct ran_buf how = {0};

                found++;
                add_difference(&how, x, y);
                train_add_problem(w,
                                  "the %ss \"%.*s\" (%zu times) and \"%.*s\" (%zu times) %.*s: "
                                  "write them alike in the data",
                                  word, train_shown(x), x, count[a], train_shown(y), y, count[b],
                                  (int)how.len, how.data);
                ran_buf_release(&how);
        }
        for (size_t c = 0; c < set->C; c++)
                free(folded[c].text);
        free(folded);
}
