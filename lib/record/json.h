/* json.h - shared by the scanner and the functions on scanned values. */
#ifndef RAN_RECORD_JSON_H
#define RAN_RECORD_JSON_H

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

#endif
