/* pattern-code.h - a regular expression as a program. */
#ifndef RAN_TEXT_PATTERN_CODE_H
#define RAN_TEXT_PATTERN_CODE_H

#include "text/steps/pattern-class.h"
#include "text/steps/pattern.h"

enum operation {
        OP_CHAR,  /* a character of class x, then the next instruction */
        OP_SPLIT, /* x or, if that fails, y */
        OP_JUMP,  /* x */
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

/* Compiles an expression. RAN_EFORMAT, RAN_ENOMEM. */
int ran_pattern_compile(struct ran_pattern *p, const char *text, size_t n, struct ran_error *err);

#endif
