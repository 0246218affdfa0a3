/* collection.c - reads the collection that --nearest searches: records, with the vectors that
 * --embed wrote into them or without, and arrays of numpy (cmd/formats/npy.c has the form of the
 * file). */
#include "cmd/classify/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/outputs.h"

struct reading {
        struct classifier classifier;
        struct classify_nearest *nearest;
        size_t given, computed; /* vectors of records */
};

/* Adds a document: its vector, and its id as JSON. */
static void put(struct classify_nearest *n, const float *v, const char *id, size_t length)
{
        RAN_ROOM(n->id_end, n->cap, n->n + 1);
        ran_nearest_add(n->vectors, v);
        ran_buf_add(&n->ids, id, length);
        n->id_end[n->n++] = n->ids.len;
}

/* RAN_EFORMAT unless vectors have this name, of n bytes: that of the ones of the model. */
static int check_name(const struct reading *r, const char *name, size_t n, struct ran_error *err)
{
        const char *vectors = r->classifier.vectors;

        if (n == strlen(vectors) && memcmp(name, vectors, n) == 0)
                return RAN_OK;
        return ran_fail(err, RAN_EFORMAT,
                        "its vectors are of the model %.*s, and this model is %s, whose vectors "
                        "are others: write them with this model (--embed)",
                        (int)(n < 64 ? n : 64), name, vectors);
}

/* ---- arrays of numpy ------------------------------------------------------------------------- */

static const char magic[] = "\x93NUMPY";
enum { MAGIC = sizeof magic - 1, PREFIX = MAGIC + 4, HEADER_MOST = 65535 };
enum { NAME = 16, TAIL = 128 + NAME }; /* of the vectors; the array with it */

static bool is_array(const char *path)
{
        const size_t n = strlen(path);
        char begin[MAGIC];
        FILE *f = fopen(path, "rb");
        const bool is =
                f != NULL && fread(begin, 1, MAGIC, f) == MAGIC && memcmp(begin, magic, MAGIC) == 0;

        if (f != NULL)
                fclose(f);
        return is || (n > 4 && strcmp(path + n - 4, ".npy") == 0);
}

/* What the header says; the rows begin at *from. *name: of the vectors, or NULL. */
static int read_header(const struct ran_bytes *b, size_t D, size_t *rows, size_t *from,
                       const char **name, struct ran_error *err)
{
        const unsigned char *p = b->data;
        char header[HEADER_MOST + 1], number[2][19];
        size_t length = 0, cols = 0, floats;
        int end = 0;

        if (b->size < MAGIC || memcmp(p, magic, MAGIC) != 0)
                return ran_fail(err, RAN_EFORMAT, "no array of numpy, as its name says");
        if (b->size >= PREFIX && p[MAGIC] == 1)
                length = p[PREFIX - 2] + (size_t)p[PREFIX - 1] * 256;
        *from = PREFIX + length;
        if (length == 0 || b->size < *from)
                return ran_fail(err, RAN_EFORMAT,
                                "an array of numpy of another version than 1.0, or cut off");
        memcpy(header, p + PREFIX, length);
        header[length] = '\0';
        /* As numpy writes it, and our own --output-format. */
        if (sscanf(header,
                   "{'descr': '<f4', 'fortran_order': False, 'shape': (%18[0-9], %18[0-9]), }%n",
                   number[0], number[1], &end) != 2 ||
            end == 0 || !ran_parse_size(number[0], strlen(number[0]), rows) ||
            !ran_parse_size(number[1], strlen(number[1]), &cols))
                return ran_fail(err, RAN_EFORMAT,
                                "not an array of rows of 32-bit floats, the lowest byte first");
        if (cols != D)
                return ran_fail(err, RAN_EFORMAT,
                                "its vectors have %zu numbers, and those of the model have %zu",
                                cols, D);
        *name = NULL;
        if (b->size - *from >= TAIL && memcmp(p + b->size - TAIL, magic, MAGIC) == 0)
                *name = (const char *)p + b->size - NAME;
        const size_t room = b->size - *from - (*name != NULL ? TAIL : 0);
        if (__builtin_mul_overflow(*rows, cols, &floats) || floats > room / 4 || floats * 4 != room)
                return ran_fail(err, RAN_EFORMAT,
                                "its %zu rows are not all there, or there is more than them",
                                *rows);
        return RAN_OK;
}

/* A row that is not a number is of a record without a vector, and left out. */
static void add_row(struct classify_nearest *to, const char *path, size_t row,
                    const unsigned char *p, float *v, size_t D)
{
        struct ran_buf place = {0}, id = {0};
        bool finite = true;

        for (size_t d = 0; d < D; d++) {
                const unsigned char *x = p + 4 * d;
                const uint32_t bits = (uint32_t)x[0] | (uint32_t)x[1] << 8 | (uint32_t)x[2] << 16 |
                                      (uint32_t)x[3] << 24;

                memcpy(&v[d], &bits, sizeof bits);
                finite &= isfinite(v[d]) != 0;
        }
        if (!finite)
                return;
        ran_buf_printf(&place, "%s:%zu", path, row + 1);
        ran_buf_json(&id, place.data, place.len);
        put(to, v, id.data, id.len);
        ran_buf_release(&place);
        ran_buf_release(&id);
}

/* Adds the rows of an array to the collection, row i as "PATH:i", from 1. */
static int read_rows(const struct reading *r, const char *path, const struct ran_bytes *b,
                     struct ran_error *err)
{
        const size_t D = r->classifier.D;
        size_t rows = 0, from = 0;
        const char *name = NULL;

