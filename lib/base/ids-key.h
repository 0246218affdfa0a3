/* ids-key.h - what a document is known by: the beginning of the SHA-256 of its ids, four bytes
 * each, the lowest first. */
#ifndef RAN_BASE_IDS_KEY_H
#define RAN_BASE_IDS_KEY_H

#include "ran/base.h"

enum { RAN_IDS_KEY = 16 };
void ran_ids_key(const uint32_t *ids, size_t n, char key[RAN_IDS_KEY]);

#endif
