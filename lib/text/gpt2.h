/* gpt2.h - what GPT-2 does to text before its pieces are joined: it cuts it into words, and writes
 * each byte as a character that can be seen. Vocabularies of byte pairs are written in these. Later
 * models cut words in other ways. */
#ifndef RAN_TEXT_GPT2_H
#define RAN_TEXT_GPT2_H

#include "ran/text.h"

/* The first word of a text of n > 0 bytes: its length in bytes, and in characters. All words
 * together are the text. 0 when it does not begin with well-formed UTF-8. */
size_t ran_gpt2_word(const char *text, size_t n, size_t *chars);
/* The same as GPT-4 cuts them, and Llama 3 and Qwen: so many digits to a word at most. */
size_t ran_gpt4_word(const char *text, size_t n, size_t digits, size_t *chars);
/* The digits, numbers of any kind, that a text begins with, `most` at most, in bytes and in
 * characters; and the bytes in front of the first one. */
size_t ran_gpt2_digits(const char *text, size_t n, size_t most, size_t *chars);
size_t ran_gpt2_until_digit(const char *text, size_t n);

/* The character of a byte, and the byte of a character; -1 when it is that of none. */
int32_t ran_gpt2_char(unsigned char byte);
int ran_gpt2_byte(int32_t c);
/* Appends the bytes that a piece, of well-formed UTF-8, stands for to out, which may be NULL;
 * false, and nothing is appended, when one of its characters is that of no byte. */
bool ran_gpt2_bytes(const char *piece, size_t n, struct ran_buf *out);
/* Whether well-formed UTF-8 can hold the byte. */
bool ran_gpt2_byte_occurs(unsigned char byte);

#endif
