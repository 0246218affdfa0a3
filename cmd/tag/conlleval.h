/* conlleval.h - the score of the script conlleval. */
#ifndef CMD_TAG_CONLLEVAL_H
#define CMD_TAG_CONLLEVAL_H

/* Reads files of columns (NULL at the end; none: standard input) and writes the score to a file, or
 * to standard output where that is NULL. Returns the status to end with, which is that of the
 * script: what it refuses is refused with its message, and nothing is written then. Dies with 3
 * when a file cannot be read. */
int tag_conlleval(char **files, const char *output);

#endif
