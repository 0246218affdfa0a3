/* gpt2.h - GPT-2's steps before merging: it splits text into words and represents each byte by a
 * printable character, as vocabularies of byte pairs do. Later models split words differently. */
#ifndef RAN_TEXT_GPT2_H
#define RAN_TEXT_GPT2_H

#include "ran/text.h"

/* The length of the first word of a text of n > 0 bytes, in bytes and in *chars; the words together
 * are the text. 0 if it does not begin with valid UTF-8. */
size_t ran_gpt2_word(const char *text, size_t n, size_t *chars);
/* The same as GPT-4, Llama 3 and Qwen split words, with at most `digits` digits in one. */
size_t ran_gpt4_word(const char *text, size_t n, size_t digits, size_t *chars);
/* The length of the digits (numbers of any kind) at the start of a text, `most` at most, in bytes
 * and in *chars; and the number of bytes before the first digit. */
size_t ran_gpt2_digits(const char *text, size_t n, size_t most, size_t *chars);
size_t ran_gpt2_until_digit(const char *text, size_t n);

/* The character for a byte, and the byte of a character, or -1. */
int32_t ran_gpt2_char(unsigned char byte);
int ran_gpt2_byte(int32_t c);
/* Appends the bytes of a token (valid UTF-8) to out, which may be NULL. False, without
 * appending, if one of its characters represents no byte. */
bool ran_gpt2_bytes(const char *token, size_t n, struct ran_buf *out);
/* Whether the byte can occur in UTF-8. */
bool ran_gpt2_byte_occurs(unsigned char byte);

#endif