        RAN_TRY(read_header(b, D, &rows, &from, &name, err));
        if (name != NULL)
                RAN_TRY(check_name(r, name, NAME, err));
        float *v = ran_new_floats(D);
        for (size_t i = 0; i < rows; i++)
                add_row(r->nearest, path, i, b->data + from + i * D * 4, v, D);
        free(v);
        return RAN_OK;
}

/* ---- the vector of a record ------------------------------------------------------------------ */

/* The array "embedding" of the record's member "prediction", or that of --into; false: none. model:
 * the string "embedding_model" beside it, empty if there is none. */
static bool find_embedding(const struct ran_record *r, const char *into, struct ran_span *array,
                           struct ran_span *model)
{
        const struct ran_member *m = ran_record_find(r, into != NULL ? into : "prediction", NULL);

        *model = (struct ran_span){0};
        if (m == NULL)
                return false;
        if (ran_json_find(r->line, m->value, "embedding_model", 's', model, NULL))
                *model = (struct ran_span){model->begin + 1, model->end - 1};
        return ran_json_find(r->line, m->value, "embedding", 'a', array, NULL);
}

static int read_embedding(const struct ran_record *r, struct ran_span array, size_t D, float *v,
                          struct ran_error *err)
{
        size_t n = 0;
        double x;

        for (struct ran_items i = ran_items(r->line, array); ran_items_next(&i);) {
                if (i.type != 'n' ||
                    !ran_parse_double(r->line + i.value.begin, i.value.end - i.value.begin, &x) ||
                    !isfinite((float)x))
                        return ran_fail(err, RAN_EFORMAT,
                                        "its embedding has an element that is no "
                                        "number in range");
                if (n < D)
                        v[n] = (float)x;
                n++;
        }
        if (n != D)
                return ran_fail(err, RAN_EFORMAT,
                                "its embedding has %zu numbers, and those of the model have %zu", n,
                                D);
        return RAN_OK;
}

/* A document of the collection. */
struct found {
        float *v;          /* (D) */
        bool computed;     /* from its text */
        struct ran_buf id; /* as JSON */
};

static void release_found(void *found)
{
        struct found *f = found;

        free(f->v);
        ran_buf_release(&f->id);
}

static int read_vector(void *arg, void *scratch, const struct cmd_line *line,
                       struct cmd_result *result, struct ran_error *err)
{
        const struct classifier *c = arg;
        struct found *f = result->found;
        const struct ran_record *r = &line->record.json;
        struct ran_span array, model;
        const float *v;

        f->v = ran_new_floats(c->D);
        f->computed = !find_embedding(r, c->options->output.into, &array, &model);
        if (!f->computed) {
                if (model.end > model.begin)
                        RAN_TRY(check_name(arg, r->line + model.begin, model.end - model.begin,
                                           err));
                RAN_TRY(read_embedding(r, array, c->D, f->v, err));
        } else {
                RAN_TRY(classify_vector(c, scratch, line, &v, err));
                memcpy(f->v, v, c->D * sizeof *v);
        }
        cmd_line_id(line, false, &f->id);
        return RAN_OK;
}

static int take_vector(void *arg, const struct cmd_line *line, struct cmd_result *result,
                       struct ran_error *err)
{
        const struct found *f = result->found;
        struct reading *r = arg;

        (void)line;
        r->computed += f->computed;
        r->given += !f->computed;
        (void)err;
        put(r->nearest, f->v, f->id.data, f->id.len);
        return RAN_OK;
}

/* ---- the collection -------------------------------------------------------------------------- */

void classify_nearest_read(struct classify_nearest *n, const struct classifier *c)
{
        const struct classify_options *o = c->options;
        const struct cmd_member also[] = {
                {o->output.into != NULL ? o->output.into : "prediction", NULL}, {NULL, NULL}};
        const struct cmd_input input = cmd_input_beside(&o->input, "among", o->among_format);
        struct reading r = {.classifier = *c, .nearest = n};
        const struct cmd_loop loop = {.input = &input,
                                      .reads = FIELD(ID) | FIELD(ERROR) | FIELDS_OF_DOCUMENT,
                                      .also = also,
                                      .pool = c->pool,
                                      .make_scratch = classify_scratch_new,
                                      .free_scratch = classify_scratch_free,
                                      .work = read_vector,
                                      .take = take_vector,
                                      .result_size = sizeof(struct found),
                                      .release = release_found,
                                      .arg = &r};
        char **files = ran_new(o->among.n + 1, sizeof *files); /* that are no arrays; NULL */
        struct ran_error err = {0};
        struct ran_bytes b;

        *n = (struct classify_nearest){
                .vectors = ran_nearest_new(c->D),
                .least = o->least > -1 ? o->least : -INFINITY, /* rounding leads beyond -1 */
        };
        cmd_check_inputs("output", o->output.output, o->among.item);
        for (size_t i = 0, others = 0; i < o->among.n; i++) {
                char *path = o->among.item[i];

                if (!is_array(path)) {
                        files[others++] = path;
                        continue;
                }
                if (ran_bytes_open(&b, path, &err) != RAN_OK)
                        cmd_die(CMD_FAILED, "--among %s", err.text);
                if (read_rows(&r, path, &b, &err) != RAN_OK)
                        cmd_die(CMD_FAILED, "--among %s: %s", path, err.text);
                ran_bytes_release(&b);
        }
        if (files[0] != NULL)
                cmd_records(&loop, files, NULL);
        free(files);
        if (r.computed > 0)
                cmd_note("--among: %zu records had a vector, and those of %zu were computed from "
                         "their text",
                         r.given, r.computed);
        if (n->n == 0)
                cmd_die(CMD_FAILED, "--among %s: no document to compare with", o->among.item[0]);
        n->most = ran_least(o->nearest, n->n);
}
