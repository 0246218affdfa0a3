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

static bool finds(const struct ran_step *step, char c)
{
        const struct ran_pattern *p = step->pattern;

        return p != NULL && p->literal != NULL && p->literal_n == 1 && p->literal[0] == c;
}

/* With tokens of characters, the last steps replace spaces and prepend one; they are not steps of
 * normalisation, but part of looking tokens up. */
static bool take_meta(struct ran_text_rules *r, const struct ran_step *step)
{
        const bool leads = step->kind == STEP_PREPEND;

        if ((!leads && (step->kind != STEP_REPLACE || !finds(step, ' '))) ||
            strcmp(step->text, WORDS_META) != 0)
                return false;
        if (leads)
                r->lead = r->always = true;
        else
                r->split = SPLIT_META;
        return true;
}

static bool find_normalizer(struct ran_text_rules *r, const struct ran_steps *s,
                            enum ran_hf_letters letters)
{
        struct ran_normalizer *z = &r->normal;
        bool stripped = false;

        for (size_t i = 0; i < s->normal_n; i++) {
                const struct ran_step *step = &s->at[i];
                const bool strips = step->kind == STEP_PLAIN && (step->plain == NORMAL_STRIP_LEFT ||
                                                                 step->plain == NORMAL_STRIP_RIGHT);

                if (letters == HF_CHARS && take_meta(r, step))
                        continue;
                if (r->split == SPLIT_META || r->always)
                        return false;
                stripped = stripped || strips;
                if (strips && letters == HF_WORDS)
                        continue; /* words end at white space anyway, unless it becomes a word */
                if (step->kind == STEP_PLAIN && step->plain != NORMAL_NMT) {
                        if (ran_normalizer_add(z, step->plain, NULL) != RAN_OK)
                                return false;
                } else if (step->kind != STEP_REPLACE || !finds(step, '\n') ||
                           !is_spaced_word(step->text) || z->eol != NULL ||
                           (stripped && letters == HF_WORDS) ||
                           ran_normalizer_add_eol(z, step->text + 1, step->n - 2, NULL) != RAN_OK) {
                        return false;
                }
        }
        return letters != HF_CHARS || r->split == SPLIT_META;
}

/* ---- pre_tokenizer -------------------------------------------------------------------------- */

/* Each step splits the parts of those before it, so order does not matter; but splitting words of
 * letters and digits at punctuation, too, is not among the rules. */
static bool find_word_split(struct ran_text_rules *r, const struct ran_steps *s)
{
        bool spaces = false, punctuation = false, runs = false;

        for (size_t i = s->normal_n; i < s->n; i++) {
                const struct ran_step *step = &s->at[i];

                if (step->kind == STEP_SPACES)
                        spaces = true;
                else if (step->kind == STEP_RUNS)
                        runs = true;
                else if (step->kind == STEP_PUNCTUATION && step->behavior == SPLIT_ISOLATED)
                        punctuation = true;
                else
                        return false;
        }
        r->split = runs ? SPLIT_RUNS : punctuation ? RAN_SPLIT_PUNCTUATION : RAN_SPLIT_SPACES;
        return runs ? !punctuation : spaces;
}

/* Digits by themselves, or a space in front; then words of GPT-2 or GPT-4. Behind another split, a
 * space would go before each part. */
static bool find_byte_split(struct ran_text_rules *r, const struct ran_steps *s)
{
        const struct ran_step *step = s->at + s->normal_n, *end = s->at + s->n;

        r->split = SPLIT_NOWHERE;
        if (step < end && step->kind == STEP_NUMBERS) {
                r->digits = step->behavior == SPLIT_ISOLATED ? 1 : SIZE_MAX;
                step++;
        } else if (step < end && step->kind == STEP_LEAD) {
                r->lead = true;
                step++;
        }
        if (step < end && (step->kind == STEP_GPT2 || step->kind == STEP_GPT4) &&
            step->behavior == SPLIT_ISOLATED && !step->invert) {
                const bool gpt4 = step->kind == STEP_GPT4;

                if (gpt4 && r->digits > 0)
                        return false;
                r->split = gpt4 ? SPLIT_GPT4 : RAN_SPLIT_GPT2;
                r->digits = gpt4 ? step->digits : r->digits;
                step++;
        }
        return step == end;
}

bool ran_hf_find_rules(struct ran_text_rules *r, const struct ran_steps *s,
                       enum ran_hf_letters letters)
{
        const size_t splits = s->n - s->normal_n;

        if (s->nested || s->bytes != (letters == HF_BYTES) || !find_normalizer(r, s, letters))
                return false;
        if (letters == HF_WORDS)
                return find_word_split(r, s);
        if (letters == HF_BYTES)
                return find_byte_split(r, s);
        /* None, or one that splits at spaces, which no longer occur. */
        return splits == 0 || (splits == 1 && s->at[s->normal_n].kind == STEP_PATTERN &&
                               finds(&s->at[s->normal_n], ' '));
}
