/* ran-tag.c - a tag for each word of documents of any length, and the entities that they mark. */
#include "cmd/tag/tag.h"

#include <stdlib.h>

#include "cmd/options/message.h"
#include "cmd/options/outputs.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"
#include "cmd/records/loop.h"
#include "cmd/content/model.h"
#include "cmd/content/labels.h"

/* An evaluation or a page needs this of a record. */
struct found {
        struct tag_pairs pairs;
        struct page_document document;
};

static void release(void *arg)
{
        struct found *found = arg;

        tag_pairs_release(&found->pairs);
        page_document_release(&found->document);
}

/* ---- tagging -------------------------------------------------------------------------------- */

struct program_state {
        struct tagger tagger;
        struct tag_eval eval;   /* with --eval */
        struct cmd_names names; /* of the records' tags, with --eval */
        struct cmd_known known; /* training documents among them */
        struct tag_page page;   /* with html */
};

/* Each thread has one. */
struct scratch {
        struct tag_scratch tags;
        struct cmd_labels gold; /* of a record, with --eval or a page */
        struct tag_page_scratch page;
};

static void free_scratch(void *arg)
{
        struct scratch *s = arg;

        tag_scratch_release(&s->tags);
        tag_page_scratch_release(&s->page);
        cmd_labels_release(&s->gold);
        free(s);
}

static void *make_scratch(void *arg)
{
        const struct program_state *p = arg;
        struct scratch *s = ran_new(1, sizeof *s);

        s->tags.state = ran_state_new(p->tagger.model, p->tagger.pool);
        s->gold.called = &p->names;
        return s;
}

/* The records of the items are sentences of one document. */
static void note_known(struct program_state *p, const struct scratch *s,
                       const struct cmd_item *items, size_t n)
{
        uint32_t fingerprint = 0;
        size_t compared = 0;

        for (size_t i = 0; i < n; i++) {
                if (items[i].code != RAN_OK)
                        continue;
                fingerprint += s->tags.record[i].document.fingerprint;
                compared += ((const struct found *)items[i].result->found)->pairs.present;
        }
        for (size_t i = 0; i < compared; i++)
                cmd_known_note(&p->known, p->tagger.model, fingerprint);
}

static bool is_page(void)
{
        return tag_options.eval ? tag_options.eval_format == TAG_EVAL_HTML
                                : tag_output.format->kind == OUTPUT_PAGE;
}

/* Of an evaluation, a record without tags gives nothing. A page of predictions shows them beside
 * tags that can be compared. */
static int work(struct program_state *p, struct scratch *s, const struct tag_record *r,
                struct cmd_item *item)
{
        const struct record *record = &item->line->record;
        struct found *found = item->result->found;
        const bool eval = tag_options.eval, tagged = tag_eval_tagged(record), page = is_page();

        if (!eval && !page)
                return tag_write(&p->tagger, &s->tags, r, item);
        if (eval && !tagged)
                return RAN_OK;
        const int rc = tagged ? tag_eval_read(&p->tagger, &s->tags, r, &s->gold, record,
                                              &found->pairs, item->err)
                              : RAN_OK;
        if (eval && rc != RAN_OK)
                return rc;
        return page ? tag_page_make(&p->page, &s->page, &s->tags, r, &found->pairs, item,
                                    &found->document)
                    : RAN_OK;
}

static void work_all(void *arg, void *scratch, struct cmd_item *items, size_t n)
{
        struct program_state *p = arg;
        struct scratch *s = scratch;

        tag_words(&p->tagger, &s->tags, items, n);
        for (size_t i = 0; i < n; i++)
                if (items[i].code == RAN_OK)
                        items[i].code = work(p, s, &s->tags.record[i], &items[i]);
        if (tag_options.eval)
                note_known(p, s, items, n);
}

/* ---- an evaluation or a page ----------------------------------------------------------------- */

static int take(void *arg, const struct cmd_line *line, struct cmd_result *result,
                struct ran_error *err)
{
        struct program_state *p = arg;
        const struct found *found = result->found;

