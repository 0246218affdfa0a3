/* pairs.c - numbered pairs in a hash table. */
#include "text/tokenizer.h"
#include "base/string-table.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS_LOG2 = 10 };

void ran_pairs_release(struct ran_pairs *p)
{
        free(p->at);
        free(p->slot);
        *p = (struct ran_pairs){0};
}

/* The slot of the pair, or the free one for it. */
static size_t slot_of(const struct ran_pairs *p, uint32_t a, uint32_t b)
{
        /* All bits of a and b affect the upper bits. */
        size_t i = (size_t)(((uint64_t)a << 32 | b) * ran_string_table_multiplier >> p->shift);

        while (p->slot[i] != PAIRS_NONE && (p->at[p->slot[i]].a != a || p->at[p->slot[i]].b != b))
                i = (i + 1) & (p->slots - 1);
        return i;
}

static void grow_slots(struct ran_pairs *p)
{
        size_t slots = p->slots != 0 ? p->slots * 2 : (size_t)1 << FIRST_SLOTS_LOG2;
        uint32_t *slot = ran_new(slots, sizeof(*slot));

        memset(slot, 0xff, slots * sizeof(*slot));
        free(p->slot);
        p->slot = slot;
        p->shift = p->slots != 0 ? p->shift - 1 : 64 - FIRST_SLOTS_LOG2;
        p->slots = slots;
        for (size_t i = 0; i < p->n; i++)
                slot[slot_of(p, p->at[i].a, p->at[i].b)] = (uint32_t)i;
}

uint32_t ran_pairs_find(const struct ran_pairs *p, uint32_t a, uint32_t b)
{
        return p->slots > 0 ? p->slot[slot_of(p, a, b)] : PAIRS_NONE;
}

uint32_t ran_pairs_add(struct ran_pairs *p, uint32_t a, uint32_t b)
{
        if (p->n >= p->slots / 2)
                grow_slots(p);
        size_t i = slot_of(p, a, b);
        if (p->slot[i] != PAIRS_NONE)
                return p->slot[i];
        if (p->n >= PAIRS_NONE)
                ran_out_of_memory(p->n, sizeof *p->at);
        RAN_ROOM(p->at, p->cap, p->n + 1);
        p->at[p->n] = (struct token_pair){a, b};
        p->slot[i] = (uint32_t)p->n;
        return (uint32_t)p->n++;
}
