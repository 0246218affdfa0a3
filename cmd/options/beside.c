/* beside.c - see beside.h. PREFIX/bin is installed with PREFIX/share/ran/NAME; BUILD or
 * BUILD/FOLDER is in the source tree, which has share/NAME.
 */
#include "cmd/options/beside.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_source(const char *folder)
{
        char *header = NULL;
        bool is = asprintf(&header, "%s/lib/ran.h", folder) >= 0 && access(header, F_OK) == 0;

        free(header);
        return is;
}

/* Takes the last name off a path; false: none is left. */
static bool go_up(char *path)
{
        char *slash = strrchr(path, '/');

        if (slash == NULL || slash == path)
                return false;
        *slash = '\0';
        return true;
}

static char *folder_in(const char *where, const char *share, const char *name)
{
        char *folder;

        return asprintf(&folder, "%s/%s/%s", where, share, name) >= 0 ? folder : NULL;
}

char *cmd_beside_program(const char *name)
{
        char *at = realpath("/proc/self/exe", NULL), *found = NULL, *installed = NULL;

        if (at != NULL && go_up(at) && go_up(at)) {
                if (!is_source(at))
                        installed = folder_in(at, "share/ran", name);
                if (installed == NULL || (go_up(at) && is_source(at)))
                        found = folder_in(at, "share", name);
        }
        free(at);
        if (found == NULL)
                return installed;
        free(installed);
        return found;
}
