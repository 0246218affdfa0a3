/* pattern-class.h - classes of characters in regular expressions. */
#ifndef RAN_TEXT_PATTERN_CLASS_H
#define RAN_TEXT_PATTERN_CLASS_H

#include "ran/base.h"

/* A class is a list of parts; a character belongs to it if one of them holds, or, with `negated`,
 * if none does. */
enum class_kind {
        CLASS_RANGE,      /* low to high */
        CLASS_CATEGORIES, /* general categories: low is a set of bits */
        CLASS_SPACE,      /* \s */
        CLASS_WORD,       /* \w */
        CLASS_NESTED,     /* class number low */
        CLASS_BOTH,       /* classes number low and high */
};
struct class_part {
        enum class_kind kind;
        bool negated;
        int32_t low, high;
};
struct ran_class {
        struct class_part *part;
        size_t n, cap;
        bool negated, any_case;
        uint64_t below[4]; /* the characters below 256, when the class is complete */
};
struct ran_classes {
        struct ran_class *at;
        size_t n, cap;
};
void ran_classes_release(struct ran_classes *all);
/* Adds an empty class; its number in *id. RAN_ENOMEM. */
int ran_classes_add(struct ran_classes *all, bool negated, bool any_case, size_t *id,
                    struct ran_error *err);
int ran_class_add(struct ran_classes *all, size_t id, struct class_part part,
                  struct ran_error *err);
/* Reads the name behind \p or \P, in braces. RAN_EFORMAT. */
int ran_class_category(const char *name, size_t n, struct class_part *part, struct ran_error *err);
/* After the last part. */
void ran_class_finish(struct ran_classes *all, size_t id);
bool ran_class_has(const struct ran_classes *all, size_t id, int32_t c);

#endif
