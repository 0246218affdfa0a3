/* split.c - how a model wants a text split into words: as the words of its training data were, and
 * with their marks. */
#include "cmd/tag/tag.h"

#include <string.h>

static void learn_marks(struct ran_marks *marks, const struct ran_record *training)
{
        const struct ran_member *said = ran_record_find(training, "text_marks", NULL);
        struct ran_items i =
                ran_items(training->line, said != NULL ? said->value : training->object);
        struct ran_buf mark = {0};

        while (said != NULL && said->type == 'a' && ran_items_next(&i)) {
                mark.len = 0;
                if (i.type == 's' && ran_json_decode(i.line, i.value, &mark, NULL) == RAN_OK)
                        ran_marks_know(marks, mark.data, mark.len);
        }
        ran_buf_release(&mark);
}

void tag_split_choose(struct tagger *t)
{
        const char *said = ran_model_metadata(t->model, "training");
        struct ran_record training = {0};
        struct ran_error err;
        int learned = 0; /* the convention of the training data; 0: none */

        if (said != NULL && ran_record_scan(&training, said, strlen(said), &err) == RAN_OK) {
                const struct ran_member *m = ran_record_find(&training, "text_split", NULL);

                for (int i = 0; m != NULL && m->type == 's' && i < RAN_SEGMENT_COUNT; i++)
                        if (ran_json_is(training.line, m->value, ran_segment_names[i]))
                                learned = 1 + i;
                learn_marks(&t->marks, &training);
        }
        ran_record_release(&training);
        t->split = tag_options.split_at == TAG_SPLIT_AUTO ? learned
                   : tag_options.split_at == TAG_SPLIT_VOCABULARY
                           ? 0
                           : tag_options.split_at - TAG_SPLIT_SEGMENT + 1;
}
