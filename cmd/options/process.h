/* process.h - guards against closed streams, file size limits and truncated mappings. */
#ifndef CMD_OPTIONS_PROCESS_H
#define CMD_OPTIONS_PROCESS_H

/* Guards against closed standard streams, limits of file sizes, and mapped files that become
 * shorter while they are read. cmd_parse calls it first. */
void cmd_process_begin(void);

/* Exits with 2 when RAN_ISA names kernels that this processor or program does not have. */
void cmd_process_check_isa(void);

#endif
