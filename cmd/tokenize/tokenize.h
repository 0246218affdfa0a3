/* tokenize.h - the verbs of ran-tokenize, a main each. */
#ifndef CMD_TOKENIZE_TOKENIZE_H
#define CMD_TOKENIZE_TOKENIZE_H

/* tokenize/learn.c */
int tokenize_learn(int argc, char **argv);
/* tokenize/encode.c */
int tokenize_encode(int argc, char **argv);
int tokenize_decode(int argc, char **argv);
/* tokenize/records.c */
int tokenize_records(int argc, char **argv);
/* tokenize/duplicates.c */
int tokenize_duplicates(int argc, char **argv);

#endif
