/* steps.c - lists of steps, and normalisation by them. */
#include "text/steps/steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void ran_steps_free(struct ran_steps *s)
{
        if (s == NULL)
                return;
        for (size_t i = 0; i < s->n; i++) {
                free(s->at[i].text);
                ran_pattern_free(s->at[i].pattern);
                ran_charsmap_free(s->at[i].map);
        }
        free(s->at);
        free(s);
}

struct ran_step *ran_steps_add(struct ran_steps *s, struct ran_step step)
{
        RAN_ROOM(s->at, s->cap, s->n + 1);
        s->at[s->n] = step;
        return &s->at[s->n++];
}

void ran_passage_release(struct ran_passage *p)
{
        free(p->span);
        free(p->other);
        ran_glyphs_release(&p->glyphs);
        ran_glyphs_release(&p->spare);
        ran_buf_release(&p->normal_bytes);
        for (int i = 0; i < 2; i++) {
                ran_buf_release(&p->bytes[i]);
                ran_glyphs_release(&p->changed[i]);
        }
        ran_pattern_scratch_release(&p->pattern);
        *p = (struct ran_passage){0};
}

/* ---- steps of normalisation: each reads `in` and replaces `out` ------------------------------ */

static void push_all(struct ran_glyphs *out, const struct ran_glyph *at, size_t n)
{
        ran_glyphs_reserve(out, n);
        if (n > 0)
                memcpy(out->at + out->n, at, n * sizeof *at);
        out->n += n;
}

/* What replaces a match has the range of its last character. */
static void replace(const struct ran_step *step, struct ran_passage *p, struct ran_glyphs *out,
                    const struct ran_glyphs *in)
{
        size_t begin, end, i = 0;

        out->n = 0;
        ran_glyphs_write(in->at, in->n, &p->normal_bytes);
        const char *s = p->normal_bytes.data;
        const size_t n = p->normal_bytes.len;
        for (size_t pos = 0; pos < n; pos = end) {
                ran_pattern_find(step->pattern, s, n, pos, &p->pattern, &begin, &end);
                size_t kept = ran_unicode_count(s + pos, begin - pos);
                push_all(out, in->at + i, kept);
                i += kept + ran_unicode_count(s + begin, end - begin);
                if (begin < n)
                        ran_glyphs_add(out, step->text, step->n, in->at[i - 1]);
        }
}

/* Whether `out` has the result; else it is `in`. */
static bool apply(const struct ran_step *step, struct ran_passage *p, struct ran_glyphs *out,
                  struct ran_glyphs *in)
{
        bool changed = true;

        if (step->kind == STEP_REPLACE) {
                replace(step, p, out, in);
        } else if (step->kind == STEP_PREPEND) {
                out->n = 0;
                if (in->n > 0)
                        ran_glyphs_add(out, step->text, step->n, in->at[0]);
                push_all(out, in->at, in->n);
        } else if (step->kind == STEP_CHARSMAP) {
                ran_charsmap_apply(step->map, out, in, &changed);
        } else {
                ran_glyphs_step(step->plain, true, out, in);
        }
        return changed;
}

int ran_steps_normalize(const struct ran_steps *s, struct ran_passage *p, const char *text,
                        size_t n, size_t *points, struct ran_error *err)
{
        p->s = text;
        p->n = n;
        p->at = NULL;
        if (n >= UINT32_MAX)
                return ran_fail(err, RAN_EINVAL, "%zu bytes are too many to be read at once", n);
        if (s->normal_n == 0) {
                if (ran_utf8_valid(text, n) < n)
                        return ran_fail(err, RAN_EFORMAT, "the text is not valid UTF-8");
                *points = ran_unicode_count(text, n);
                return RAN_OK;
        }
        RAN_TRY(ran_glyphs_read(&p->glyphs, text, n, err));
        *points = p->glyphs.n;
        for (size_t i = 0; i < s->normal_n; i++) {
                if (apply(&s->at[i], p, &p->spare, &p->glyphs)) {
                        struct ran_glyphs swap = p->glyphs;
                        p->glyphs = p->spare;
                        p->spare = swap;
                }
        }
        ran_glyphs_write(p->glyphs.at, p->glyphs.n, &p->normal_bytes);
        p->s = p->normal_bytes.data;
        p->n = p->normal_bytes.len;
        p->at = p->glyphs.at;
        return RAN_OK;
}
