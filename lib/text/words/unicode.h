/* unicode.h - character properties for the rules of BERT, as in the library of Hugging Face. The
 * data is libutf8proc's. */
#ifndef RAN_TEXT_UNICODE_H
#define RAN_TEXT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The property White_Space. */
bool ran_unicode_is_space(int32_t c);
/* Every ASCII character that is neither letter, digit, space nor control ("$" and "`" too), and the
 * categories P*. */
bool ran_unicode_is_punct(int32_t c);
/* \\w in the regular expressions of Hugging Face: letters, marks, digits, connectors. */
bool ran_unicode_is_word(int32_t c);
/* The CJK ideographs that BERT makes words of their own; not kana and hangul. */
bool ran_unicode_is_cjk(int32_t c);
/* Categories Cc and Cf, U+0000 and U+FFFD, but not tab, line feed and carriage return. */
bool ran_unicode_is_control(int32_t c);
bool ran_unicode_is_number(int32_t c); /* Nd, Nl and No */
bool ran_unicode_is_mark(int32_t c);   /* Mn, Mc and Me */
/* May c join a starter before it, under canonical composition? Never wrongly "no". */
bool ran_unicode_may_compose(int32_t c);
unsigned ran_unicode_combining_class(int32_t c);

/* Writes c as UTF-8 at s (4 bytes of room); returns its length in bytes. */
size_t ran_unicode_put(char *s, int32_t c);
/* The first character of n > 0 bytes, and its length; -1 and 1 if they are not UTF-8. */
int32_t ran_unicode_get(const char *s, size_t n, size_t *length);
/* Bytes of the first character of well-formed UTF-8; n > 0. */
size_t ran_unicode_length(const char *s, size_t n);
/* Where the last character of s before `end` > 0 begins. */
size_t ran_unicode_last(const char *s, size_t end);
/* Bytes of white space at the beginning, and at the end. */
size_t ran_unicode_space(const char *s, size_t n);
size_t ran_unicode_trailing_space(const char *s, size_t n);
/* Code points of well-formed UTF-8. */
size_t ran_unicode_count(const char *s, size_t n);

#endif
