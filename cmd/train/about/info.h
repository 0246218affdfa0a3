/* info.h - the verbs that say what a model is, and how two differ. */
#ifndef CMD_TRAIN_ABOUT_INFO_H
#define CMD_TRAIN_ABOUT_INFO_H

enum { TRAIN_INFO_TEXT, TRAIN_INFO_JSON };
extern const char *const train_info_formats[];

struct about;
struct ran_buf;

/* Appends what `ran-train info` prints about a file: a title, and lines of name and value. The name
 * begins in column 2, the value in column TRAIN_INFO_COLUMN; lines without a name continue the
 * value. */
enum { TRAIN_INFO_COLUMN = 20 };
void train_info_text(const struct about *a, struct ran_buf *out);

/* Writes the same as JSON, a line on standard output. */
void train_info_json(const struct about *a);

/* main of `ran-train info FILE...`. */
int train_info(int argc, char **argv);
/* main of `ran-train diff A B`. */
int train_diff(int argc, char **argv);

#endif
