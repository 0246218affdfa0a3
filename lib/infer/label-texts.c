/* label-texts.c - labels by their descriptions: their file, and the classifier that they make.
 *
 *   logit_c = 14 cos(v, w_c),   w_c the mean of the unit vectors of the label's descriptions
 *
 * is a linear model over the vector v of a document, so all that works with classifiers works with
 * this one. Means of a collection are not subtracted, as the result of a document depends on it
 * alone; that of the labels' vectors would change no order. The scale 14 has the least loss over
 * eight collections (of 2 to 150 labels; the best one for each lies between 8 and 19).
 */
#include "base/string-table.h"
#include "file/model.h"
#include "infer/infer.h"
#include "part/linear/linear-rows.h"
#include "part/vectors/document-vector.h"
#include "math/elementary.h"
#include "ran/model.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 1 << 26 }; /* far more than any has */
static const double scale = 14;

struct text {
        size_t label, line;
        char *s;
        size_t n;
};

struct ran_label_texts {
        char *where;                   /* the file, for messages */
        struct ran_string_table names; /* of labels, by number */
        char **label;                  /* (C) */
        size_t *line;                  /* (C) where each is first named */
        size_t C, label_cap, line_cap;
        struct text *text; /* (n) */
        size_t n, text_cap;
};

/* line 0: there are no lines. */
__attribute__((format(printf, 4, 5))) static int
refuse(const struct ran_label_texts *t, size_t line, struct ran_error *err, const char *format, ...)
{
        char why[256];
        va_list args;

        va_start(args, format);
        vsnprintf(why, sizeof why, format, args);
        va_end(args);
        return line > 0 ? ran_fail(err, RAN_EFORMAT, "%s:%zu: %s", t->where, line, why)
                        : ran_fail(err, RAN_EFORMAT, "%s: %s", t->where, why);
}

void ran_label_texts_free(struct ran_label_texts *t)
{
        if (t == NULL)
                return;
        for (size_t c = 0; c < t->C; c++)
                free(t->label[c]);
        for (size_t i = 0; i < t->n; i++)
                free(t->text[i].s);
        ran_string_table_release(&t->names);
        free(t->label);
        free(t->line);
        free(t->text);
        free(t->where);
        free(t);
}

size_t ran_label_texts_count(const struct ran_label_texts *t)
{
        return t->C;
}

const char *ran_label_texts_label(const struct ran_label_texts *t, size_t c)
{
        return t->label[c];
}

/* ---- the file -------------------------------------------------------------------------------- */

/* A part of a line. */
struct part {
        const char *s;
        size_t n;
};

static struct part trim(struct part p)
{
        while (p.n > 0 && (p.s[0] == ' ' || p.s[0] == '\t'))
                p.s++, p.n--;
        while (p.n > 0 && (p.s[p.n - 1] == ' ' || p.s[p.n - 1] == '\t'))
                p.n--;
        return p;
}

static void new_label(struct ran_label_texts *t, struct part name, size_t line)
{
        RAN_ROOM(t->label, t->label_cap, t->C + 1);
        RAN_ROOM(t->line, t->line_cap, t->C + 1);
        t->label[t->C] = ran_copy(name.s, name.n);
        t->line[t->C++] = line;
        ran_string_table_add(&t->names, name.s, name.n);
}

/* The label of that name, which may be a new one. */
static int find_label(struct ran_label_texts *t, struct part name, size_t line, size_t *label,
                      struct ran_error *err)
{
        name = trim(name);
        if (name.n == 0 || memchr(name.s, '\0', name.n) != NULL)
                return refuse(t, line, err, "no label: a line is label, tab, description");
        const uint32_t found = ran_string_table_find(&t->names, name.s, name.n);

        *label = found != RAN_STRING_TABLE_NONE ? found : t->C;
        if (found == RAN_STRING_TABLE_NONE)
                new_label(t, name, line);
        return RAN_OK;
}

static int add_text(struct ran_label_texts *t, size_t label, struct part of, size_t line,
                    struct ran_error *err)
{
        of = trim(of);
        if (of.n == 0)
                return refuse(t, line, err, "the description of \"%s\" is empty", t->label[label]);
        RAN_ROOM(t->text, t->text_cap, t->n + 1);
        t->text[t->n++] = (struct text){label, line, ran_copy(of.s, of.n), of.n};
        return RAN_OK;
}

/* A label, and its descriptions behind tabs. */
static int read_line(struct ran_label_texts *t, struct part line, size_t number,
                     struct ran_error *err)
{
        const char *end = line.s + line.n, *tab = memchr(line.s, '\t', line.n);
        size_t label = 0;

