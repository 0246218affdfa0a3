/* pattern-code.h - a regular expression as a program. */
#ifndef RAN_TEXT_PATTERN_CODE_H
#define RAN_TEXT_PATTERN_CODE_H

#include "text/steps/steps.h"

/* ---- classes of characters ------------------------------------------------------------------- */

/* A class is a list of parts; a character belongs to it if one of them holds. */
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
        bool any_case;
        uint64_t below[4]; /* the characters below 256, when the class is complete */
};
struct ran_classes {
        struct ran_class *at;
        size_t n, cap;
};
/* Adds an empty class; returns its number. */
size_t ran_classes_add(struct ran_classes *all, bool any_case);
void ran_class_add(struct ran_classes *all, size_t id, struct class_part part);
/* Reads the name behind \p or \P, in braces. RAN_EFORMAT. */
int ran_class_category(const char *name, size_t n, struct class_part *part, struct ran_error *err);
/* After the last part. */
void ran_class_finish(struct ran_classes *all, size_t id);
/* A class of one part. */
size_t ran_class_of(struct ran_classes *all, bool any_case, struct class_part part);
bool ran_class_has(const struct ran_classes *all, size_t id, int32_t c);

/* ---- programs -------------------------------------------------------------------------------- */

enum operation {
        OP_CHAR,  /* a character of class x, then the next instruction */
        OP_SPLIT, /* x or, if that fails, y: so many instructions on, modulo 2^32 */
        OP_JUMP,  /* x, likewise */
        OP_LOOK,  /* goes on if the next character is of class x */
        OP_NOT,   /* goes on if there is none, or it is not of class x */
        OP_BEGIN, /* of the text */
        OP_END,
        OP_MATCH,
};
struct instruction {
        enum operation op;
        uint32_t x, y;
};

struct ran_pattern {
        struct instruction *code;
        size_t n, cap;
        struct ran_classes classes;
        char *literal; /* the text to find, instead */
        size_t literal_n;
        bool first[256]; /* the bytes that a match may begin with */
};

/* Compiles an expression. RAN_EFORMAT. */
int ran_pattern_compile(struct ran_pattern *p, const char *text, size_t n, struct ran_error *err);

#endif
