/* look.h - what the text of a document looks like: quotes around it, and its letters. */
#ifndef CMD_TRAIN_READ_LOOK_H
#define CMD_TRAIN_READ_LOOK_H

#include "ran.h"

/* Scripts that are told apart, and their names. */
#define TRAIN_SCRIPTS(X)              \
        X(LATIN, "Latin")             \
        X(GREEK, "Greek")             \
        X(CYRILLIC, "Cyrillic")       \
        X(HEBREW, "Hebrew")           \
        X(ARABIC, "Arabic")           \
        X(INDIC, "Indic")             \
        X(THAI, "Thai")               \
        X(HAN, "Chinese or Japanese") \
        X(HANGUL, "Korean")
#define TRAIN_SCRIPT_NUMBER(symbol, name) TRAIN_##symbol,
enum train_script { TRAIN_SCRIPTS(TRAIN_SCRIPT_NUMBER) TRAIN_SCRIPT_COUNT };
extern const char *const train_script_names[TRAIN_SCRIPT_COUNT];

struct train_look {
        bool quoted;              /* it begins and ends with a quote */
        enum train_script script; /* of most letters at its beginning; _COUNT: it has none */
};
/* Looks at n bytes of UTF-8. */
struct train_look train_look(const char *s, size_t n);

#endif