        if (trim(line).s[0] == '{')
                return refuse(t, number, err, "JSON: a line is label, tab, description");
        RAN_TRY(find_label(t, (struct part){line.s, (size_t)((tab ? tab : end) - line.s)}, number,
                           &label, err));
        while (tab != NULL) {
                const char *from = tab + 1;

                tab = memchr(from, '\t', (size_t)(end - from));
                const struct part text = {from, (size_t)((tab != NULL ? tab : end) - from)};
                RAN_TRY(add_text(t, label, text, number, err));
        }
        return RAN_OK;
}

static int read_lines(struct ran_label_texts *t, struct part file, struct ran_error *err)
{
        const char *s = file.s, *end = file.s + file.n;

        for (size_t number = 1; s < end; number++) {
                const char *feed = memchr(s, '\n', (size_t)(end - s));
                struct part line = {s, (size_t)((feed != NULL ? feed : end) - s)};

                s += line.n + (feed != NULL);
                line.n -= line.n > 0 && line.s[line.n - 1] == '\r';
                if (ran_utf8_valid(line.s, line.n) < line.n)
                        return refuse(t, number, err, "not text in UTF-8");
                if (trim(line).n > 0)
                        RAN_TRY(read_line(t, line, number, err));
        }
        return RAN_OK;
}

/* ---- all descriptions ------------------------------------------------------------------------ */

/* Labels without a description are described by their names. */
static int add_names(struct ran_label_texts *t, struct ran_error *err)
{
        bool *has = ran_new(t->C, sizeof *has);
        int rc = RAN_OK;

        for (size_t i = 0; i < t->n; i++)
                has[t->text[i].label] = true;
        for (size_t c = 0; rc == RAN_OK && c < t->C; c++) {
                if (has[c])
                        continue;
                rc = add_text(t, c, (struct part){t->label[c], strlen(t->label[c])}, t->line[c],
                              err);
                for (char *s = rc == RAN_OK ? t->text[t->n - 1].s : NULL; s != NULL && *s; s++)
                        *s = strchr("_-./", *s) != NULL ? ' ' : *s;
        }
        free(has);
        return rc;
}

static struct ran_label_texts *new_texts(const char *where)
{
        struct ran_label_texts *t = ran_new(1, sizeof *t);

        t->where = ran_copy(where, strlen(where));
        return t;
}

/* rc: of reading them. NULL: there was an error, or there are too few. */
static struct ran_label_texts *finished(struct ran_label_texts *t, int rc, struct ran_error *err)
{
        if (rc == RAN_OK && t->C == 0)
                rc = refuse(t, 0, err, "no label");
        else if (rc == RAN_OK && t->C == 1)
                rc = refuse(t, t->line[0], err, "\"%s\" is the only label: two are needed",
                            t->label[0]);
        else if (rc == RAN_OK)
                rc = add_names(t, err);
        if (rc == RAN_OK)
                return t;
        ran_label_texts_free(t);
        return NULL;
}

struct ran_label_texts *ran_label_texts_open(const char *path, struct ran_error *err)
{
        struct ran_label_texts *t;
        struct ran_bytes file;

        err = ran_error_or_spare(err);
        if (ran_bytes_open_within(&file, path, FILE_BYTES, err) != RAN_OK)
                return NULL;
        t = new_texts(path);
        const char *s = (const char *)file.data;
        const size_t mark = ran_utf8_mark(s, file.size);
        t = finished(t, read_lines(t, (struct part){s + mark, file.size - mark}, err), err);
        ran_bytes_release(&file);
        return t;
}

static int read_names(struct ran_label_texts *t, const char *names, struct ran_error *err)
{
        for (bool more = true; more;) {
                const size_t n = strcspn(names, ","), before = t->C;
                const struct part name = trim((struct part){names, n});
                size_t label = 0;

                if (name.n == 0)
                        return refuse(t, 0, err, "a name is empty: give names with commas between");
                RAN_TRY(find_label(t, name, 0, &label, err));
                if (t->C == before)
                        return refuse(t, 0, err, "\"%s\" is there twice", t->label[label]);
                more = names[n] == ',';
                names += n + more;
        }
        return RAN_OK;
}

struct ran_label_texts *ran_label_texts_of(const char *names, const char *where,
                                           struct ran_error *err)
{
        struct ran_label_texts *t = new_texts(where);

        err = ran_error_or_spare(err);
        return finished(t, read_names(t, names, err), err);
}

struct ran_label_texts *ran_label_texts_of_names(char *const *names, size_t C, const char *where,
                                                 struct ran_error *err)
{
        struct ran_label_texts *t = new_texts(where);

