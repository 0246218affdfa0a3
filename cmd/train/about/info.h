/* info.h - the verbs that say what a model is, and how two differ. */
#ifndef CMD_TRAIN_ABOUT_INFO_H
#define CMD_TRAIN_ABOUT_INFO_H

enum { TRAIN_INFO_TEXT, TRAIN_INFO_JSON };
extern const char *const train_info_formats[];

/* main of `ran-train info FILE...`. */
int train_info(int argc, char **argv);
/* main of `ran-train diff A B`. */
int train_diff(int argc, char **argv);

#endif
