/* convert.h - the verb `convert`: a model with its weights stored in another way. */
#ifndef CMD_TRAIN_ABOUT_CONVERT_H
#define CMD_TRAIN_ABOUT_CONVERT_H

/* The help of --weights, wherever a model is written. */
#define TRAIN_WEIGHTS_HELP                                                                     \
        "how the model stores its weights: in 32 bits, in 16, or in 8 with a scale a row, in " \
        "half "                                                                                \
        "or a quarter of the size"

int train_convert(int argc, char **argv);

#endif
