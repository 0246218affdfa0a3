/* beside.h - the folders that are installed beside a program. */
#ifndef CMD_OPTIONS_BESIDE_H
#define CMD_OPTIONS_BESIDE_H

/* The folder "models" or "recipes" that belongs to this program, installed or in the source tree;
 * whether it is there, nobody has looked. NULL: none is known. The caller frees it. */
char *cmd_beside_program(const char *name);

#endif
