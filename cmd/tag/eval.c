/* eval.c - predicted tags against those of the records. */
#include "cmd/tag/tag.h"

#include "cmd/content/labels.h"
#include "cmd/formats/import.h"
#include "cmd/options/message.h"

#include <stdlib.h>
#include <string.h>

enum { LISTED = 20 }; /* unknown tags listed by name; others are only counted */

void tag_eval_init(struct tag_eval *e, const struct ran_model *model, const struct ran_tag *tags)
{
        *e = (struct tag_eval){.model = model, .tags = tags};
        e->conll = ran_conll_new();
        e->strict = ran_strict_new();
        e->words = ran_new(ran_model_classes(model), sizeof *e->words);
}

void tag_eval_release(struct tag_eval *e)
{
        ran_conll_free(e->conll);
        ran_strict_free(e->strict);
        free(e->words);
        *e = (struct tag_eval){0};
}

bool tag_eval_tagged(const struct record *record)
{
        return record->is[FIELD_TAGS] != NULL || record->is[FIELD_SPANS] != NULL;
}

/* ---- one record, in any thread -------------------------------------------------------------- */

void tag_pairs_release(struct tag_pairs *p)
{
        free(p->end);
        free(p->gold);
        free(p->found);
        ran_buf_release(&p->names);
}

static int check_tags(const struct tagger *t, const struct cmd_labels *gold, size_t n,
                      struct ran_error *err)
{
        if (gold->n != n)
                return ran_fail(err, RAN_EFORMAT, "the document has %zu words but %zu \"tags\"", n,
                                gold->n);
        if (t->tags != NULL && gold->kind == CMD_TAGS_NUMBERS)
                return ran_fail(err, RAN_EFORMAT,
                                "the \"tags\" are numbers, but those of the model are names: give "
                                "--label-names FILE");
        if (t->tags != NULL && gold->kind == CMD_TAGS_NAMES)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "the \"tags\" follow no scheme, but those of the model follow IOB2");
        if (t->tags == NULL && gold->kind == CMD_TAGS_SCHEME)
                return ran_fail(err, RAN_EFORMAT,
                                "the \"tags\" follow a scheme like IOB2, but those of the model "
                                "follow none");
        return RAN_OK;
}

int tag_eval_read(const struct tagger *t, const struct tag_scratch *s, const struct tag_record *r,
                  struct cmd_labels *gold, const struct record *record, struct tag_pairs *pairs,
                  struct ran_error *err)
{
        static const struct ran_tag outside = {'\0', "O", 1};

        RAN_TRY(cmd_labels_read_tags(gold, record, err));
        if (!gold->present)
                RAN_TRY(cmd_span_tags_read(gold, &r->document, record, err));
        RAN_TRY(check_tags(t, gold, r->words, err));
        pairs->end = ran_new(r->words, sizeof *pairs->end);
        pairs->gold = ran_new(r->words, sizeof *pairs->gold);
        pairs->found = ran_new(r->words, sizeof *pairs->found);
        ran_buf_add(&pairs->names, gold->names.data, gold->names.len);
        ran_buf_char(&pairs->names, '\0');
        for (size_t i = 0, begin = 0; i < r->words; begin = pairs->end[i++]) {
                const char *name = pairs->names.data + begin;
                const size_t n = gold->end[i] - begin;

                pairs->end[i] = gold->end[i];
                pairs->gold[i] = (struct ran_tag){'B', name, n};
                if (t->tags != NULL) {
                        RAN_TRY(ran_tag_parse(&pairs->gold[i], name, n, err));
                        pairs->found[i] = r->found[i];
                } else if (r->at[i] == TAG_NOT_READ) {
                        pairs->found[i] = outside;
                } else {
                        const char *tag = ran_model_label(t->model, s->tags[r->at[i]]);

                        pairs->found[i] = (struct ran_tag){'\0', tag, strlen(tag)};
                }
        }
        pairs->n = r->words;
        pairs->present = true;
        return RAN_OK;
}

/* ---- one record, in order ------------------------------------------------------------------- */

