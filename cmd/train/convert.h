/* convert.h - the verb `convert`: a model with its weights stored in another way. */
#ifndef CMD_TRAIN_CONVERT_H
#define CMD_TRAIN_CONVERT_H

int train_convert(int argc, char **argv);

#endif
