/* split.h - how a model wants a text split into words. */
#ifndef CMD_TAG_SPLIT_H
#define CMD_TAG_SPLIT_H

#include "cmd/tag/words.h"

/* Sets t->split and t->marks by --split-at and by what the model says of its training data. */
void tag_split_choose(struct tagger *t);

#endif
