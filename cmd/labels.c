/* labels.c - the gold labels of a record. */
#include <stdlib.h>

#include "labels.h"

void cmd_labels_release(struct cmd_labels *l)
{
        ran_buf_release(&l->names);
        free(l->end);
        *l = (struct cmd_labels){0};
}

static int add_label(struct cmd_labels *l, const char *line, struct ran_span value, char type,
                     struct ran_error *err)
{
        size_t *grown = ran_grow(l->end, &l->cap, l->n + 1, sizeof(*grown), err);

        if (grown == NULL)
                return RAN_ENOMEM;
        l->end = grown;
        if (type == 's') {
                int code = ran_json_decode(line, value, &l->names, err);
                if (code != RAN_OK)
                        return code;
        } else if (type == 'n') {
                ran_buf_add(&l->names, line + value.begin, value.end - value.begin);
        } else {
                return ran_fail(err, RAN_EFORMAT, "a label must be a string or a number");
        }
        if (l->names.failed)
                return ran_fail(err, RAN_ENOMEM, "no memory for the labels of a record");
        l->end[l->n++] = l->names.len;
        return RAN_OK;
}

static int add_labels(struct cmd_labels *l, const char *line, const struct ran_member *m,
                      struct ran_error *err)
{
        struct ran_span item;
        size_t pos = 0;
        char type;

        if (m->type != 'a')
                return ran_fail(err, RAN_EFORMAT, "\"labels\" must be an array");
        while (ran_json_next(line, m->value, &pos, NULL, &item, &type)) {
                int code = add_label(l, line, item, type, err);
                if (code != RAN_OK)
                        return code;
        }
        return RAN_OK;
}

int cmd_labels_read(struct cmd_labels *l, const struct ran_record *record, struct ran_error *err)
{
        const struct ran_member *one = ran_record_find(record, "label", NULL);
        const struct ran_member *several = ran_record_find(record, "labels", NULL);

        if (one != NULL && one->type == '0')
                one = NULL;
        if (several != NULL && several->type == '0')
                several = NULL;
        l->n = l->names.len = 0;
        l->present = one != NULL || several != NULL;
        l->several = several != NULL;
        if (one != NULL && several != NULL)
                return ran_fail(err, RAN_EFORMAT, "both \"label\" and \"labels\" are given");
        if (several != NULL)
                return add_labels(l, record->line, several, err);
        if (one != NULL)
                return add_label(l, record->line, one->value, one->type, err);
        return RAN_OK;
}
