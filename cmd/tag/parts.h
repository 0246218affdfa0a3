/* parts.h - a text of many sentences, tagged like sentences in training, by all threads. */
#ifndef CMD_TAG_PARTS_H
#define CMD_TAG_PARTS_H

#include "cmd/tag/words.h"

/* The threads that tag parts of a text share this. */
struct tag_spare *tag_spare_new(struct ran_error *err);
void tag_spare_free(struct tag_spare *spare);

/* Tags s->document; shifts s->positions. The results do not depend on the threads. */
int tag_parts(const struct tagger *t, struct tag_scratch *s, struct ran_error *err);

#endif