        (void)err;
        if (tag_options.eval)
                tag_eval_add(&p->eval, line, &found->pairs);
        if (is_page() && (!tag_options.eval || found->pairs.present))
                tag_page_add(&p->page, &found->document);
        return RAN_OK;
}

static int evaluate(struct program_state *p, struct cmd_loop *loop, char **files)
{
        struct tag_eval *eval = &p->eval;
        struct ran_buf report = {0};
        struct cmd_counts counts;

        cmd_check_output(tag_output.output, files);
        if (tag_options.eval) {
                tag_eval_init(eval, p->tagger.model, p->tagger.tags);
                p->tagger.fingerprints = loop->accepted = true;
                cmd_names_open(&p->names, tag_options.label_names, true);
                p->page.eval = eval;
        } else if (tag_output.output == NULL) {
                cmd_check_standard_output(files);
        }
        loop->output = NULL;
        loop->take = take;
        loop->result_size = sizeof(struct found);
        loop->release = release;
        int status = cmd_records(loop, files, &counts);
        if (tag_options.eval && eval->compared == 0)
                cmd_die(CMD_FAILED, "no record has tags: there is nothing to compare with");
        if (eval->skipped > 0)
                cmd_note("%zu records have no tags and are left out", eval->skipped);
        if (tag_options.eval)
                cmd_known_warn(&p->known, eval->compared, tag_options.model);
        if (is_page()) {
                tag_page_write(&p->page, counts.bad + counts.passed, tag_output.output);
        } else {
                tag_eval_report(eval, tag_options.eval_format, &report);
                cmd_write_file(tag_output.output, &report);
                ran_buf_release(&report);
        }
        tag_eval_release(eval);
        cmd_names_release(&p->names);
        return status;
}

/* ---- the program ---------------------------------------------------------------------------- */

static int run(struct program_state *p, char **files)
{
        struct cmd_loop loop = {
                .input = &tag_input,
                .output = &tag_output,
                .into = "prediction",
                .reads = FIELD(ID) | FIELD(ERROR) | FIELDS_OF_DOCUMENT | FIELDS_OF_TAGS |
                         FIELD(GROUP),
                .pool = p->tagger.pool,
                .make_scratch = make_scratch,
                .free_scratch = free_scratch,
                .work_all = work_all,
                .together = ran_model_config(p->tagger.model)->tag.join_sentences,
                .columns = tag_columns,
                .arg = p,
        };

        return tag_options.eval || is_page() ? evaluate(p, &loop, files)
                                             : cmd_records(&loop, files, NULL);
}

int main(int argc, char **argv)
{
        int first = cmd_parse(&tag_program, argc, argv);

        tag_options_check();
        if (tag_options.model == NULL)
                return cmd_finish(tag_conlleval(argv + first, tag_output.output));
        struct ran_model *model =
                cmd_model_open(tag_options.model, tag_options.verify, RAN_TASK_TAG);
        struct program_state p = {.tagger = {
                                          .model = model,
                                          .pool = cmd_pool(),
                                          .C = ran_model_classes(model),
                                          .tags = ran_model_tags(model),
                                  }};

        cmd_input_remember(&tag_input, model);
        tag_split_choose(&p.tagger);
        if (p.tagger.tags == NULL && ran_model_is_foreign(model))
                cmd_note("the labels of this model mark no entities: predictions have tags only");
        if (p.tagger.tags == NULL && tag_output.format->kind == OUTPUT_ROWS)
                cmd_usage("the tags of this model mark no entities: --output-format=conll writes a "
                          "line for each word");
        tag_page_init(&p.page, &p.tagger, tag_options.model);
        int status = run(&p, cmd_files(&tag_input, argv + first));

        tag_page_release(&p.page);
        ran_pool_free(p.tagger.pool);
        free(p.tagger.tags);
        ran_model_free(model);
        return cmd_finish(status);
}
