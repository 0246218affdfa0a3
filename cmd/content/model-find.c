/* model-find.c - models by name: the folders where they may be. */
#include "cmd/content/model.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/options/message.h"
#include "cmd/options/outputs.h"

static const char ending[] = ".ran";

/* A search: where it looked, as a list for people, and what it found. */
struct search {
        const char *name, *digest; /* the one or the other */
        struct ran_buf looked, path;
        bool found;
        bool here, both; /* it is the file of that name; there are a file and a model */
};

static bool ends_with(const char *name, const char *end)
{
        size_t n = strlen(name), m = strlen(end);

        return n > m && strcmp(name + n - m, end) == 0;
}

/* Whether the file has the name, or the digest, that is searched. */
static bool fits(const struct search *s, const char *path)
{
        if (s->digest == NULL)
                return access(path, R_OK) == 0;
        struct ran_error err;
        struct ran_model *m = ran_model_open(path, false, &err);
        const char *digest = m != NULL ? ran_model_metadata(m, "digest") : NULL;
        const bool is = digest != NULL && strcmp(digest, s->digest) == 0;

        ran_model_free(m);
        return is;
}

static void look_at(struct search *s, const char *folder, size_t n, const char *name)
{
        s->path.len = 0;
        ran_buf_add(&s->path, folder, n);
        ran_buf_char(&s->path, '/');
        ran_buf_str(&s->path, name);
        ran_buf_str(&s->path, ends_with(name, ending) ? "" : ending);
        ran_buf_char(&s->path, '\0');
        s->found = fits(s, s->path.data);
}

static void look_in(struct search *s, const char *folder, size_t n)
{
        if (n == 0 || s->found)
                return;
        ran_buf_str(&s->looked, s->looked.len > 0 ? ", " : "");
        ran_buf_add(&s->looked, folder, n);
        if (s->digest == NULL) {
                look_at(s, folder, n, s->name);
                return;
        }
        char *name = ran_copy(folder, n);
        DIR *d = opendir(name);
        for (struct dirent *e; d != NULL && !s->found && (e = readdir(d)) != NULL;)
                if (ends_with(e->d_name, ending))
                        look_at(s, folder, n, e->d_name);
        if (d != NULL)
                closedir(d);
        free(name);
}

static void look_everywhere(struct search *s)
{
        const char *list = getenv("RAN_MODELS"); /* with colons between */

        for (size_t n; list != NULL && *list != '\0'; list += n + (list[n] == ':')) {
                n = strcspn(list, ":");
                look_in(s, list, n);
        }
        char *beside = cmd_beside_program("models");
        look_in(s, beside, beside != NULL ? strlen(beside) : 0);
        free(beside);
        ran_buf_char(&s->looked, '\0');
}

/* A bare name means a model that is installed, unless it ends like a file; ./NAME means a file. */
static void search(struct search *s, const char *name)
{
        struct stat here, there;

        *s = (struct search){.name = name};
        if (strchr(name, '/') != NULL)
                return;
        look_everywhere(s);
        s->both = s->found && stat(name, &here) == 0 && !S_ISDIR(here.st_mode) &&
                  stat(s->path.data, &there) == 0 &&
                  (here.st_dev != there.st_dev || here.st_ino != there.st_ino);
        s->here = access(name, F_OK) == 0 && (ends_with(name, ending) || !s->found);
        s->found &= !s->here;
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
        return found;
}

bool cmd_model_find_digest(const char *digest, struct ran_buf *path, struct ran_buf *looked)
{
        struct search s = {.digest = digest};

        look_everywhere(&s);
        *path = s.path;
        *looked = s.looked;
        return s.found;
}

struct ran_model *cmd_model_load(const char *name, bool verify, struct ran_error *err)
{
        static bool said; /* which of two models was taken */
        struct search s;

        search(&s, name);
        if (s.both && !said && s.found)
                cmd_note("%s is the model %s (the file here is ./%s)", name, s.path.data, name);
        else if (s.both && !said)
                cmd_note("%s is the file here (the installed model is %s)", name, s.path.data);
        said |= s.both;
        if (s.found)
                cmd_check_read(s.path.data);
        struct ran_model *m = NULL;
        if (!s.found && !s.here && s.looked.len > 1)
                ran_fail(err, RAN_EIO,
                         "cannot open %s: %s, and there is no model of that name in %s%s", name,
                         strerror(ENOENT), s.looked.data,
                         strcmp(name, "english-vectors") != 0
                                 ? "" /* else it was there once */
                                 : ": english has taken its place (--replay of a model that was "
                                   "initialised from it needs its file)");
        else
                m = ran_model_open(s.found ? s.path.data : name, verify, err);
        release(&s);
        return m;
}
