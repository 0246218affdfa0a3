/* eval-page.c - the figures of an evaluation, for a page. */
#include "cmd/tag/eval-page.h"

#include <string.h>

#include "cmd/pages/page.h"

static void write_score(const struct ran_tag_score *s, bool all, struct ran_buf *out)
{
        ran_buf_printf(out, "<tr%s><th scope=\"row\">", all ? " class=\"all\"" : "");
        if (all)
                ran_buf_str(out, "all");
        else
                page_text(out, s->type, s->length);
        ran_buf_str(out, "</th><td class=\"n\">");
        page_percent(out, s->rates.precision, 2);
        ran_buf_str(out, "</td><td class=\"n\">");
        page_percent(out, s->rates.recall, 2);
        ran_buf_str(out, "</td><td class=\"n\">");
        page_interval(out, s->rates.f1,
                      ran_interval_f1((double)s->correct,
                                      (double)(s->gold - s->correct + s->found - s->correct)));
        ran_buf_str(out, "</td><td>");
        page_bar(out, s->rates.f1);
        ran_buf_str(out, "</td><td class=\"n\">");
        page_count(out, s->gold);
        ran_buf_str(out, "</td><td class=\"n\">");
        page_count(out, s->found);
        ran_buf_str(out, "</td><td class=\"n\">");
        page_count(out, s->correct);
        ran_buf_str(out, "</td></tr>\n");
}

static void write_table(const struct ran_tag_score *all, const struct ran_tag_score *types,
                        size_t n, struct ran_buf *out)
{
        ran_buf_str(out, "<div class=\"wide\"><table>\n<thead><tr><th>type</th>"
                         "<th class=\"n\">precision</th><th class=\"n\">recall</th>"
                         "<th class=\"n\">F1 (about 95 % interval)</th><th></th>"
                         "<th class=\"n\">gold</th><th class=\"n\">found</th>"
                         "<th class=\"n\">right</th></tr></thead>\n<tbody>\n");
        write_score(all, true, out);
        for (size_t i = 0; i < n; i++)
                write_score(&types[i], false, out);
        ran_buf_str(out, "</tbody></table></div>\n");
}

static void write_count(const char *name, size_t n, struct ran_buf *out)
{
        ran_buf_printf(out, "<tr><th scope=\"row\">%s</th><td class=\"n\">", name);
        page_count(out, n);
        ran_buf_str(out, "</td></tr>\n");
}

static void write_kinds(const struct ran_strict_report *r, struct ran_buf *out)
{
        size_t wrong = r->all.found - r->all.correct, other;

        other = wrong -
                (r->boundary_only + r->type_only < wrong ? r->boundary_only + r->type_only : wrong);
        ran_buf_str(out, "<h3>Kinds of errors</h3>\n<table>\n");
        write_count("right boundaries, wrong type", r->boundary_only, out);
        write_count("right type, wrong boundaries", r->type_only, out);
        write_count("found, and none there", other, out);
        write_count("not found as they are", r->all.gold - r->all.correct, out);
        ran_buf_str(out, "</table>\n");
}

static void write_baseline(const struct tag_eval *e, const struct ran_conll_report *r,
                           struct ran_buf *out)
{
        const char *tag;
        const double share = tag_eval_baseline(e, r, &tag);

        ran_buf_str(out, "<tr><th scope=\"row\">baseline: always ");
        page_text(out, tag, strlen(tag));
        ran_buf_str(out, "</th><td class=\"n\">");
        page_percent(out, share, 2);
        ran_buf_str(out, "</td></tr>\n");
}

void tag_eval_page_write(const struct tag_eval *e, struct ran_buf *out)
{
        struct ran_conll_report conll;
        struct ran_strict_report strict;

        ran_conll_finish(e->conll, &conll);
        ran_buf_str(out, "<table>\n<tr><th scope=\"row\">accuracy of tags</th><td class=\"n\">");
        page_interval(out, conll.accuracy,
                      ran_interval_share((double)conll.correct_tokens, (double)conll.tokens));
        ran_buf_str(out, "</td></tr>\n");
        write_baseline(e, &conll, out);
        write_count("words", conll.tokens, out);
        if (e->unknown > 0)
                write_count("tags that the model does not have", e->unknown, out);
        ran_buf_str(out, "</table>\n");
        if (e->tags == NULL)
                return;
        ran_strict_finish(e->strict, &strict);
        ran_buf_str(out, "<h2>Score of conlleval</h2>\n");
        write_table(&conll.all, conll.types, conll.n_types, out);
        ran_buf_str(out, "<h2>Strict score</h2>\n<p class=\"note\">An entity counts if its type "
                         "and both boundaries are right and its tags are valid.</p>\n");
        write_table(&strict.all, strict.types, strict.n_types, out);
        write_kinds(&strict, out);
}
