/* json.h - shared by the scanner and the functions on scanned values. */
#ifndef RAN_RECORD_JSON_H
#define RAN_RECORD_JSON_H

#include "base/utf8.h"
#include "ran/record.h"

/* The type of a value, as in ran_member, from its first byte. */
static inline char ran_json_type(char first)
{
        switch (first) {
        case '"':
                return 's';
        case '{':
                return 'o';
        case '[':
                return 'a';
        case 't':
        case 'f':
                return first;
        case 'n':
                return '0';
        default:
                return 'n';
        }
}

/* As ran_json_next, but does not look for the end of the item that it finds at *pos: the caller
 * sets *pos to that end. Of `value` the end need not be known: value.end may be that of an object
 * around it. At the end of the value *pos is at its closing bracket. */
bool ran_json_begin(const char *line, struct ran_span value, size_t *pos, struct ran_span *name);

#endif
