/* page.c - tagged documents as a page: entities in their text, gold beside found.
 *
 * Threads make the HTML of a document; the page takes them in order. Counts are sums, so they may
 * be added in any order. */
#include "cmd/tag/tag.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/pages/page.h"
#include "cmd/content/labels.h"

/* WHOLE: bytes shown without folding; NAMED: entities in the list of
 * doubt; WORST: errors that a page of an evaluation shows. */
enum { WHOLE = 3000, NAMED = 6, WORST = 50 };

void tag_page_scratch_release(struct tag_page_scratch *s)
{
        cmd_shown_release(&s->shown);
        free(s->gold_entity);
        free(s->found_mark);
        free(s->gold_mark);
        ran_buf_release(&s->word);
}

/* ---- types ----------------------------------------------------------------------------------- */

/* The last one stands for those that the model does not have. */
static size_t type_of(const struct tag_page *p, const char *name, size_t n)
{
        for (size_t i = 0; i + 1 < p->types; i++)
                if (p->type[i].n == n && memcmp(p->type[i].name, name, n) == 0)
                        return i;
        return p->types - 1;
}

void tag_page_init(struct tag_page *p, const struct tagger *t, const char *model)
{
        *p = (struct tag_page){.tagger = t, .model = model, .types = 1};
        p->type = ran_new(t->C + 1, sizeof *p->type);
        for (size_t c = 0; c < t->C; c++) {
                const char *label = ran_model_label(t->model, c);
                const char *name = t->tags != NULL ? t->tags[c].type : label;
                size_t n = t->tags != NULL ? t->tags[c].length : strlen(label);

                if ((t->tags != NULL && t->tags[c].part == 'O') ||
                    type_of(p, name, n) + 1 < p->types)
                        continue;
                p->type[p->types - 1].name = name;
                p->type[p->types++ - 1].n = n;
        }
        p->type[p->types - 1].name = "(other)";
        p->type[p->types - 1].n = strlen("(other)");
}

void tag_page_release(struct tag_page *p)
{
        page_documents_release(&p->documents);
        free(p->type);
}

/* ---- marks ----------------------------------------------------------------------------------- */

/* Where the text has words, one entity after another. */
struct placing {
        const struct tag_record *record;
        const struct record *line;
        struct cmd_spans spans;
        struct tag_page_scratch *s;
};

static void begin_placing(struct placing *w, struct tag_page_scratch *s, const struct tag_record *r,
                          const struct record *line)
{
        *w = (struct placing){.record = r, .line = line, .s = s};
        cmd_spans_begin(&w->spans, &r->document, line, RAN_UNIT_BYTE);
}

/* Appends a mark for words [first, last), if the text has them. */
static int add_mark(struct placing *w, struct page_mark **marks, size_t *n, size_t *cap,
                    size_t first, size_t last, struct page_mark m, struct ran_error *err)
{
        w->s->word.len = 0;
        RAN_TRY(cmd_spans_next(&w->spans, first, last, &m.start, &m.end, &w->s->word, err));
        if (!cmd_shown_place(&w->s->shown, &m.start, &m.end))
                return RAN_OK;
        RAN_ROOM(*marks, *cap, *n + 1);
        (*marks)[(*n)++] = m;
        return RAN_OK;
}

static struct page_mark mark_of(const struct tag_page *p, const char *type, size_t n, size_t of)
{
        return (struct page_mark){.kind = "e",
                                  .colour = (int)of,
                                  .label = n > 0 ? type : p->type[of].name,
                                  .label_n = n > 0 ? n : p->type[of].n};
}

/* Whether the next of a list, in order, are this one; *at moves past those before it. */
static bool is_next(const struct ran_entity *list, size_t n, size_t *at, const struct ran_entity *e)
{
        while (*at < n && list[*at].start < e->start)
                ++*at;
        return *at < n && list[*at].start == e->start && list[*at].end == e->end &&
               list[*at].length == e->length && memcmp(list[*at].type, e->type, e->length) == 0;
}

/* ---- entities -------------------------------------------------------------------------------- */

/* The counts of one document. */
struct result {
        size_t found, gold, right; /* entities, or tags */
        bool has_gold;
        float least; /* probability */
};

