/* temporary.h - files that have a name for a while, which ran_writer_abandon_all removes. */
#ifndef RAN_BASE_TEMPORARY_H
#define RAN_BASE_TEMPORARY_H

/* A member of the list of such files; the path is the caller's, and stays until it is forgotten. */
struct ran_temporary {
        const char *path;
        struct ran_temporary *next;
};

void ran_temporary_note(struct ran_temporary *t, const char *path);
void ran_temporary_forget(struct ran_temporary *t); /* nothing, if it was not noted */

#endif
