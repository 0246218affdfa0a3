/* pattern.h - the regular expressions that occur in a tokenizer.json, over the characters of a
 * text: alternatives, groups, classes, repetition, and a look at one character ahead. Of the
 * matches at a place the first in the order of the expression counts, as in Perl and Oniguruma.
 * Searching takes time linear in the text, whatever the expression: all ways to match are followed
 * at once (R. Cox, "Regular expression matching: the virtual machine approach"). */
#ifndef RAN_TEXT_PATTERN_H
#define RAN_TEXT_PATTERN_H

#include "ran/base.h"

struct ran_pattern;
/* literal: the text itself. NULL: RAN_EFORMAT for what is not supported, and for an expression that
 * matches an empty text; RAN_ENOMEM. */
struct ran_pattern *ran_pattern_new(const char *text, size_t n, bool literal,
                                    struct ran_error *err);
void ran_pattern_free(struct ran_pattern *p);

/* Scratch memory of a search. Zero-initialise. */
struct ran_pattern_scratch {
        struct pattern_thread *thread; /* two lists of them */
        uint64_t *seen;                /* the place at which an instruction was last reached */
        uint32_t *stack;
        size_t thread_cap, seen_cap, stack_cap;
};
void ran_pattern_scratch_release(struct ran_pattern_scratch *s);

/* Finds the first match in well-formed UTF-8 at or after byte `from`; *begin = n if there is none.
 * RAN_ENOMEM. */
int ran_pattern_find(const struct ran_pattern *p, const char *text, size_t n, size_t from,
                     struct ran_pattern_scratch *s, size_t *begin, size_t *end,
                     struct ran_error *err);

#endif
