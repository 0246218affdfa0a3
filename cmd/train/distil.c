/* distil.c - `ran-train distil`: a pretrained encoder distilled into a small model. */
#include "cmd/train/tasks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/content/model.h"
#include "cmd/content/vocab.h"
#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"
#include "cmd/records/loop.h"
#include "cmd/train/about/about.h"
#include "cmd/train/run/options.h"
#include "cmd/train/run/run.h"

enum { HELD_OUT = 2000, HELD_OUT_SHARE = 10 };          /* at most; and of so many texts one */
static const double live_every = 0.2, plain_every = 30; /* seconds */

struct distil {
        char *teacher, *output, *vocab, *vector_cache;
        int weights; /* RAN_STORAGE_... */
        struct ran_distil_settings settings;
        struct ran_vocab_settings vocabulary;
        struct cmd_input input;
        /* The texts. */
        struct ran_counter *counter; /* NULL: the vocabulary is given */
        struct ran_spool text, end;
        size_t bytes, n;
        struct ran_sha256 digest;
        struct ran_buf description;
        double next, began; /* when to say how far it is; when this stage began */
        enum ran_distil_stage stage;
        bool live;
        double loss; /* a running mean */
};

#define DISTIL(member) offsetof(struct distil, member)
static const struct ran_field files_fields[] = {
        {"teacher", 0, RAN_FIELD_TEXT, DISTIL(teacher), .value = "MODEL", .local = true,
         .help = "the pretrained encoder: a folder in Hugging Face's form, or what ran-train "
                 "import made of it; required",
         .first = true},
        {"output", 'o', RAN_FIELD_TEXT, DISTIL(output), .value = "FILE", .local = true,
         .help = "write the model to FILE; required", .first = true},
        {"weights", 0, RAN_FIELD_CHOICE, DISTIL(weights), .choices = ran_storage_names,
         .value = "TYPE", .initial = "i8", .help = TRAIN_WEIGHTS_HELP, .first = true},
        {"vocab", 0, RAN_FIELD_TEXT, DISTIL(vocab), .value = "FILE", .local = true,
         .help = "vocabulary of the model: a tokenizer.json, vocab.txt or a folder with one; "
                 "default: one is learned from the texts",
         .first = true},
        {"vector_cache", 0, RAN_FIELD_TEXT, DISTIL(vector_cache), .value = "FILE", .local = true,
         .help = "keep the vectors of the teacher in FILE, and take from there what it has; "
                 "default: the output's name with .vectors, which is removed at the end",
         .first = true},
        {0},
};

/* ---- texts ----------------------------------------------------------------------------------- */

static int read_text(const struct record *record, struct ran_buf *out, struct ran_error *err)
{
        const struct ran_member *words = record->is[FIELD_TOKENS], *text = record->is[FIELD_TEXT];

        if (words == NULL && (text == NULL || text->type != 's'))
                return ran_fail(err, RAN_EFORMAT, "no text: give text, a string, or tokens");
        if (words == NULL)
                return ran_json_decode(record->json.line, text->value, out, err);
        if (words->type != 'a')
                return json_refuse(record->json.line, words, "must be an array of strings", err);
        for (struct ran_items i = ran_items(record->json.line, words->value); ran_items_next(&i);) {
                if (i.type != 's')
                        return json_refuse(record->json.line, words, "must hold strings only", err);
                if (out->len > 0)
                        ran_buf_char(out, ' ');
                RAN_TRY(ran_json_decode(i.line, i.value, out, err));
        }
        return RAN_OK;
}

static int work(void *arg, void *scratch, const struct cmd_line *line, struct cmd_result *result,
                struct ran_error *err)
{
        const struct distil *d = arg;
        struct cmd_vocab_words *w = scratch;
        size_t *found = result->found; /* bytes of the text; the rest of `out` is its words */