/* Lists what was found; tags of no scheme: each word that was read has one. */
static size_t list_found(const struct tag_page *p, const struct tag_scratch *tags,
                         const struct tag_record *r)
{
        size_t n = 0;

        if (p->tagger->tags != NULL)
                return ran_tags_entities(r->found, r->words, r->entities);
        for (size_t i = 0; i < r->words; i++) {
                if (r->at[i] == TAG_NOT_READ)
                        continue;
                const char *tag = ran_model_label(p->tagger->model, tags->tags[r->at[i]]);
                r->entities[n++] = (struct ran_entity){
                        .start = i, .end = i + 1, .type = tag, .length = strlen(tag)};
        }
        return n;
}

static int mark_found(struct tag_page *p, struct tag_page_scratch *s,
                      const struct tag_scratch *tags, const struct tag_record *r,
                      const struct record *line, struct result *result, struct ran_error *err)
{
        struct placing w;
        size_t at = 0;

        begin_placing(&w, s, r, line);
        for (size_t i = 0; i < result->found; i++) {
                const struct ran_entity *e = &r->entities[i];
                const size_t type = type_of(p, e->type, e->length);
                const float score = tag_score(tags, r, e->start, e->end);
                const bool right = is_next(s->gold_entity, result->gold, &at, e);
                struct page_mark m = mark_of(p, e->type, e->length, type);

                result->right += right;
                atomic_fetch_add(&p->type[type].found, 1);
                if (result->has_gold) {
                        atomic_fetch_add(&p->type[type].right, right);
                        page_reliability_add(&p->reliability, (double)score, right);
                }
                snprintf(m.title, sizeof m.title, "%.1f %%", 100 * (double)score);
                RAN_TRY(add_mark(&w, &s->found_mark, &s->found_n, &s->found_cap, e->start, e->end,
                                 m, err));
        }
        return RAN_OK;
}

static int mark_gold(struct tag_page *p, struct tag_page_scratch *s, const struct tag_record *r,
                     const struct record *line, const struct result *result, struct ran_error *err)
{
        struct placing w;

        begin_placing(&w, s, r, line);
        for (size_t i = 0; i < result->gold; i++) {
                const struct ran_entity *e = &s->gold_entity[i];
                const size_t type = type_of(p, e->type, e->length);

                atomic_fetch_add(&p->type[type].gold, 1);
                RAN_TRY(add_mark(&w, &s->gold_mark, &s->gold_n, &s->gold_mark_cap, e->start, e->end,
                                 mark_of(p, e->type, e->length, type), err));
        }
        return RAN_OK;
}

/* ---- HTML of a document ---------------------------------------------------------------------- */

static void add_text(struct ran_buf *out, const struct cmd_shown *shown,
                     const struct page_mark *marks, size_t n, const char *title)
{
        page_open(out, "div.side");
        if (title != NULL)
                page_put(out, "small", "%s", title);
        page_document_text(out, "div.text.tagged", &shown->text, marks, n, shown->text.len > WHOLE);
        page_close(out, "div");
}

/* The first entities, each with its text. */
static void add_named(struct ran_buf *out, const struct tag_page_scratch *s, size_t most)
{
        for (size_t i = 0; i < s->found_n && i < most; i++) {
                const struct page_mark *m = &s->found_mark[i];

                ran_buf_str(out, i > 0 ? " " : "");
                page_mark_add(out, m->colour, s->shown.text.data + m->start, m->end - m->start, 60);
        }
        if (s->found_n > most) {
                ran_buf_char(out, ' ');
                page_put(out, "small", "and %zu more", s->found_n - most);
        }
}

static void add_body(struct ran_buf *out, const struct tag_page_scratch *s, const struct result *r)
{
        bool same = r->right == r->found && r->right == r->gold;

        if (r->has_gold)
                page_put(out, same ? "p.good" : "p.bad", "%s gold: %zu, found: %zu, right: %zu",
                         same ? "\xe2\x9c\x93" : "\xe2\x9c\x97", r->gold, r->found, r->right);
        if (s->shown.text.len > WHOLE && s->found_n > 0) {
                page_open(out, "p");
                add_named(out, s, 40);
                page_close(out, "p");
        }
        if (!r->has_gold || same) {
                add_text(out, &s->shown, s->found_mark, s->found_n, NULL);
                return;
        }
        page_open(out, "div.sides");
        add_text(out, &s->shown, s->found_mark, s->found_n, "found");
        add_text(out, &s->shown, s->gold_mark, s->gold_n, "gold");
        page_close(out, "div");
}

