/* attnmask.h - the options of ran-attnmask, and its answers: about patterns, and about a model in
 * documents. */
#ifndef CMD_ATTNMASK_ATTNMASK_H
#define CMD_ATTNMASK_ATTNMASK_H

#include "cmd/attnmask/picture.h"
#include "cmd/content/reading.h"
#include "cmd/records/loop.h"

struct attnmask_options {
        struct ran_choices attention;
        int mask, format;
        size_t length, window, dilation, source, size, reach; /* 0: not given */
        char *row, *rows;
        bool count, table;
        /* With a model. */
        char *model, *layer, *head, *in_window;
        bool verify, weights;
        size_t top;
        int offsets, map;
        char *label;
};
enum { ATTNMASK_MAP_ATTENTION, ATTNMASK_MAP_LABEL, ATTNMASK_MAP_TOKENS };

/* "A:B", any numbers with A < B. */
bool attnmask_parse_rows(const char *text, size_t *from, size_t *to);
/* The most characters or pixels across: --size, or the default. */
size_t attnmask_size(const struct attnmask_options *o);
/* Writes panels of values as a picture, whose scale turns them into shades. p has its dimensions
 * and what stands around the panels; its shades and the legend's ends are made here. A panel much
 * wider than high, or the other way round, gets more cells of each. */
int attnmask_draw(const struct attnmask_options *o, struct picture *p, const double *value,
                  struct cmd_sink *out, struct ran_error *err);

/* ---- patterns ------------------------------------------------------------------------------- */

/* One for each name in --attention. */
struct attnmask_head {
        int pattern;
        struct ran_mask mask;
};
struct attnmask {
        const struct attnmask_options *options;
        struct attnmask_head *heads;
        char **names; /* (n) "dispersed(4)" */
        size_t n;
        size_t from, to; /* --rows, else all; --row: that one alone */
};

/* Each appends its answer to out. RAN_EINVAL, RAN_ENOMEM. */
int attnmask_grid(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err);
int attnmask_rows(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err);
int attnmask_row(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err);
int attnmask_count(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err);
/* Needs no heads: it has patterns and lengths of its own. */
int attnmask_table(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err);

/* ---- a model (model.c, selection.c) --------------------------------------------------------- */

/* Reads records and answers each of them, or draws one; returns the program's status. */
int attnmask_model(const struct attnmask_options *options,
                   const struct cmd_document_options *document, struct cmd_input *input,
                   const struct cmd_output *output, char **files);
/* The requested part of the attention. */
struct attnmask_selection {
        struct ran_probe_shape shape; /* of a document of one token */
        size_t layer_from, layer_to;
        size_t head_from, head_to; /* head_from RAN_PROBE_MEAN: the mean of all */
        bool review;               /* and the mean; the mean alone if no head is given */
        enum { ATTNMASK_ALL, ATTNMASK_TOKENS, ATTNMASK_WINDOW, ATTNMASK_CELL } by;
        size_t from, to; /* query tokens, or the window or cell `from` */
};
struct attnmask_model {
        const struct attnmask_options *options;
        const struct ran_model *model;
        struct ran_pool *pool;
        struct cmd_reading_how how;
        struct attnmask_selection selection; /* of --map attention; else its tokens alone */
        bool labels, tags;                   /* the model has labels; they are of words */
        size_t class;                        /* of --label; SIZE_MAX: the most probable */
};
/* Each thread has one. */
struct attnmask_scratch {
        struct ran_state *state;
        struct cmd_reading reading;   /* the document at hand */
        struct ran_probe_shape shape; /* of it */
        struct ran_probe *probes;     /* (n) */
        double *sum;                  /* of all of them */
        struct attnmask_ranked {
                double value;
                size_t at;
        } * ranked; /* by attnmask_rank */
        size_t n, cap, sum_cap, ranked_cap;
        struct ran_explainer *explainer; /* of the other maps, else NULL */
        double *value;                   /* (L) */
        size_t value_cap;
};

/* Exits if the model has no such part. picture: requires one layer, and heads of one shape. */
void attnmask_select(struct attnmask_selection *c, const struct attnmask_options *o,
                     const struct ran_config *config, bool picture);
/* Sets the probes of the selection in the current document, without sum, in blocks of one: layer by
 * layer, head by head. zoom: limits keys to the query tokens, too. RAN_EINVAL if the document
 * has no such part. */