        RAN_TRY(read_text(&line->record, &result->out, err));
        *found = result->out.len;
        if (d->counter == NULL)
                return RAN_OK;
        w->text.len = 0;
        ran_buf_add(&w->text, result->out.data, *found);
        return ran_counter_words(d->counter, w->text.data, w->text.len, &w->encoding, &result->out,
                                 err);
}

static int take(void *arg, const struct cmd_line *line, struct cmd_result *result,
                struct ran_error *err)
{
        struct distil *d = arg;
        const size_t n = *(const size_t *)result->found;
        char *text;
        size_t *end;

        (void)line;
        RAN_TRY(RAN_SPOOL(d->text, text, d->bytes + n + 1, err));
        RAN_TRY(RAN_SPOOL(d->end, end, d->n + 1, err));
        if (n > 0)
                memcpy(text + d->bytes, result->out.data, n);
        d->bytes += n;
        end[d->n++] = d->bytes;
        ran_sha256_add(&d->digest, text + d->bytes - n, n);
        ran_sha256_add(&d->digest, "\n", 1);
        return d->counter == NULL ? RAN_OK
                                  : ran_counter_add(d->counter, result->out.data + n,
                                                    result->out.len - n, err);
}

static int read_texts(struct distil *d, struct ran_pool *pool, char **files)
{
        const struct cmd_loop loop = {.input = &d->input,
                                      .reads = FIELDS_OF_WORDS,
                                      .pool = pool,
                                      .scratch_size = sizeof(struct cmd_vocab_words),
                                      .free_scratch = cmd_vocab_words_free,
                                      .work = work,
                                      .take = take,
                                      .result_size = sizeof(size_t),
                                      .arg = d};

        ran_sha256_init(&d->digest);
        const int status = cmd_records(&loop, files, NULL);
        if (d->n < 2)
                cmd_die(CMD_FAILED, "%zu texts: a distillation needs more", d->n);
        return status;
}

/* ---- vocabulary ------------------------------------------------------------------------------ */

static struct ran_tokenizer *vocabulary_of(struct distil *d)
{
        struct ran_counter_report report;
        struct ran_error err = {0};

        if (d->vocab != NULL)
                return cmd_vocab_open(d->vocab);
        struct ran_tokenizer *t = ran_counter_learn(d->counter, &err);
        if (t == NULL)
                cmd_die(CMD_FAILED, "no vocabulary can be learned: %s", err.text);
        ran_counter_report(d->counter, &report);
        cmd_note("learned a vocabulary of %zu tokens from %" PRIu64 " words, %zu different",
                 ran_tokenizer_size(t), report.words, report.distinct);
        ran_counter_free(d->counter);
        return t;
}

/* ---- progress -------------------------------------------------------------------------------- */

static void say_progress(const struct distil *d, const struct ran_distil_progress *p)
{
        static const char *const what[] = {"the teacher reads tokens", "the teacher reads texts",
                                           "fitting the vectors"};
        const double share = p->of > 0 ? (double)p->done / (double)p->of : 1;
        const double seconds = ran_clock() - d->began;
        struct ran_buf line = {0};
        char left[32];

        ran_buf_printf(&line, "%s  %.0f %%", what[p->stage], floor(100 * share));
        if (p->stage >= RAN_DISTIL_FIT)
                ran_buf_printf(&line, "  loss %.4f", d->loss);
        if (share > 0)
                ran_buf_printf(&line, "  ETA %s", train_duration(left, seconds / share - seconds));
        ran_buf_char(&line, '\0');
        if (d->live)
                cmd_live(line.data);
        else
                cmd_note("%s", line.data);
        ran_buf_release(&line);
}

static int progress(void *arg, const struct ran_distil_progress *p)
{
        struct distil *d = arg;
        const double now = ran_clock();

        if (p->stage != d->stage || d->began == 0) {
                d->began = now;
                d->next = now + (d->live ? 0 : plain_every);
                d->stage = p->stage;
                d->loss = p->loss;
        }
        d->loss += (p->loss - d->loss) / 100;
        if (now >= d->next) {
                say_progress(d, p);
                d->next = now + (d->live ? live_every : plain_every);
        }
        return train_run_stopped();
}

