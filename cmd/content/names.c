/* names.c - names of labels or tags that are numbers in records. */
#include "cmd/content/names.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"

enum { NAMES_BYTES = 1 << 26 }; /* far more than any has */

void cmd_names_release(struct cmd_names *names)
{
        ran_buf_release(&names->text);
        free(names->end);
        *names = (struct cmd_names){0};
}

/* Ends a name that was appended to the text. */
static int end_name(struct cmd_names *names, struct ran_error *err)
{
        size_t *grown = ran_grow(names->end, &names->cap, names->n + 1, sizeof *grown, err);

        if (grown == NULL)
                return RAN_ENOMEM;
        names->end = grown;
        if (names->text.failed)
                return ran_fail(err, RAN_ENOMEM, "no memory for the names of labels");
        grown[names->n++] = names->text.len;
        return RAN_OK;
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
                RAN_TRY(end_name(names, err));
                s += length + (feed != NULL);
        }
        return RAN_OK;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* A part of the text. */
struct value {
        struct ran_span at;
        char type; /* as in ran_member; 0: nothing */
};

static bool is_named(const char *json, struct ran_span name, const char *text)
{
        size_t n = strlen(text);

        return name.end - name.begin == n + 2 && memcmp(json + name.begin + 1, text, n) == 0;
}

/* The first member of that name. */
static struct value member(const char *json, struct value object, const char *name)
{
        struct value item;
        struct ran_span its_name;
        size_t pos = 0;

        while (object.type == 'o' &&
               ran_json_next(json, object.at, &pos, &its_name, &item.at, &item.type))
                if (is_named(json, its_name, name))
                        return item;
        return (struct value){.type = 0};
}

static int add_string(struct cmd_names *names, const char *json, struct value item,
                      struct ran_error *err)
{
        if (item.type != 's')
                return refuse(names, "each name must be a string", err);
        int rc = ran_json_decode(json, item.at, &names->text, err);
        return rc == RAN_OK ? end_name(names, err) : refuse(names, err->text, err);
}

static int read_list(struct cmd_names *names, const char *json, struct value list,
                     struct ran_error *err)
{
        struct value item;
        size_t pos = 0;

        while (ran_json_next(json, list.at, &pos, NULL, &item.at, &item.type))
                RAN_TRY(add_string(names, json, item, err));
        return RAN_OK;
}

static size_t count_members(const char *json, struct value object)
{
        struct value item;
        struct ran_span name;
        size_t pos = 0, n = 0;

        while (ran_json_next(json, object.at, &pos, &name, &item.at, &item.type))
                n++;
        return n;
}

/* Sorts the members of an object by their names, which are numbers; false unless these are 0 to
 * n - 1, each once and in plain decimal. */
static bool order_members(const char *json, struct value object, struct value *ordered, size_t n)
{
        struct value item;
        struct ran_span name;
        size_t pos = 0, number;

        while (ran_json_next(json, object.at, &pos, &name, &item.at, &item.type)) {
                const char *digits = json + name.begin + 1;
                size_t length = name.end - name.begin - 2;

                if (!ran_parse_size(digits, length, &number) || number >= n ||
                    (digits[0] == '0' && length > 1) || ordered[number].type != 0)
                        return false;
                ordered[number] = item;
        }
        return true;
}

/* {"0": "O", "1": "B-PER"}, in any order. */
static int read_numbered(struct cmd_names *names, const char *json, struct value object,
                         struct ran_error *err)
{
        size_t n = count_members(json, object);
        struct value *ordered = ran_alloc(n, sizeof *ordered, err);
        int rc = RAN_OK;

        if (ordered == NULL)
                return RAN_ENOMEM;
        if (!order_members(json, object, ordered, n))
                rc = refuse(names, "\"id2label\" must name all numbers from 0 on", err);
        for (size_t i = 0; i < n && rc == RAN_OK; i++)
                rc = add_string(names, json, ordered[i], err);
        free(ordered);
        return rc;
}

/* The names of a class label; the feature may be a list of class labels. */
static struct value names_of_feature(const char *json, struct value feature)
{
        struct value found = {.type = 0};

        while (feature.type == 'o' && found.type == 0) {
                found = member(json, feature, "names");
                feature = member(json, feature, "feature");
        }
        return found;
}

/* The list, or the object of numbers, with the names. */
static struct value find(const char *json, struct value object, bool tags)
{
        static const char *const of_labels[] = {"label", "labels", NULL};
        static const char *const of_tags[] = {"tags", "ner_tags", NULL};
        struct value found = member(json, object, "id2label");
        struct value features = member(json, object, "features");

        for (const char *const *name = tags ? of_tags : of_labels; *name != NULL; name++)
                if (found.type == 0)
                        found = names_of_feature(json, member(json, features, *name));
        return found.type == 0 ? member(json, object, "names") : found;
}

/* all: the value of a member, because only objects can be scanned. */
static int read_json(struct cmd_names *names, const char *json, struct value all, bool tags,
                     struct ran_error *err)
{
        struct value list = all.type == 'o' ? find(json, all, tags) : all;

        if (list.type == 'a')
                return read_list(names, json, list, err);
        if (list.type == 'o')
                return read_numbered(names, json, list, err);
        return refuse(
                names,
                tags ? "no \"id2label\", no \"names\", and no names of \"tags\" or \"ner_tags\" in "
                       "\"features\""
                     : "no \"id2label\", no \"names\", and no names of \"label\" or \"labels\" in "
                       "\"features\"",
                err);
}

static int scan_json(struct cmd_names *names, const char *s, size_t n, bool tags,
                     struct ran_error *err)
{
        struct ran_record scanned = {0};
        struct ran_buf object = {0};
        struct ran_error why;

        ran_buf_str(&object, "{\"names\":");
        ran_buf_add(&object, s, n);
        ran_buf_char(&object, '}');
        int rc = object.failed ? ran_fail(&why, RAN_ENOMEM, "no memory for a file of %zu bytes", n)
                               : ran_record_scan(&scanned, object.data, object.len, &why);
        bool one = rc == RAN_OK && scanned.count == 1;
        const struct ran_member *all = one ? ran_record_find(&scanned, "names", NULL) : NULL;
        rc = all == NULL ? refuse(names, rc == RAN_ENOMEM ? why.text : "not valid JSON", err)
                         : read_json(names, object.data, (struct value){all->value, all->type},
                                     tags, err);
        ran_record_release(&scanned);
        ran_buf_release(&object);
        return rc;
}

/* ---- both ----------------------------------------------------------------------------------- */

int cmd_names_read(struct cmd_names *names, const char *s, size_t n, bool tags,
                   struct ran_error *err)
{
        const size_t mark = ran_utf8_mark(s, n);
        size_t at = 0;
        int rc;

        s += mark;
        n -= mark;
        while (at < n && strchr(" \t\r\n", s[at]) != NULL && s[at] != '\0')
                at++;
        bool json = at < n && (s[at] == '{' || s[at] == '[');
        rc = json ? scan_json(names, s, n, tags, err) : read_lines(names, s, n, err);
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
