/* span-tags.h - tags for the words of a text, from spans of its characters. */
#ifndef CMD_RECORDS_SPAN_TAGS_H
#define CMD_RECORDS_SPAN_TAGS_H

#include "cmd/records/document.h"
#include "cmd/records/labels.h"
#include "ran.h"

/* Of a document that was read by words and has some: what the spans of its record (shapes.h), in
 * code points, say about them, as cmd_labels_read_tags would give it in IOB2; nothing is present
 * without spans. RAN_EFORMAT for spans that overlap, are out of range or do not begin and end where
 * words do, and for a document that is no text. */
#define CMD_SPAN_TAGS_MEMBERS "spans", "entities", "label", "labels", "annotations"
int cmd_span_tags_read(struct cmd_labels *l, const struct cmd_document *d,
                       const struct ran_record *record, struct ran_error *err);

#endif