int attnmask_probes(const struct attnmask_selection *c, struct attnmask_scratch *s, bool zoom,
                    struct ran_error *err);
/* Runs n probes on the current document. */
int attnmask_probe(const struct attnmask_model *a, const struct attnmask_scratch *s,
                   struct ran_probe *probes, size_t n, struct ran_error *err);

/* ---- answers about the current document ----------------------------------------------------- */

/* Each answers as JSON, an object, or as a picture or a page, explained on stderr where it needs to
 * be; `line` is where the document comes from. RAN_EFORMAT, RAN_EINVAL. */

/* Attention (attention.c, attention-picture.c, page.c). */
int attnmask_attention(const struct attnmask_model *a, struct attnmask_scratch *s,
                       struct ran_buf *out, struct ran_error *err);
int attnmask_attention_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                               const struct cmd_line *line, struct cmd_sink *out,
                               struct ran_error *err);
int attnmask_attention_page(const struct attnmask_model *a, struct attnmask_scratch *s,
                            const struct cmd_line *line, struct cmd_sink *out,
                            struct ran_error *err);

/* The other maps: attribution of a label, or of the outputs of tokens, to tokens (map.c,
 * page-map.c). _select exits if the model does not support it. */
void attnmask_map_select(struct attnmask_model *a);
int attnmask_map(const struct attnmask_model *a, struct attnmask_scratch *s, struct ran_buf *out,
                 struct ran_error *err);
int attnmask_map_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                         const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err);
int attnmask_map_page(const struct attnmask_model *a, struct attnmask_scratch *s,
                      const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err);
/* Reads the current document and sets s->value (L). */
struct attnmask_map {
        const char *label; /* NULL: the outputs of tokens [from, to) */
        double p;          /* of the label; NaN: unknown */
        size_t from, to;   /* the requested tokens; all: 0 and L */
};
int attnmask_map_values(const struct attnmask_model *a, struct attnmask_scratch *s,
                        struct attnmask_map *map, struct ran_error *err);

/* Sets s->ranked to the elements of x (n) whose magnitude is at least that, the larger first,
 * equals in their order. Returns how many there are. */
size_t attnmask_rank(struct attnmask_scratch *s, const double *x, size_t n, double least);
/* Appends `"top":[...]`: the first of n that are ranked, at most --top. from: the key of element 0;
 * name: of the member with the value. */
void attnmask_add_top(struct ran_buf *out, const struct attnmask_model *a,
                      const struct attnmask_scratch *s, enum ran_axis axis, size_t from, size_t n,
                      const char *name);

/* Begins a page: its title, the name of the document, the model. */
void attnmask_page_begin(const struct attnmask_model *a, const struct attnmask_scratch *s,
                         const struct cmd_line *line, const char *title, struct ran_buf *out);

/* ---- words of the current document (token-text.c) ------------------------------------------- */

/* The text, token by token. Zero-initialise. Offsets of the reading must count bytes. */
struct token_text {
        const struct cmd_reading *reading;
        const struct ran_tokenizer *tokenizer;
        struct cmd_shown shown;
        size_t at; /* bytes of the text before the next token */
};
int token_text_begin(struct token_text *x, const struct cmd_reading *reading,
                     const struct ran_model *m, const struct record *record, struct ran_error *err);
void token_text_release(struct token_text *x);
/* A token: the text between the last one and it, and its own. Call it for one token after another,
 * from any one on. */
struct token_part {
        const char *gap, *text;
        size_t gap_n, n;
        char number[24]; /* the text of a token that has only an id */
};
void token_text_next(struct token_text *x, size_t t, struct token_part *part);
/* The text behind the last token. */
void token_text_rest(const struct token_text *x, struct token_part *part);

/* What stands at [from, to) of an axis: tokens, or rows of tokens and cells. Free them with
 * picture_strings_free. An error is one of the document. */
int attnmask_words(char ***words, const struct attnmask_model *a, const struct attnmask_scratch *s,
                   const struct cmd_line *line, enum ran_axis axis, size_t from, size_t to,
                   struct ran_error *err);
/* "WHAT: name of the record"; the caller frees it. */
char *attnmask_title(const char *what, const struct cmd_line *line);

#endif
