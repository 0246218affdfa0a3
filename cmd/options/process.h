/* process.h - what the system may do to a program. */
#ifndef CMD_OPTIONS_PROCESS_H
#define CMD_OPTIONS_PROCESS_H

/* Guards against closed standard streams, limits of file sizes, and mapped files that become
 * shorter while they are read. First thing in cmd_parse. */
void cmd_process_begin(void);

/* Exits with 2 when RAN_ISA names kernels that this processor or program does not have. */
void cmd_process_check_isa(void);

#endif
