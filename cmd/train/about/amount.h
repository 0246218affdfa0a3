/* amount.h - times, counts and rates as people read them. */
#ifndef CMD_TRAIN_ABOUT_AMOUNT_H
#define CMD_TRAIN_ABOUT_AMOUNT_H

/* "0:12:40"; the buffer is large enough for any time. */
const char *train_duration(char text[32], double seconds);
/* "81.2k", "1.2M": three or four digits, for counts and rates. */
const char *train_amount(char text[32], double x);

#endif
