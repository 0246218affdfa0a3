/* distil.h - `ran-train distil`. */
#ifndef CMD_TRAIN_DISTIL_H
#define CMD_TRAIN_DISTIL_H

int train_distil(int argc, char **argv);

#endif
