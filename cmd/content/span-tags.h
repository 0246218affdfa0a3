/* span-tags.h - the tags of words, from spans of characters. */
#ifndef CMD_CONTENT_SPAN_TAGS_H
#define CMD_CONTENT_SPAN_TAGS_H

#include "cmd/formats/record.h"
#include "cmd/content/document.h"
#include "cmd/content/labels.h"
#include "ran.h"

/* Reads the spans of a record, in code points, as tags of its document, which was read
 * by words and has some: in IOB2, as from cmd_labels_read_tags. Without spans, `present` is false.
 * RAN_EFORMAT for spans that overlap, are out of range or do not start and end at words, and for a
 * document that is no text. */
int cmd_span_tags_read(struct cmd_labels *l, const struct cmd_document *d,
                       const struct record *record, struct ran_error *err);

#endif