        for (size_t c = 0; c < C; c++)
                new_label(t, (struct part){names[c], strlen(names[c])}, 0);
        return finished(t, RAN_OK, ran_error_or_spare(err));
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* What reading the descriptions needs. */
struct reader {
        const struct ran_label_texts *t;
        const struct ran_model *m;
        const struct ran_embedder *e;
        struct ran_state *state;
        struct ran_encoding encoding;
        struct ran_string_table ids; /* of descriptions that were read */
        float *v;                    /* (width) of one */
        double length;               /* the sum of their lengths */
};

bool ran_label_words_are_foreign(const struct ran_label_words *words)
{
        return words->broken > 3 && 5 * words->broken > words->tokens;
}

static void count_words(const struct reader *r, struct ran_label_words *words)
{
        const struct ran_tokenizer *tokenizer = r->m->tokenizer;
        const uint32_t unknown = ran_tokenizer_unknown(tokenizer);

        for (size_t i = 0; i < r->encoding.n; i++) {
                size_t n;
                const char *token = ran_tokenizer_token(tokenizer, r->encoding.ids[i], &n);

                words->broken += r->encoding.ids[i] == unknown ||
                                 (token != NULL && n > 2 && memcmp(token, "##", 2) == 0);
        }
        words->tokens += r->encoding.n;
}

/* Two labels with one description could not be told apart. */
static int check_new(struct reader *r, const struct text *text, struct ran_error *err)
{
        const char *ids = (const char *)r->encoding.ids;
        const size_t n = r->encoding.n * sizeof *r->encoding.ids;
        const size_t before = r->ids.n;
        const uint32_t same = ran_string_table_add(&r->ids, ids, n);

        if (same == before)
                return RAN_OK;
        const struct text *first = &r->t->text[same];
        return refuse(r->t, text->line, err,
                      first->line > 0 ? "\"%s\" and \"%s\" have the same description, \"%.60s\" "
                                        "(line %zu)"
                                      : "\"%s\" and \"%s\" have the same description, \"%.60s\"",
                      r->t->label[first->label], r->t->label[text->label], text->s, first->line);
}

/* Adds the unit vector of a description to that of its label. */
static int read_text(struct reader *r, const struct text *text, float *label,
                     struct ran_label_words *words, struct ran_error *err)
{
        const size_t width = ran_embedder_width(r->e), spelling = r->m->config.spelling;
        struct ran_encoding *e = &r->encoding;
        double length = 0;

        RAN_TRY(ran_tokenizer_encode(r->m->tokenizer, text->s, text->n, e, err));
        if (spelling > 0)
                RAN_TRY(ran_encoding_spell(e, 0, text->s, text->n, spelling, err));
        count_words(r, words);
        const struct ran_document d = {.ids = e->ids, .L = e->n, .spelling = e->spelling};
        if (e->n > 0) {
                RAN_TRY(check_new(r, text, err));
                RAN_TRY(ran_embed(r->e, r->state, &d, r->v, err));
                length = ran_unit(r->v, r->v, width, 1);
        }
        if (!(length > 0))
                return refuse(r->t, text->line, err,
                              "the model knows no word of \"%.60s\", which describes \"%s\"",
                              text->s, r->t->label[text->label]);
        for (size_t i = 0; i < width; i++)
                label[i] += r->v[i];
        r->length += length;
        return RAN_OK;
}

static int read_all(struct reader *r, float *v, struct ran_label_words *words,
                    struct ran_error *err)
{
        const struct ran_label_texts *t = r->t;
        const size_t width = ran_embedder_width(r->e);

        r->state = ran_state_new(r->m, NULL);
        r->v = ran_new_floats(width);
        for (size_t i = 0; i < t->n; i++)
                RAN_TRY(read_text(r, &t->text[i], v + t->text[i].label * width, words, err));
        for (size_t c = 0; c < t->C; c++)
                if (!(ran_unit(v + c * width, v + c * width, width, 1) > 0))
                        return refuse(t, t->line[c], err, "the descriptions of \"%s\" cancel out",
                                      t->label[c]);
        return RAN_OK;
}

int ran_label_texts_vectors(const struct ran_label_texts *t, const struct ran_model *m,
                            const struct ran_embedder *e, float *v, double *length,
                            struct ran_label_words *words, struct ran_error *err)
{
        struct reader r = {.t = t, .m = m, .e = e};