int tag_page_make(struct tag_page *p, struct tag_page_scratch *s, const struct tag_scratch *tags,
                  const struct tag_record *r, const struct tag_pairs *pairs,
                  const struct cmd_item *item, struct page_document *d)
{
        const struct record *line = &item->line->record;
        struct result result = {.has_gold = pairs->present,
                                .least = tag_score(tags, r, 0, r->words)};
        struct ran_buf named = {0};

        RAN_TRY(cmd_shown_read(&s->shown, &r->document, line, item->err));
        s->found_n = s->gold_n = 0;
        result.found = list_found(p, tags, r);
        RAN_ROOM(s->gold_entity, s->entity_cap, pairs->n);
        result.gold = ran_tags_entities(pairs->gold, pairs->n, s->gold_entity);
        RAN_TRY(mark_found(p, s, tags, r, line, &result, item->err));
        RAN_TRY(mark_gold(p, s, r, line, &result, item->err));
        atomic_fetch_add(&p->reliability.gold, result.gold);
        atomic_fetch_add(&p->compared, result.has_gold);
        atomic_fetch_add(&p->wrong, result.has_gold && (result.right < result.found ||
                                                        result.right < result.gold));
        page_record_name(&d->name, &line->json, item->line->file, item->line->number);
        add_named(&named, s, NAMED);
        report_html(&d->row, "found", &named);
        report_share(&d->row, NULL, "least probable tag", (double)result.least);
        add_body(&d->body, s, &result);
        /* The number of errors in an evaluation; else how sure the least sure tag is. */
        d->doubt = p->eval == NULL
                           ? 1 - (double)result.least
                           : (double)(result.found - result.right + result.gold - result.right);
        return RAN_OK;
}

void tag_page_add(struct tag_page *p, const struct page_document *d)
{
        if (p->eval != NULL)
                p->documents.most = WORST;
        if (p->eval == NULL || (d->doubt > 0 && page_documents_want(&p->documents, d->doubt)))
                page_documents_add(&p->documents, d);
}

/* ---- the page -------------------------------------------------------------------------------- */

static void write_types(const struct tag_page *p, struct ran_buf *out)
{
        const bool entities = p->tagger->tags != NULL;
        struct report r = {0};

        report_begin(&r, REPORT_LIST, NULL, entities ? "Entities" : "Tags");
        for (size_t i = 0; i < p->types; i++) {
                const struct tag_page_type *k = &p->type[i];
                struct ran_buf name = {0};

                if (k->found + k->gold == 0)
                        continue;
                page_mark_add(&name, (int)i, k->n > 0 ? k->name : "(no type)", k->n > 0 ? k->n : 9,
                              SIZE_MAX);
                report_begin(&r, REPORT_OBJECT, NULL, "");
                report_html(&r, entities ? "type" : "tag", &name);
                report_count(&r, NULL, "found", k->found);
                report_count(&r, NULL, p->compared > 0 ? "gold" : NULL, k->gold);
                report_count(&r, NULL, p->compared > 0 ? "right" : NULL, k->right);
                report_end(&r);
        }
        report_end(&r);
        report_page(&r, out);
        report_release(&r);
}

static void write_lead(const struct tag_page *p, size_t failed, struct ran_buf *out)
{
        struct ran_buf lead = {0};
        size_t n = p->eval != NULL ? p->eval->compared : p->documents.seen;

        page_count(&lead, n);
        ran_buf_printf(&lead, " record%s, model %s", n == 1 ? "" : "s", p->model);
        if (p->eval != NULL && p->eval->skipped > 0)
                ran_buf_printf(&lead, "; %zu without tags are left out", p->eval->skipped);
        if (failed > 0)
                ran_buf_printf(&lead, "; %zu records failed and are not here", failed);
        page_begin(out, p->eval != NULL ? "Evaluation" : "Tagged documents", &lead);
}

void tag_page_write(struct tag_page *p, size_t failed, const char *output)
{
        struct report figures = {0};
        struct cmd_sink out;

        cmd_sink_open(&out, output);
        write_lead(p, failed, &out.buf);
        if (p->eval != NULL) {
                tag_eval_tree(p->eval, true, &figures);
                report_page(&figures, &out.buf);
                report_release(&figures);
                page_reliability_write(&p->reliability,
                                       p->tagger->tags != NULL ? "entities" : "tags", NULL,
                                       "The probability of an entity is that of its least "
                                       "probable tag.",
                                       &out.buf);
        }
        write_types(p, &out.buf);
        if (p->eval == NULL)
                page_documents_write(&p->documents, "In doubt: the least probable tags", &out);
        else
                page_worst_write(&p->documents, "Worst errors", p->wrong, "records with an error",
                                 &out);
        page_end(&out.buf);
        cmd_sink_close(&out);
}
