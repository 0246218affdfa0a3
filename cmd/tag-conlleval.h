/* tag-conlleval.h - in the place of the script conlleval. */
#ifndef CMD_TAG_CONLLEVAL_H
#define CMD_TAG_CONLLEVAL_H

/* Reads files of columns (NULL at the end; none: standard input) and writes the score to standard
 * output. Returns the status to end with, which is that of the script: what it refuses is refused
 * with its message, and nothing is on standard output then. Dies with 3 when a file cannot be read.
 */
int tag_conlleval(char **files);

#endif
