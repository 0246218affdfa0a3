/* eval-page.c - the figures of an evaluation, for a page. */
#include "cmd/tag/eval-page.h"

#include <string.h>

#include "cmd/pages/element.h"
#include "cmd/pages/page.h"
#include "cmd/pages/table.h"

static void write_score(const struct ran_tag_score *s, bool all, struct page_table *t)
{
        const double wrong = (double)(s->gold - s->correct + s->found - s->correct);

        page_row_add(t, all ? "all" : NULL,
                     (const struct page_cell[]){
                             all ? CELL_NAME("all") : CELL_NAMED(s->type, s->length),
                             CELL_PERCENT(s->rates.precision, 2), CELL_PERCENT(s->rates.recall, 2),
                             CELL_INTERVAL(s->rates.f1, ran_interval_f1((double)s->correct, wrong)),
                             CELL_BAR(s->rates.f1), CELL_COUNT(s->gold), CELL_COUNT(s->found),
                             CELL_COUNT(s->correct), CELL_END});
}

static void write_table(const struct ran_tag_score *all, const struct ran_tag_score *types,
                        size_t n, struct ran_buf *out)
{
        struct page_table t = page_table_begin(
                out, PAGE_WIDE,
                "type|#precision|#recall|#F1 (about 95 % interval)||#gold|#found|#right");

        write_score(all, true, &t);
        for (size_t i = 0; i < n; i++)
                write_score(&types[i], false, &t);
        page_table_end(&t);
}

static void write_kinds(const struct ran_strict_report *r, struct ran_buf *out)
{
        const size_t wrong = r->all.found - r->all.correct, close = r->boundary_only + r->type_only;

        page_put(out, HTML_SUBHEADING, "Kinds of errors");
        struct page_table t = page_table_begin(out, PAGE_PLAIN, NULL);
        page_row(&t, CELL_NAME("right boundaries, wrong type"), CELL_COUNT(r->boundary_only));
        page_row(&t, CELL_NAME("right type, wrong boundaries"), CELL_COUNT(r->type_only));
        page_row(&t, CELL_NAME("found, and none there"),
                 CELL_COUNT(close < wrong ? wrong - close : 0));
        page_row(&t, CELL_NAME("not found as they are"), CELL_COUNT(r->all.gold - r->all.correct));
        page_table_end(&t);
}

static void write_facts(const struct tag_eval *e, const struct ran_conll_report *r,
                        struct ran_buf *out)
{
        struct page_table t = page_table_begin(out, PAGE_PLAIN, NULL);
        struct ran_buf name = {0};
        const char *tag;
        const double share = tag_eval_baseline(e, r, &tag);

        page_row(&t, CELL_NAME("accuracy of tags"),
                 CELL_INTERVAL(r->accuracy,
                               ran_interval_share((double)r->correct_tokens, (double)r->tokens)));
        ran_buf_printf(&name, "baseline: always %s", tag);
        page_row(&t, CELL_NAMED(name.data, name.len), CELL_PERCENT(share, 2));
        page_row(&t, CELL_NAME("words"), CELL_COUNT(r->tokens));
        if (e->unknown > 0)
                page_row(&t, CELL_NAME("tags that the model does not have"),
                         CELL_COUNT(e->unknown));
        page_table_end(&t);
        out->failed |= name.failed;
        ran_buf_release(&name);
}

void tag_eval_page_write(const struct tag_eval *e, struct ran_buf *out)
{
        struct ran_conll_report conll;
        struct ran_strict_report strict;

        ran_conll_finish(e->conll, &conll);
        write_facts(e, &conll, out);
        if (e->tags == NULL)
                return;
        ran_strict_finish(e->strict, &strict);
        page_put(out, HTML_HEADING, "Score of conlleval");
        write_table(&conll.all, conll.types, conll.n_types, out);
        page_put(out, HTML_HEADING, "Strict score");
        page_put(out, HTML_NOTE,
                 "An entity counts if its type and both boundaries are right and its tags are "
                 "valid.");
        write_table(&strict.all, strict.types, strict.n_types, out);
        write_kinds(&strict, out);
}