/* Others may have another scheme: then a tag of the type is the same. */
static void note_tag(struct tag_eval *e, const struct cmd_line *line, const char *name, size_t n,
                     const struct ran_tag *gold)
{
        const bool foreign = e->tags != NULL && ran_model_is_foreign(e->model);

        for (size_t c = 0; c < ran_model_classes(e->model); c++) {
                const char *known = ran_model_label(e->model, c);

                if (foreign ? (e->tags[c].part == 'O') == (gold->part == 'O') &&
                                      e->tags[c].length == gold->length &&
                                      memcmp(e->tags[c].type, gold->type, gold->length) == 0
                            : strlen(known) == n && memcmp(known, name, n) == 0) {
                        e->words[c]++;
                        return;
                }
        }
        if (++e->unknown > LISTED)
                return;
        cmd_warn("%s:%zu: the model does not know the tag \"%.*s\": any answer counts as wrong",
                 strcmp(line->file, "-") == 0 ? "standard input" : line->file, line->number,
                 (int)(n < 200 ? n : 200), name);
}

void tag_eval_add(struct tag_eval *e, const struct cmd_line *line, const struct tag_pairs *p)
{
        struct ran_buf found = {0};

        e->skipped += !p->present;
        if (!p->present)
                return;
        e->compared++;
        for (size_t i = 0, begin = 0; i < p->n; begin = p->end[i++]) {
                const struct ran_tag *tag = &p->found[i];
                const char *name = p->names.data + begin;
                const size_t n = p->end[i] - begin;

                found.len = 0;
                if (tag->part != '\0')
                        ran_buf_printf(&found, "%c%s", tag->part, tag->length > 0 ? "-" : "");
                ran_buf_add(&found, tag->type, tag->length);
                ran_conll_add_token(e->conll, name, n, found.data, found.len);
                note_tag(e, line, name, n, &p->gold[i]);
        }
        ran_buf_release(&found);
        ran_conll_end_sentence(e->conll);
        if (e->tags != NULL)
                ran_strict_add(e->strict, p->gold, p->found, p->n);
}

/* ---- the report ----------------------------------------------------------------------------- */

static void add_counts(struct report *r, const struct ran_tag_score *s, bool shown)
{
        report_count(r, "gold", shown ? "gold" : NULL, s->gold);
        report_count(r, "found", shown ? "found" : NULL, s->found);
        report_count(r, "correct", shown ? "right" : NULL, s->correct);
}

static void add_rates(struct report *r, const struct ran_prf *rates, bool shown)
{
        report_share(r, "precision", shown ? "precision" : NULL, rates->precision);
        report_share(r, "recall", shown ? "recall" : NULL, rates->recall);
        report_bar(r, "f1", shown ? "F1" : NULL, rates->f1);
}

/* A row of a type, or of all for people. */
static void add_row(struct report *r, const char *name, const char *type, size_t n,
                    const struct ran_tag_score *s)
{
        const double wrong = (double)(s->gold - s->correct + s->found - s->correct);

        report_begin(r, REPORT_OBJECT, name, "");
        report_bytes(r, REPORT_TEXT, "type", "type", type, n);
        add_counts(r, s, true);
        add_rates(r, &s->rates, true);
        report_interval(r, ran_interval_f1((double)s->correct, wrong));
        report_end(r);
}

static void add_types(struct report *r, const struct ran_tag_score *all,
                      const struct ran_tag_score *type, size_t n)
{
        report_begin(r, REPORT_LIST, "per_type", "");
        for (size_t i = 0; i < n; i++)
                add_row(r, "", type[i].type, type[i].length, &type[i]);
        add_row(r, NULL, "all", 3, all);
        report_end(r);
}

static void add_conlleval(struct report *r, const struct ran_conll_report *c, const char *title)
{
        report_begin(r, REPORT_OBJECT, "conlleval", title);
        report_count(r, "tokens", NULL, c->tokens);
        report_count(r, "correct_tokens", NULL, c->correct_tokens);
        report_share(r, "accuracy", NULL, c->accuracy);
        add_counts(r, &c->all, false);
        add_rates(r, &c->all.rates, false);
        add_types(r, &c->all, c->types, c->n_types);
        report_end(r);
}

