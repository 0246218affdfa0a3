/* pattern-class.c - classes of characters in regular expressions. The properties are those of
 * Oniguruma, which the library of Hugging Face uses; the data is libutf8proc's. */
#include "text/steps/pattern-code.h"

#include <string.h>
#include <utf8proc.h>

size_t ran_classes_add(struct ran_classes *all, bool any_case)
{
        RAN_ROOM(all->at, all->cap, all->n + 1);
        all->at[all->n] = (struct ran_class){.any_case = any_case};
        return all->n++;
}

void ran_class_add(struct ran_classes *all, size_t id, struct class_part part)
{
        struct ran_class *class = &all->at[id];

        RAN_ROOM(class->part, class->cap, class->n + 1);
        class->part[class->n++] = part;
}

int ran_class_category(const char *name, size_t n, struct class_part *part, struct ran_error *err)
{
        /* Of two letters each, in the order of utf8proc_category_t. */
        static const char names[] = "CnLuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCo";
        const bool negated = n > 0 && name[0] == '^';
        const size_t letters = n - negated;

        *part = (struct class_part){CLASS_CATEGORIES, negated, 0, 0};
        for (size_t i = 0; (letters == 1 || letters == 2) && names[2 * i] != '\0'; i++)
                if (memcmp(names + 2 * i, name + negated, letters) == 0)
                        part->low |= 1 << i;
        return part->low != 0
                       ? RAN_OK
                       : ran_fail(err, RAN_EFORMAT, "the property \\p{%.*s} is not supported",
                                  n < 40 ? (int)n : 40, name);
}

static bool holds(const struct ran_classes *all, const struct class_part *part, int32_t c)
{
        switch (part->kind) {
        case CLASS_RANGE:
                return c >= part->low && c <= part->high;
        case CLASS_CATEGORIES:
                return (part->low >> utf8proc_category(c) & 1) != 0;
        case CLASS_SPACE:
                return ran_unicode_is_space(c);
        case CLASS_WORD: /* in Oniguruma the joiners are none, but ² ³ ¹ ¼ ½ ¾ are */
                return (ran_unicode_is_word(c) && c != 0x200c && c != 0x200d) || c == 0xb2 ||
                       c == 0xb3 || c == 0xb9 || (c >= 0xbc && c <= 0xbe);
        case CLASS_NESTED:
                return ran_class_has(all, (size_t)part->low, c);
        case CLASS_BOTH:
                return ran_class_has(all, (size_t)part->low, c) &&
                       ran_class_has(all, (size_t)part->high, c);
        }
        return false;
}

static bool any_holds(const struct ran_classes *all, const struct ran_class *class, int32_t c)
{
        for (size_t i = 0; i < class->n; i++)
                if (holds(all, &class->part[i], c) != class->part[i].negated)
                        return true;
        return false;
}

/* The other characters that are the same in any case; 0: none. */
static int32_t other_case(int32_t c, size_t i)
{
        const int32_t lower = utf8proc_tolower(c), upper = utf8proc_toupper(c);
        const int32_t third = lower == 's'                   ? 0x17f
                              : lower == 'k'                 ? 0x212a
                              : lower == 0xe5                ? 0x212b
                              : c == 0x17f                   ? 's'
                              : lower == 0x3c3 || c == 0x3c2 ? (c == 0x3c2 ? 0x3c3 : 0x3c2)
                                                             : 0;
        const int32_t others[] = {lower, upper, third};

        return i < sizeof others / sizeof others[0] ? others[i] : -1;
}

static bool decide(const struct ran_classes *all, const struct ran_class *class, int32_t c)
{
        bool has = any_holds(all, class, c);

        for (size_t i = 0; class->any_case && !has; i++) {
                int32_t other = other_case(c, i);
                if (other < 0)
                        break;
                has = other > 0 && any_holds(all, class, other);
        }
        return has;
}

void ran_class_finish(struct ran_classes *all, size_t id)
{
        struct ran_class *class = &all->at[id];

        for (int32_t c = 0; c < 256; c++)
                if (decide(all, class, c))
                        class->below[c / 64] |= UINT64_C(1) << c % 64;
}

size_t ran_class_of(struct ran_classes *all, bool any_case, struct class_part part)
{
        const size_t id = ran_classes_add(all, any_case);

        ran_class_add(all, id, part);
        ran_class_finish(all, id);
        return id;
}

bool ran_class_has(const struct ran_classes *all, size_t id, int32_t c)
{
        const struct ran_class *class = &all->at[id];

        if (c < 256)
                return (class->below[c / 64] >> c % 64 & 1) != 0;
        return decide(all, class, c);
}
