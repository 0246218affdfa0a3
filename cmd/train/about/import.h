/* import.h - the verb `import`: a pretrained encoder as a model file. */
#ifndef CMD_TRAIN_ABOUT_IMPORT_H
#define CMD_TRAIN_ABOUT_IMPORT_H

int train_import(int argc, char **argv);

#endif
