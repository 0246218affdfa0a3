/* rules.c - rules (words.h) that do what the steps of a tokenizer.json do, and faster: most files
 * have such steps. */
#include <string.h>

#include "text/hf/hf.h"
#include "text/steps/pattern-code.h"

/* ---- normalizer ----------------------------------------------------------------------------- */

/* A word between two spaces, as write.c writes it. */
static bool is_spaced_word(const char *s)
{
        size_t n = strlen(s);

        return n > 2 && s[0] == ' ' && s[n - 1] == ' ' && strcspn(s + 1, " \t\n\v\f\r") == n - 2;
}

static bool find_normalizer(struct ran_text_rules *r, const struct ran_steps *s)
{
        struct ran_normalizer *z = &r->normal;
        bool stripped = false;

        for (size_t i = 0; i < s->normal_n; i++) {
                const struct ran_step *step = &s->at[i];
                const struct ran_pattern *p = step->pattern;

                if (step->kind == STEP_PLAIN &&
                    (step->plain == NORMAL_STRIP_LEFT || step->plain == NORMAL_STRIP_RIGHT)) {
                        if (s->bytes)
                                return false;
                        stripped =
                                true; /* words end at white space anyway, unless it becomes one */
                } else if (step->kind == STEP_PLAIN && step->plain != NORMAL_NMT) {
                        if (ran_normalizer_add(z, step->plain, NULL) != RAN_OK)
                                return false;
                } else if (step->kind != STEP_REPLACE || p->literal == NULL || p->literal_n != 1 ||
                           p->literal[0] != '\n' || !is_spaced_word(step->text) || z->eol != NULL ||
                           stripped || s->bytes ||
                           ran_normalizer_add_eol(z, step->text + 1, step->n - 2, NULL) != RAN_OK) {
                        return false;
                }
        }
        return true;
}

/* ---- pre_tokenizer -------------------------------------------------------------------------- */

/* Each step splits the parts of those before it, so order does not matter. */
static bool find_word_split(struct ran_text_rules *r, const struct ran_steps *s)
{
        bool spaces = false;

        r->split = RAN_SPLIT_SPACES;
        for (size_t i = s->normal_n; i < s->n; i++) {
                const struct ran_step *step = &s->at[i];

                if (step->kind == STEP_SPACES)
                        spaces = true;
                else if (step->kind == STEP_PUNCTUATION && step->behavior == SPLIT_ISOLATED)
                        r->split = RAN_SPLIT_PUNCTUATION;
                else
                        return false;
        }
        return spaces;
}

bool ran_hf_find_rules(struct ran_text_rules *r, const struct ran_steps *s)
{
        if (s->nested || !find_normalizer(r, s))
                return false;
        if (!s->bytes)
                return find_word_split(r, s);
        r->split = RAN_SPLIT_GPT2;
        if (s->n != s->normal_n + 1)
                return false;
        const struct ran_step *split = &s->at[s->normal_n];
        return split->kind == STEP_GPT2 && split->behavior == SPLIT_ISOLATED && !split->invert;
}
