/* split.c - how a model wants a text split into words: as the words of its training data were, and
 * with their marks. */
#include "cmd/tag/split.h"

#include <string.h>

#include "cmd/tag/options.h"

static bool is_string(const char *json, struct ran_span value, const char *text)
{
        const size_t n = strlen(text);

        return value.end - value.begin == n + 2 && memcmp(json + value.begin + 1, text, n) == 0;
}

/* The convention of the training data; 0: none. */
static int learned_split(const struct ran_record *training)
{
        const struct ran_member *said = ran_record_find(training, "text_split", NULL);

        for (int i = 0; said != NULL && said->type == 's' && i < RAN_SEGMENT_COUNT; i++)
                if (is_string(training->line, said->value, ran_segment_names[i]))
                        return 1 + i;
        return 0;
}

static void learn_marks(struct ran_marks *marks, const struct ran_record *training)
{
        const struct ran_member *said = ran_record_find(training, "text_marks", NULL);
        struct ran_buf mark = {0};
        struct ran_span item;
        struct ran_error err;
        size_t pos = 0;
        char type;

        while (said != NULL && said->type == 'a' &&
               ran_json_next(training->line, said->value, &pos, NULL, &item, &type)) {
                mark.len = 0;
                if (type == 's' && ran_json_decode(training->line, item, &mark, &err) == RAN_OK)
                        ran_marks_know(marks, mark.data, mark.len);
        }
        ran_buf_release(&mark);
}

void tag_split_choose(struct tagger *t)
{
        const char *said = ran_model_metadata(t->model, "training");
        struct ran_record training = {0};
        struct ran_error err;
        int learned = 0;

        if (said != NULL && ran_record_scan(&training, said, strlen(said), &err) == RAN_OK) {
                learned = learned_split(&training);
                learn_marks(&t->marks, &training);
        }
        ran_record_release(&training);
        t->split = tag_options.split_at == TAG_SPLIT_AUTO ? learned
                   : tag_options.split_at == TAG_SPLIT_VOCABULARY
                           ? 0
                           : tag_options.split_at - TAG_SPLIT_SEGMENT + 1;
}