/* ---- what is said of it ---------------------------------------------------------------------- */

/* Teacher and texts, as members of the model's description. */
static void describe(struct distil *d, const struct ran_model *teacher)
{
        const char *digest = ran_model_metadata(teacher, "digest");
        const char *pretrained = ran_model_metadata(teacher, "pretrained");
        struct report r = {0};
        char texts[65];

        ran_sha256_hex(&d->digest, texts);
        report_begin(&r, REPORT_OBJECT, "teacher", NULL);
        report_string(&r, "digest", NULL, digest != NULL ? digest : "");
        if (pretrained != NULL)
                report_bytes(&r, REPORT_RAW, "pretrained", NULL, pretrained, strlen(pretrained));
        report_end(&r);
        report_begin(&r, REPORT_OBJECT, "train", NULL);
        report_count(&r, "documents", NULL, d->n);
        report_string(&r, "digest", NULL, texts);
        report_end(&r);
        report_members(&r, &d->description);
        ran_buf_char(&d->description, '\0');
        report_release(&r);
}

static void say_result(const struct distil *d, const struct ran_distil_report *r)
{
        struct stat file;
        char amount[32];

        if (r->texts < d->n)
                cmd_note("%zu of %zu texts left out: they have no token", d->n - r->texts, d->n);
        if (r->found > 0)
                cmd_note("%zu vectors of the teacher were there, %zu were computed", r->found,
                         r->computed);
        cmd_note("%zu dimensions have %.1f %% of the variance of the teacher's vectors",
                 d->settings.dim, 100 * r->explained);
        cmd_note("on %zu texts that were held out: mean cosine to the teacher's vectors %.3f, "
                 "before the fit %.3f",
                 r->held_out, r->cosine, r->before);
        if (stat(d->output, &file) == 0 && S_ISREG(file.st_mode))
                cmd_note("%s: %sB", d->output, train_amount(amount, (double)file.st_size));
}

/* ---- the run --------------------------------------------------------------------------------- */

/* A file beside the output, if that is a file; NULL: it is none. */
static char *default_cache(const struct distil *d)
{
        struct stat file;
        char *name;

        if (stat(d->output, &file) == 0 && !S_ISREG(file.st_mode))
                return NULL;
        if (asprintf(&name, "%s.vectors", d->output) < 0)
                cmd_die(CMD_FAILED, "out of memory");
        if (lstat(name, &file) == 0 && !S_ISREG(file.st_mode))
                cmd_die(CMD_FAILED,
                        "%s is not a regular file, and the vectors of the teacher would be kept "
                        "there: give --vector-cache FILE",
                        name);
        return name;
}

static int make(struct distil *d, struct ran_model *teacher, const struct ran_tokenizer *tokenizer,
                struct ran_pool *pool)
{
        char *own_cache = d->vector_cache == NULL ? default_cache(d) : NULL;
        struct ran_error err = {0};
        const size_t share = d->n / HELD_OUT_SHARE > 0 ? d->n / HELD_OUT_SHARE : 1;
        const struct ran_distil_job job = {
                .teacher = teacher,
                .tokenizer = tokenizer,
                .settings = &d->settings,
                .text = d->text.data,
                .end = d->end.data,
                .n = d->n,
                .held_out = share < HELD_OUT ? share : HELD_OUT,
                .cache = d->vector_cache != NULL ? d->vector_cache : own_cache,
                .storage = d->weights,
                .description = d->description.data,
                .pool = pool,
                .progress = progress,
                .arg = d,
        };
        struct ran_distil_report report;
        int status = CMD_OK;

