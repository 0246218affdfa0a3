/* nearest.h - --nearest: the documents of a collection that are nearest to each record. */
#ifndef CMD_CLASSIFY_NEAREST_H
#define CMD_CLASSIFY_NEAREST_H

#include "ran.h"

/* A collection: vectors (D) and ids, of which the `most` nearest are asked for, and none that has a
 * cosine below `least`. */
struct classify_nearest;
struct classify_nearest *classify_nearest_new(size_t D, size_t most, double least,
                                              struct ran_error *err);
void classify_nearest_free(struct classify_nearest *n);
size_t classify_nearest_count(const struct classify_nearest *n);
/* Adds a document: its vector, and its id as JSON. */
int classify_nearest_put(struct classify_nearest *n, const float *v, const char *id, size_t length,
                         struct ran_error *err);

/* The neighbours of several vectors. Zero-initialise. */
struct classify_neighbours {
        struct ran_neighbour *list; /* (n, most) */
        size_t *found;              /* (n) */
        size_t n, list_cap, found_cap;
};
/* Whether several vectors are searched for at once: their lists are not too long. */
bool classify_nearest_together(const struct classify_nearest *n);
/* Finds those of `count` vectors v. */
int classify_nearest_find(const struct classify_nearest *n, const float *v, size_t count,
                          struct classify_neighbours *to, struct ran_error *err);
/* Appends the member "nearest": those of vector i; none with `from` NULL. */
void classify_nearest_add(const struct classify_nearest *n, const struct classify_neighbours *from,
                          size_t i, struct ran_buf *out);
void classify_neighbours_release(struct classify_neighbours *n);

/* RAN_EFORMAT unless vectors have this name, of n bytes: that of the ones of the model. */
int classify_nearest_same(const char *name, size_t n, const char *vectors, struct ran_error *err);

#endif