        err = ran_error_or_spare(err);
        *words = (struct ran_label_words){0};
        if (m->tokenizer == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "the model has no vocabulary to read the descriptions with");
        memset(v, 0, t->C * ran_embedder_width(e) * sizeof *v);
        int rc = read_all(&r, v, words, err);
        *length = r.length / (double)t->n;
        ran_state_free(r.state);
        ran_encoding_release(&r.encoding);
        ran_string_table_release(&r.ids);
        free(r.v);
        return rc;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* Means of rows are what static vectors are. */
static int config_of(struct ran_config *c, const struct ran_model *m, struct ran_error *err)
{
        *c = m->config; /* texts in it stay the model's */
        if (!ran_config_has_vector(c)) {
                ran_config_take_static(c, c->dim);
                c->spelling = 0;
                c->mask = RAN_MASK_NONE;
                c->ran.review_source = false;
        }
        c->task = RAN_TASK_CLASSIFY;
        c->frozen = true;
        c->upper = RAN_UPPER_POOLING;
        c->linear = (struct ran_config_linear){.wide = 1, .ngrams = 1};
        c->classify.multilabel = false;
        c->tag = (struct ran_config_tag){0};
        c->lm.shortlist = 0;
        return ran_config_check(c, err);
}

static void describe(struct ran_buf *out, const struct ran_model *m,
                     const struct ran_label_texts *t)
{
        const char *digest = ran_model_metadata(m, "digest");

        ran_buf_printf(out, "{\"init\":{\"digest\":\"%s\"},\"label_texts\":[",
                       digest != NULL ? digest : "");
        for (size_t i = 0; i < t->n; i++) {
                const char *label = t->label[t->text[i].label];

                ran_buf_str(out, i > 0 ? ",{\"label\":" : "{\"label\":");
                ran_buf_json(out, label, strlen(label));
                ran_buf_str(out, ",\"text\":");
                ran_buf_json(out, t->text[i].s, t->text[i].n);
                ran_buf_char(out, '}');
        }
        ran_buf_add(out, "]}", 3); /* with the NUL that ends it */
}

/* What is made, until it is written. */
struct making {
        struct ran_config config;
        struct ran_layout layout;
        struct ran_params params;
        float *v, *zero; /* (C, F), and the linear model's table of one row */
        struct ran_buf training;
};

static int make(struct ran_bytes *to, struct making *k, const struct ran_model *m,
                const struct ran_embedder *e, const struct ran_label_texts *t,
                struct ran_label_words *words, struct ran_error *err)
{
        const struct ran_extra known = ran_model_known(m);
        const size_t F = ran_embedder_width(e);
        double length = 1, bias;
        size_t all;

        if (__builtin_mul_overflow(t->C, F, &all))
                return ran_fail(err, RAN_ENOMEM, "no memory for the vectors of %zu labels", t->C);
        RAN_TRY(config_of(&k->config, m, err));
        RAN_TRY(ran_layout_init(&k->layout, &k->config, t->C, err));
        RAN_TRY(ran_params_init(&k->params, &k->config, t->C, err));
        k->v = ran_new_floats(all);
        k->zero = ran_new_floats(t->C);
        struct ran_linear_params *linear = ran_linear_of(&k->params);
        linear->wide = linear->idf = k->zero;
        ran_document_vector_of(&k->params)->token_weight = ran_embedder_weights(e);
        RAN_TRY(ran_label_texts_vectors(t, m, e, k->v, &length, words, err));
        for (size_t c = 0; c < t->C; c++) {
                ran_embedder_fold(e, k->v + c * F, &bias);
                for (size_t f = 0; f < F; f++)
                        linear->dense[f * t->C + c] =
                                (float)(scale / length * (double)k->v[c * F + f]);
                linear->bias[c] = (float)(scale / length * bias);
        }
        describe(&k->training, m, t);
        const struct ran_parts parts = {.config = &k->config,
                                        .layout = &k->layout,
                                        .params = &k->params,
                                        .V = m->V,
                                        .C = t->C,
                                        .labels = t->label,
                                        .tokenizer = m->tokenizer,
                                        .training = k->training.data,
                                        .from = &m->tensors,
                                        .pretrained = ran_model_metadata(m, "pretrained"),
                                        .prompts = ran_model_metadata(m, "prompts"),
                                        .extra = &known,
                                        .extras = known.n > 0};
        return ran_model_write(NULL, to, &parts, err);
}

struct ran_model *ran_label_model(const struct ran_model *m, const struct ran_label_texts *t,
                                  struct ran_label_words *words, struct ran_error *err)
{
        struct making k = {0};

        err = ran_error_or_spare(err);
        if (m->config.task == RAN_TASK_CLASSIFY) {
                ran_fail(err, RAN_EINVAL, "the model is a classifier, and has labels already");
                return NULL;
        }
        struct ran_embedder *e = ran_embedder_new(m, err);
        if (e == NULL)
                return NULL;
        struct ran_model *to = ran_new(1, sizeof *to);
        to->in_memory = true;
        if (make(&to->file, &k, m, e, t, words, err) != RAN_OK ||
            ran_model_read(to, false, err) != RAN_OK) {
                ran_model_free(to);
                to = NULL;
        }
        ran_params_release(&k.params);
        ran_layout_release(&k.layout);
        free(k.v);
        free(k.zero);
        ran_buf_release(&k.training);
        ran_embedder_free(e);
        return to;
}
