/* conlleval.h - the score of the script conlleval. */
#ifndef CMD_TAG_CONLLEVAL_H
#define CMD_TAG_CONLLEVAL_H

/* Reads files of columns (NULL at the end; none: standard input) and writes the score to a file, or
 * to standard output for NULL. Returns the status of the script: input that it refuses is refused
 * with its message, and then nothing is written. Dies with 3 when a file cannot be read. */
int tag_conlleval(char **files, const char *output);

#endif
