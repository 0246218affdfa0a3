/* alike.c - labels that look alike: different case, spaces, characters that cannot be seen,
 * composed letters or not, 1 and 1.0. */
#include "cmd/content/labels.h"

#include <stdlib.h>
#include <string.h>

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
        const struct cmd_folded *x = a, *y = b;
        int order = strcmp(x->text, y->text);

        return order != 0 ? order : (x->label > y->label) - (x->label < y->label);
}

struct cmd_folded *cmd_folded_new(char *const *names, size_t n)
{
        struct cmd_folded *folded = ran_new(n, sizeof *folded);

        for (size_t i = 0; i < n; i++)
                folded[i] = (struct cmd_folded){fold(names[i]), i};
        if (n > 0)
                qsort(folded, n, sizeof *folded, by_text);
        return folded;
}

void cmd_folded_free(struct cmd_folded *folded, size_t n)
{
        for (size_t i = 0; folded != NULL && i < n; i++)
                free(folded[i].text);
        free(folded);
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

/* "U+00A0", the first character of a text that has one. */
static void add_code_point(struct ran_buf *out, const char *s)
{
        const unsigned char c = (unsigned char)*s;
        const size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
        unsigned code = n == 1 ? c : c & (0x7fu >> n);

        for (size_t i = 1; i < n && s[i] != '\0'; i++)
                code = code << 6 | ((unsigned char)s[i] & 0x3f);
        ran_buf_printf(out, "U+%04X", code);
}

void cmd_label_difference(struct ran_buf *out, const char *a, const char *b)
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
        if (a[at] == '\0' || b[at] == '\0') {
                ran_buf_str(out, "look alike (one goes on with ");
        } else {
                ran_buf_str(out, "look alike (where one has ");
                add_code_point(out, a + at);
                ran_buf_str(out, ", the other has ");
        }
        add_code_point(out, b[at] != '\0' ? b + at : a + at);
        ran_buf_char(out, ')');
}

const char *cmd_label_like(const struct cmd_folded *folded, char *const *names, size_t n,
                           const char *name)
{
        const struct cmd_folded wanted = {fold(name), 0};
        size_t begin = 0, end = n;

        while (begin < end) {
                const size_t middle = begin + (end - begin) / 2;

                if (by_text(&folded[middle], &wanted) < 0)
                        begin = middle + 1;
                else
                        end = middle;
        }
        while (begin < n && strcmp(folded[begin].text, wanted.text) == 0 &&
               strcmp(names[folded[begin].label], name) == 0)
                begin++;
        const bool found = begin < n && strcmp(folded[begin].text, wanted.text) == 0;
        free(wanted.text);
        return found ? names[folded[begin].label] : NULL;
}
