/* names.c - names of labels or tags that are numbers in records. */
#include "cmd/content/labels.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/options/message.h"

enum { NAMES_BYTES = 1 << 26 }; /* far more than any has */

void cmd_names_release(struct cmd_names *names)
{
        ran_buf_release(&names->text);
        free(names->end);
        *names = (struct cmd_names){0};
}

/* Ends a name that was appended to the text. */
static void end_name(struct cmd_names *names)
{
        RAN_ROOM(names->end, names->cap, names->n + 1);
        names->end[names->n++] = names->text.len;
}

static int refuse(const struct cmd_names *names, const char *why, struct ran_error *err)
{
        return ran_fail(err, RAN_EFORMAT, "%s: %s", names->file, why);
}

/* ---- a name a line -------------------------------------------------------------------------- */

static int read_lines(struct cmd_names *names, const char *s, size_t n, struct ran_error *err)
{
        const char *end = s + n;

        if (ran_utf8_valid(s, n) < n || memchr(s, '\0', n) != NULL)
                return refuse(names, "not text in UTF-8", err);
        while (s < end) {
                const char *feed = memchr(s, '\n', (size_t)(end - s));
                size_t length = (size_t)((feed != NULL ? feed : end) - s);
                size_t written = length > 0 && s[length - 1] == '\r' ? length - 1 : length;
                if (written == 0)
                        return refuse(names, "an empty line: each line must be a name", err);
                ran_buf_add(&names->text, s, written);
                end_name(names);
                s += length + (feed != NULL);
        }
        return RAN_OK;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* The first member of that name; type 0: there is none. */
static struct ran_items member(const struct ran_items *object, const char *name)
{
        struct ran_items item = {.line = object->line};

        if (object->type == 'o')
                ran_json_find(object->line, object->value, name, 0, &item.value, &item.type);
        return item;
}

static int add_string(struct cmd_names *names, const struct ran_items *item, struct ran_error *err)
{
        if (item->type != 's')
                return refuse(names, "each name must be a string", err);
        if (ran_json_decode(item->line, item->value, &names->text, err) != RAN_OK)
                return refuse(names, err->text, err);
        end_name(names);
        return RAN_OK;
}

/* {"0": "O", "1": "B-PER"}, in any order: all numbers from 0 on, each once and in plain decimal. */
static int read_numbered(struct cmd_names *names, const struct ran_items *object,
                         struct ran_error *err)
{
        struct ran_items i = ran_items(object->line, object->value);
        size_t n = 0, number;
        bool good = true;
        int rc = RAN_OK;

        while (ran_items_next(&i))
                n++;
        struct ran_items *ordered = ran_new(n, sizeof *ordered);
        for (i = ran_items(object->line, object->value); good && ran_items_next(&i);) {
                const char *digits = i.line + i.name.begin + 1;
                const size_t length = i.name.end - i.name.begin - 2;

                good = ran_parse_size(digits, length, &number) && number < n &&
                       !(digits[0] == '0' && length > 1) && ordered[number].type == 0;
                if (good)
                        ordered[number] = i;
        }
        if (!good)
                rc = refuse(names, "\"id2label\" must name all numbers from 0 on", err);
        for (size_t k = 0; k < n && rc == RAN_OK; k++)
                rc = add_string(names, &ordered[k], err);
        free(ordered);
        return rc;
}

/* The list, or the object of numbers, with the names: those of a feature are in its class label, or
 * in that of the list that it is. */
static struct ran_items find(const struct ran_items *object, bool tags)
{
        static const char *const of[][2] = {{"label", "labels"}, {"tags", "ner_tags"}};
        struct ran_items found = member(object, "id2label"), features = member(object, "features");

        for (size_t k = 0; k < 2; k++)
                for (struct ran_items f = member(&features, of[tags][k]);
                     f.type == 'o' && found.type == 0; f = member(&f, "feature"))
                        found = member(&f, "names");
        return found.type == 0 ? member(object, "names") : found;
}

static int read_json(struct cmd_names *names, struct ran_items all, bool tags,
                     struct ran_error *err)
{
        int rc = RAN_OK;

        if (all.type == 'o')
                all = find(&all, tags);
        if (all.type == 'o')
                return read_numbered(names, &all, err);
        if (all.type != 'a')
                return refuse(names,
                              tags ? "no \"id2label\", no \"names\", and no names of \"tags\" or "
                                     "\"ner_tags\" in \"features\""
                                   : "no \"id2label\", no \"names\", and no names of \"label\" or "
                                     "\"labels\" in \"features\"",
                              err);
        for (struct ran_items i = ran_items(all.line, all.value);
             rc == RAN_OK && ran_items_next(&i);)
                rc = add_string(names, &i, err);
        return rc;
}

/* ---- both ----------------------------------------------------------------------------------- */

int cmd_names_read(struct cmd_names *names, const char *s, size_t n, bool tags,
                   struct ran_error *err)
{
        const size_t mark = ran_utf8_mark(s, n);
        struct ran_record r = {0};
        struct ran_buf room = {0};
        struct ran_items all;
        size_t at = 0;
        int rc;

        s += mark;
        n -= mark;
        while (at < n && strchr(" \t\r\n", s[at]) != NULL && s[at] != '\0')
                at++;
        if (at == n || (s[at] != '{' && s[at] != '['))
                rc = read_lines(names, s, n, err);
        else if (json_scan_value(&r, &room, s, n, &all))
                rc = read_json(names, all, tags, err);
        else
                rc = refuse(names, "not valid JSON", err);
        ran_record_release(&r);
        ran_buf_release(&room);
        return rc == RAN_OK && names->n == 0 ? refuse(names, "no names", err) : rc;
}

void cmd_names_open(struct cmd_names *names, const char *file, bool tags)
{
        struct ran_error err;
        struct ran_bytes bytes;

        *names = (struct cmd_names){.file = file};
        if (file == NULL)
                return;
        if (ran_bytes_open_within(&bytes, file, NAMES_BYTES, &err) != RAN_OK ||
            cmd_names_read(names, (const char *)bytes.data, bytes.size, tags, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        ran_bytes_release(&bytes);
}

int cmd_names_find(const struct cmd_names *names, const char *s, size_t n, const char **name,
                   size_t *length, struct ran_error *err)
{
        size_t number, begin;

        if (!ran_parse_size(s, n, &number) || number >= names->n)
                return ran_fail(err, RAN_EFORMAT, "%.*s has no name: %s names 0 to %zu",
                                (int)(n < 40 ? n : 40), s, names->file, names->n - 1);
        begin = number > 0 ? names->end[number - 1] : 0;
        *length = names->end[number] - begin;
        *name = *length > 0 ? names->text.data + begin : ""; /* data may be NULL */
        return RAN_OK;
}