        d->live = cmd_can_redraw();
        train_run_catch_signals();
        const int rc = ran_distil(&job, d->output, &report, &err);
        if (d->live)
                cmd_live(NULL);
        /* A full disk takes nothing of what was saved before. */
        const bool kept = job.cache != NULL && (rc == RAN_EINTR || rc == RAN_EIO) &&
                          access(job.cache, F_OK) == 0;
        const char *cache = kept ? job.cache : "",
                   *goes_on = kept ? ": the same command goes on" : "";
        if (rc == RAN_EINTR) {
                cmd_warn("interrupted%s%s%s", kept ? "; " : "", cache, goes_on);
                status = 128 + train_run_stopped();
        } else if (rc != RAN_OK) {
                cmd_die(cmd_status_of(&err), "%s%s%s%s", err.text, kept ? "; " : "", cache,
                        goes_on);
        } else {
                say_result(d, &report);
        }
        if (rc == RAN_OK && own_cache != NULL)
                unlink(own_cache);
        free(own_cache);
        return status;
}

static int run(struct distil *d, char **files)
{
        struct ran_error err = {0};
        struct ran_pool *pool = cmd_pool();
        struct ran_model *teacher = cmd_model_open_any(d->teacher, true);

        if (!ran_config_has_vector(ran_model_config(teacher)))
                cmd_die(CMD_FAILED,
                        "%s is no pretrained encoder of documents: give a folder of Sentence "
                        "Transformers, such as all-MiniLM-L6-v2",
                        d->teacher);
        if (d->vocab == NULL) {
                d->counter = ran_counter_new(&d->vocabulary, &err);
                if (d->counter == NULL)
                        cmd_die(cmd_status_of(&err), "%s", err.text);
        }
        const int read = read_texts(d, pool, files);
        describe(d, teacher);
        struct ran_tokenizer *tokenizer = vocabulary_of(d);
        const int status = make(d, teacher, tokenizer, pool);
        ran_tokenizer_free(tokenizer);
        ran_model_free(teacher);
        ran_pool_free(pool);
        ran_spool_release(&d->text);
        ran_spool_release(&d->end);
        ran_buf_release(&d->description);
        return status != CMD_OK ? status : read;
}

int train_distil(int argc, char **argv)
{
        static struct distil d;
        static const struct train_preset presets[] = {{"vocab_type", "wordpiece"}, {0}};
        static const struct ran_field *vocabulary; /* kept as long as the program */
        vocabulary = train_options_preset(ran_vocab_fields, presets, NULL);
        const struct cmd_group groups[] = {
                {"Distillation", ran_distil_fields, &d.settings},
                {"Files", files_fields, &d},
                {"Vocabulary", vocabulary, &d.vocabulary},
                {"Input", cmd_input_fields, &d.input},
                {NULL, NULL, NULL},
        };
        const struct cmd_program program = {
                .name = "ran-train distil",
                .usage = "--teacher FOLDER [option...] -o FILE [file...]",
                .summary = "Distils a pretrained encoder of documents into a small model: a vector "
                           "for each token of a vocabulary, whose mean comes near to what the "
                           "encoder says of a text.",
                .notes = "The texts need no labels; those of the kind that you will label are "
                         "best. The teacher reads each once, and its vectors are kept: the same "
                         "command goes on after an interruption. What was lost is measured on "
                         "texts that are held out. Use the model with ran-train classify --init "
                         "FILE --encoder static, or ran-classify --embed.",
                .groups = groups,
        };
        char **files = cmd_files(&d.input, argv + cmd_parse(&program, argc, argv));

        if (d.teacher == NULL)
                cmd_usage("no teacher: give --teacher FOLDER, a pretrained encoder");
        if (d.output == NULL)
                cmd_usage("no output file: give -o FILE");
        cmd_check_inputs("output", d.output, files);
        cmd_check_input("output", d.output, d.teacher);
        cmd_check_writable(d.output);
        return cmd_finish(run(&d, files));
}