static void add_strict(struct report *r, const struct ran_strict_report *s)
{
        const size_t wrong = s->all.found - s->all.correct, close = s->boundary_only + s->type_only;

        report_begin(r, REPORT_OBJECT, "strict", "Strict score");
        report_note(r, "An entity counts if its type and both boundaries are right and its tags "
                       "are valid.");
        report_count(r, "sentences", NULL, s->sentences);
        report_count(r, "tokens", NULL, s->tokens);
        add_counts(r, &s->all, false);
        report_begin(r, REPORT_OBJECT, "micro", NULL);
        add_rates(r, &s->all.rates, false);
        report_end(r);
        report_begin(r, REPORT_OBJECT, "macro", NULL);
        add_rates(r, &s->macro, false);
        report_end(r);
        report_share(r, NULL, "macro F1", s->macro.f1);
        report_note(r, "mean over the types");
        report_count(r, "boundary_only", "right boundaries, wrong type", s->boundary_only);
        report_count(r, "type_only", "right type, wrong boundaries", s->type_only);
        report_count(r, NULL, "found, and none there", close < wrong ? wrong - close : 0);
        report_count(r, NULL, "not found as they are", s->all.gold - s->all.correct);
        report_count(r, "invalid_gold", s->invalid_gold > 0 ? "invalid tags in the data" : NULL,
                     s->invalid_gold);
        report_count(r, "invalid_found", s->invalid_found > 0 ? "invalid tags found" : NULL,
                     s->invalid_found);
        add_types(r, &s->all, s->types, s->n_types);
        report_end(r);
}

/* The tag that most words have, and its share of them. */
static void add_baseline(const struct tag_eval *e, size_t words, struct report *r)
{
        size_t most = 0;

        for (size_t c = 1; c < ran_model_classes(e->model); c++)
                if (e->words[c] > e->words[most])
                        most = c;
        const char *tag = ran_model_label(e->model, most);
        const double share = words > 0 ? (double)e->words[most] / (double)words : 0;
        report_share(r, NULL, "baseline", share);
        report_note(r, "always %s", tag);
        report_begin(r, REPORT_OBJECT, "baseline", NULL);
        report_string(r, "tag", NULL, tag);
        report_share(r, "accuracy", NULL, share);
        report_end(r);
}

void tag_eval_tree(struct tag_eval *e, bool page, struct report *r)
{
        const bool scheme = e->tags != NULL;
        struct ran_conll_report conll;
        struct ran_strict_report strict;

        ran_conll_finish(e->conll, &conll);
        report_count(r, "n", "records", e->compared);
        report_count(r, "n_skipped", e->skipped > 0 ? "without tags" : NULL, e->skipped);
        report_note(r, "left out");
        report_count(r, "unknown_tags", e->unknown > 0 ? "tags that the model does not have" : NULL,
                     e->unknown);
        report_count(r, scheme ? NULL : "tokens", "words", conll.tokens);
        report_share(r, scheme ? NULL : "accuracy", "accuracy of tags", conll.accuracy);
        report_interval(r, ran_interval_share((double)conll.correct_tokens, (double)conll.tokens));
        if (scheme)
                add_conlleval(r, &conll, page ? "Score of conlleval" : NULL);
        add_baseline(e, conll.tokens, r);
        if (!scheme)
                return;
        ran_strict_finish(e->strict, &strict);
        add_strict(r, &strict);
}

void tag_eval_report(struct tag_eval *e, int format, struct ran_buf *out)
{
        static const char *const columns[] = {"label", "precision", "recall",  "f1",
                                              "gold",  "found",     "correct", NULL};
        const bool text = format == TAG_EVAL_TEXT;
        struct ran_conll_report conll;
        struct report r = {0};

        ran_conll_finish(e->conll, &conll);
        tag_eval_tree(e, false, &r);
        if (format == TAG_EVAL_CONLLEVAL || (text && e->tags != NULL))
                ran_conll_text(&conll, out);
        if (format == TAG_EVAL_CSV || format == TAG_EVAL_TSV)
                report_rows(&r, "per_type", columns,
                            format == TAG_EVAL_CSV ? &output_csv : &output_tsv, out);
        if (text || format == TAG_EVAL_JSON) {
                ran_buf_str(out, text && e->tags != NULL ? "\n" : "");
                report_finish(&r, text, out);
        }
        report_release(&r);
}
