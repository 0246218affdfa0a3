/* known.c - whether a model is measured on documents that it was trained on. */
#include "cmd/content/model.h"

#include "cmd/options/message.h"

void cmd_known_note(struct cmd_known *k, const struct ran_model *m, uint32_t fingerprint)
{
        if (ran_model_knows(m, fingerprint))
                __atomic_fetch_add(&k->n, 1, __ATOMIC_RELAXED);
}

bool cmd_are_known(size_t n, size_t all)
{
        return n > all / 20;
}

void cmd_known_warn(const struct cmd_known *k, size_t compared, const char *name)
{
        if (cmd_are_known(k->n, compared))
                cmd_caution("%zu of %zu documents are training documents of %s: figures on "
                            "them are too good; give it documents that it has not seen",
                            k->n, compared, name);
}
