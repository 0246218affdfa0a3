/* segment-fit.c - which convention of words a tokenised text follows: its words are joined as
 * people write them, and each convention takes them apart. */
#include <string.h>

#include "ran/text.h"
struct span {
        size_t begin, end;
};

void ran_segment_fit_release(struct ran_segment_fit *f)
{
        ran_buf_release(&f->text);
        ran_buf_release(&f->spans);
        *f = (struct ran_segment_fit){0};
}

void ran_segment_fit_begin(struct ran_segment_fit *f)
{
        f->text.len = f->spans.len = 0;
        f->glued = true;
        f->quoted = f->hyphen = false;
        memset(f->marks, 0, sizeof f->marks);
}

static bool is_one_of(const char *word, size_t n, const char *const *list)
{
        for (; *list != NULL; list++)
                if (strlen(*list) == n && memcmp(*list, word, n) == 0)
                        return true;
        return false;
}

/* Whether no space stands before a word; then *open: none stands behind it. */
static bool joins(struct ran_segment_fit *f, const char *word, size_t n, bool *open)
{
        /* clang-format off */
        static const char *const before[] = {
                ".", ",", ";", ":", "!", "?", ")", "]", "}", "%", "'", "'s", "'S", "'m", "'d", "n't",
                "N'T", "'re", "'ve", "'ll", "...", "''", "\xe2\x80\x99s", "-RRB-", "-RSB-", "-RCB-",
                NULL};
        static const char *const behind[] = {"(", "[", "{", "$", "#", "``", "`", "-LRB-", "-LSB-",
                                             "-LCB-", NULL};
        /* clang-format on */

        *open = is_one_of(word, n, behind);
        if (n == 1 && *word == '"') {
                f->quoted = !f->quoted;
                *open = f->quoted;
                return !f->quoted;
        }
        return is_one_of(word, n, before);
}

static bool is_small(char c)
{
        return c >= 'a' && c <= 'z';
}

void ran_segment_fit_word(struct ran_segment_fit *f, const char *word, size_t n)
{
        bool open, join = joins(f, word, n, &open);
        const char *typed = ran_mark_typed(word, n);

        ran_mark_count(f->marks, word, n);
        if (typed != NULL) {
                word = typed;
                n = strlen(typed);
        }
        if (f->hyphen && n > 0 && is_small(*word)) {
                /* "well - known" was "well-known", but "Oslo - Ann" has a dash: takes back the
                 * space before the hyphen, the last word. */
                struct span *last = (struct span *)(f->spans.data + f->spans.len) - 1;

                f->text.data[--last->begin] = '-';
                last->end--;
                f->text.len--;
                f->glued = true;
        }
        f->hyphen = n == 1 && *word == '-' && !f->glued && f->text.len > 0 &&
                    is_small(f->text.data[f->text.len - 1]);
        if (!f->glued && !join)
                ran_buf_char(&f->text, ' ');
        struct span span = {f->text.len, f->text.len + n};
        ran_buf_add(&f->text, word, n);
        ran_buf_add(&f->spans, &span, sizeof span);
        f->glued = open;
}

static void compare(const struct ran_segment_fit *f, int convention,
                    struct ran_segment_count *count)
{
        const size_t words = f->spans.len / sizeof(struct span);
        struct ran_segments s;
        struct span word;
        size_t begin, end, i = 0;
        bool first;

        ran_segments_begin(&s, convention, f->text.data, f->text.len);
        while (ran_segments_next(&s, &begin, &end, &first)) {
                count->found[convention]++;
                for (; i < words; i++) {
                        memcpy(&word, f->spans.data + i * sizeof word, sizeof word);
                        if (word.end >= end)
                                break;
                }
                count->right[convention] += i < words && word.begin == begin && word.end == end;
        }
}

void ran_segment_fit_end(struct ran_segment_fit *f, struct ran_segment_count *count)
{
        if (f->text.len == 0 || ran_utf8_valid(f->text.data, f->text.len) < f->text.len)
                return;
        count->words += f->spans.len / sizeof(struct span);
        for (size_t i = 0; i < RAN_MARK_COUNT; i++)
                count->marks[i] += f->marks[i];
        for (int i = 0; i < RAN_SEGMENT_COUNT; i++)
                compare(f, i, count);
}

void ran_segment_count_add(struct ran_segment_count *to, const struct ran_segment_count *from)
{
        to->words += from->words;
        for (size_t i = 0; i < RAN_SEGMENT_COUNT; i++) {
                to->found[i] += from->found[i];
                to->right[i] += from->right[i];
        }
        for (size_t i = 0; i < RAN_MARK_COUNT; i++)
                to->marks[i] += from->marks[i];
}

static double f1_of(const struct ran_segment_count *count, int convention)
{
        const double both = (double)count->found[convention] + (double)count->words;

        return both > 0 ? 2 * (double)count->right[convention] / both : 0;
}

/* Where several fit equally well, the simplest: a vocabulary splits at punctuation by itself. But
 * marks of the Penn Treebank are a sign of its words. */
int ran_segment_count_best(const struct ran_segment_count *count)
{
        static const int order[] = {RAN_SEGMENT_PUNCTUATION, RAN_SEGMENT_CONLL, RAN_SEGMENT_PTB,
                                    RAN_SEGMENT_UD, RAN_SEGMENT_SPACES};
        int best = order[0];

        for (size_t i = 1; i < sizeof order / sizeof *order; i++)
                if (f1_of(count, order[i]) > f1_of(count, best))
                        best = order[i];
        if (ran_mark_treebank(count->marks) && f1_of(count, RAN_SEGMENT_PTB) >= f1_of(count, best))
                return RAN_SEGMENT_PTB;
        return best;
}
