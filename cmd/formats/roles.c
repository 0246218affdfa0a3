/* roles.c - what columns and members are usually called.
 *
 * Of several columns of one role the first in the table counts. The members that programs read by
 * themselves come first.
 */
#include "cmd/formats/roles.h"

#include <string.h>

static const struct {
        enum role role;
        const char *name;
} roles[] = {
        {ROLE_TEXT, "text"},
        {ROLE_TEXT, "sentence"},
        {ROLE_TEXT, "review"},
        {ROLE_TEXT, "review_text"},
        {ROLE_TEXT, "content"},
        {ROLE_TEXT, "body"},
        {ROLE_TEXT, "message"},
        {ROLE_TEXT, "comment"},
        {ROLE_TEXT, "comment_text"},
        {ROLE_TEXT, "tweet"},
        {ROLE_TEXT, "tweet_text"},
        {ROLE_TEXT, "document"},
        {ROLE_TEXT, "article"},
        {ROLE_TEXT, "full_text"},
        {ROLE_TEXT, "raw_text"},
        {ROLE_TEXT, "utterance"},
        {ROLE_TEXT, "passage"},
        {ROLE_TEXT, "post"},
        {ROLE_TEXT, "abstract"},
        {ROLE_TEXT, "question"},
        {ROLE_TEXT, "description"},
        {ROLE_TEXT, "headline"},
        {ROLE_TEXT, "title"},
        {ROLE_TEXT, ROLE_LAST_TEXT}, /* of doccano; in many languages a date */
        {ROLE_LABEL, "label"},
        {ROLE_LABEL, "labels"},
        {ROLE_LABEL, "class"},
        {ROLE_LABEL, "category"},
        {ROLE_LABEL, "sentiment"},
        {ROLE_LABEL, "intent"},
        {ROLE_LABEL, "topic"},
        {ROLE_LABEL, "genre"},
        {ROLE_LABEL, "emotion"},
        {ROLE_LABEL, "class_label"},
        {ROLE_LABEL, "class_index"},
        {ROLE_LABEL, "stars"},
        {ROLE_LABEL, "rating"},
        {ROLE_LABEL, "target"}, /* of a language model, too: beside "source" it is no label */
        {ROLE_ID, "id"},
        {ROLE_ID, "uid"},
        {ROLE_ID, "uuid"},
        {ROLE_ID, "doc_id"},
        {ROLE_ID, "document_id"},
        {ROLE_ID, "text_id"},
        {ROLE_ID, "review_id"},
        {ROLE_ID, "tweet_id"},
        {ROLE_ID, "idx"},
        {ROLE_ID, "index"},
        {ROLE_OTHER, "source"},
        {ROLE_OTHER, "tokens"},
};

static char folded(char c)
{
        if (c >= 'A' && c <= 'Z')
                return (char)(c - 'A' + 'a');
        return c == '-' || c == ' ' ? '_' : c;
}

static bool is_called(const char *name, size_t n, const char *usual)
{
        for (size_t i = 0; i < n; i++)
                if (usual[i] == '\0' || folded(name[i]) != usual[i])
                        return false;
        return usual[n] == '\0';
}

enum role role_of(const char *name, size_t n, size_t *rank)
{
        while (n > 0 && name[n - 1] == ' ')
                n--;
        for (; n > 0 && *name == ' '; n--)
                name++;
        for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
                if (is_called(name, n, roles[i].name)) {
                        *rank = i;
                        return roles[i].role;
                }
        }
        return ROLE_NONE;
}
