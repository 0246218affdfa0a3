/* fasttext.h - labels and text on a line: fastText's format. */
#ifndef CMD_FORMATS_FASTTEXT_H
#define CMD_FORMATS_FASTTEXT_H

#include "ran.h"

#define FASTTEXT_PREFIX "__label__"

/* The characters that separate words for fastText; a NUL, too. */
bool fasttext_is_space(char c);

#endif
