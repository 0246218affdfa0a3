/* model-find.c - models by name: the folders where they may be. */
#include "cmd/records/model.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/beside.h"
#include "cmd/options/message.h"

static const char ending[] = ".ran";

/* A search: where it looked, as a list for people, and what it found. */
struct search {
        const char *name;
        struct ran_buf looked, path;
        bool found;
};

static bool ends_with(const char *name, const char *end)
{
        size_t n = strlen(name), m = strlen(end);

        return n > m && strcmp(name + n - m, end) == 0;
}

static void look_in(struct search *s, const char *folder, size_t n)
{
        if (n == 0 || s->found)
                return;
        s->path.len = 0;
        ran_buf_add(&s->path, folder, n);
        ran_buf_char(&s->path, '/');
        ran_buf_str(&s->path, s->name);
        ran_buf_str(&s->path, ends_with(s->name, ending) ? "" : ending);
        ran_buf_char(&s->path, '\0');
        ran_buf_str(&s->looked, s->looked.len > 0 ? ", " : "");
        ran_buf_add(&s->looked, folder, n);
        s->found = !s->path.failed && access(s->path.data, R_OK) == 0;
}

/* The folders of a list with colons between. */
static void look_in_list(struct search *s, const char *list)
{
        for (size_t n; list != NULL && *list != '\0'; list += n + (list[n] == ':')) {
                n = strcspn(list, ":");
                look_in(s, list, n);
        }
}

static void search(struct search *s, const char *name)
{
        *s = (struct search){.name = name};
        if (strchr(name, '/') != NULL || access(name, F_OK) == 0)
                return;
        look_in_list(s, getenv("RAN_MODELS"));
        char *beside = cmd_beside_program("models");
        look_in(s, beside, beside != NULL ? strlen(beside) : 0);
        free(beside);
        ran_buf_char(&s->looked, '\0');
}

static void release(struct search *s)
{
        ran_buf_release(&s->looked);
        ran_buf_release(&s->path);
}

bool cmd_model_find(const char *name, struct ran_buf *path)
{
        struct search s;

        search(&s, name);
        ran_buf_str(path, s.found ? s.path.data : name);
        ran_buf_char(path, '\0');
        bool found = s.found;
        release(&s);
        if (path->failed)
                cmd_die(CMD_FAILED, "out of memory");
        return found;
}

struct ran_model *cmd_model_load(const char *name, bool verify, struct ran_error *err)
{
        struct search s;

        search(&s, name);
        struct ran_model *m = NULL;
        if (!s.found && s.looked.len > 1 && !s.looked.failed)
                ran_fail(err, RAN_EIO,
                         "cannot open %s: %s, and there is no model of that name in %s", name,
                         strerror(ENOENT), s.looked.data);
        else
                m = ran_model_open(s.found ? s.path.data : name, verify, err);
        release(&s);
        return m;
}
