/* config.c - the configuration of a model: the `config` of ran-model(5). */
#include "base/field.h"
#include "model/encoder.h"
#include "ran/model.h"

#include <stddef.h>
#include <string.h>

static const char *const cells[] = {"gated", "plain", "prenorm", NULL};
static const char *const contexts[] = {"constant", "learned", "random", NULL};
static const char *const reviews[] = {"none", "all", "window", "dispersed", NULL};
static const char *const poolings[] = {"max", "mean", NULL};

#define AT(member) .offset = offsetof(struct ran_config, member)

const struct ran_field ran_config_fields[] = {
        {.name = "encoder",
         .type = RAN_FIELD_CHOICE,
         AT(encoder),
         .choices = ran_encoder_names,
         .value = "KIND",
         .initial = "ran",
         .first = true,
         .help = "encoder: ran; the lighter contextualizer, which can classify only; a "
                 "transformer; none: the linear model alone, fitted within seconds; or static: the "
                 "linear model with the mean of the vectors of --vectors FOLDER or --init MODEL"},
        {.name = "task",
         .type = RAN_FIELD_CHOICE,
         AT(task),
         .choices = ran_task_names,
         .value = "TASK",
         .initial = "classify",
         .help = "task of the model; the verb sets it"},
        {.name = "dim",
         .type = RAN_FIELD_SIZE,
         AT(dim),
         .low = 1,
         .high = 65536,
         .value = "N",
         .initial = "128",
         .first = true,
         .help = "width D of the model"},
        {.name = "layers",
         .type = RAN_FIELD_SIZE,
         AT(layers),
         .low = 1,
         .high = 1024,
         .value = "N",
         .initial = "2",
         .help = "layers, or steps of a contextualizer"},
        {.name = "heads",
         .type = RAN_FIELD_SIZE,
         AT(heads),
         .low = 1,
         .high = 4096,
         .value = "N",
         .initial = "4",
         .help = "attention heads h of a layer"},
        {.name = "head_dim",
         .type = RAN_FIELD_SIZE,
         AT(head_dim),
         .low = 1,
         .high = 65536,
         .value = "N",
         .initial = "32",
         .help = "width d_k of a head; h d_k need not equal D"},
        {.name = "window",
         .type = RAN_FIELD_SIZE,
         AT(window),
         .low = 1,
         .high = 1 << 20,
         .value = "N",
         .initial = "256",
         .first = true,
         .help = "tokens in a window W; of a transformer, in its attention window"},
        {.name = "min_window",
         .type = RAN_FIELD_SIZE,
         AT(min_window),
         .low = 1,
         .high = 1 << 20,
         .value = "N",
         .initial = "16",
         .help = "ran: a last window of fewer tokens joins the one before (at most W counts)"},
        {.name = "cell",
         .type = RAN_FIELD_CHOICE,
         AT(cell),
         .choices = cells,
         .value = "KIND",
         .initial = "gated",
         .help = "ran: layer and recurrent cell; plain: as the paper prints it; "
                 "prenorm: a residual stream, for several layers"},
        {.name = "mask",
         .type = RAN_FIELD_CHOICE,
         AT(mask),
         .choices = ran_mask_names,
         .value = "KIND",
         .initial = "none",
         .help = "what a token may see; none: the whole document; causal: no later tokens; prefix: "
                 "no later tokens, except the source"},
        {.name = "rotary",
         .type = RAN_FIELD_BOOL,
         AT(rotary),
         .initial = "true",
         .help = "rotary positions in window attention"},
        {.name = "residual",
         .type = RAN_FIELD_BOOL,
         AT(residual),
         .initial = "true",
         .help = "ran: add the previous cell to its update from window to window"},
        {.name = "review",
         .type = RAN_FIELD_CHOICE,
         AT(review),
         .choices = reviews,
         .switches = true,
         .value = "PATTERN",
         .initial = "all",
         .help = "ran: memory review: every token attends to the cells of all windows, or of a "
                 "pattern of them"},
        {.name = "review_window",
         .type = RAN_FIELD_SIZE,
         AT(review_window),
         .low = 1,
         .high = 1 << 20,
         .value = "N",
         .initial = "16",
         .later = true,
         .help = "ran: window of the review's patterns window and dispersed, in windows"},
        {.name = "review_source",
         .type = RAN_FIELD_BOOL,
         AT(review_source),
         .initial = "false",
         .later = true,
         .help = "ran, mask prefix: target tokens review every token of the source, too"},
        {.name = "pooling",
         .type = RAN_FIELD_CHOICE,
         AT(pooling),
         .choices = poolings,
         .value = "KIND",
         .initial = "max",
         .help = "pooling of tokens before classification"},
        {.name = "multilabel",
         .type = RAN_FIELD_BOOL,
         AT(multilabel),
         .help = "several labels a document, a sigmoid each; records with \"labels\" turn this on"},
        {.name = "crf",
         .type = RAN_FIELD_BOOL,
         AT(crf),
         .help = "tagging: predict whole tag sequences with a linear-chain CRF, not each tag by "
                 "itself"},
        {.name = "join_sentences",
         .type = RAN_FIELD_SIZE,
         AT(join_sentences),
         .low = 0,
         .high = 1000,
         .value = "N",
         .initial = "0",
         .help = "tagging: read up to N consecutive sentences with the same \"doc\" as one "
                 "document; 0: each by itself"},
        {.name = "spelling",
         .type = RAN_FIELD_SIZE,
         AT(spelling),
         .low = 0,
         .high = 1 << 24,
         .value = "N",
         .initial = "0",
         .help = "encoder: also read the spelling of words (case, shape, prefixes, suffixes), "
                 "hashed to N rows; 0: no"},
        {.name = "wide",
         .type = RAN_FIELD_SIZE,
         AT(wide),
         .low = 0,
         .high = 1 << 28,
         .value = "N",
         .initial = "0",
         .first = true,
         .help = "rows of the linear model, a table of hashed n-grams or word contexts (named "
                 "after Wide & Deep learning); 0: none"},
        {.name = "ngrams",
         .type = RAN_FIELD_SIZE,
         AT(ngrams),
         .low = 1,
         .high = 8,
         .value = "N",
         .initial = "2",
         .help = "linear model: longest n-grams, in tokens (tagging: in words)"},
        {.name = "affixes",
         .type = RAN_FIELD_BOOL,
         AT(affixes),
         .help = "linear model: add prefixes and suffixes of words, 2 to 5 characters; for unknown "
                 "and split words they replace n-grams"},
        {.name = "frozen",
         .type = RAN_FIELD_BOOL,
         AT(frozen),
         .initial = "false",
         .later = true,
         .help = "classify: leave the encoder of --init as it is, and use its document vectors as "
                 "features of the linear model"},
        {.name = "rank",
         .type = RAN_FIELD_SIZE,
         AT(rank),
         .low = 1,
         .high = 65536,
         .value = "N",
         .initial = "256",
         .help = "contextualizer: rank u of the second-order attention"},
        {.name = "context",
         .type = RAN_FIELD_CHOICE,
         AT(context),
         .choices = contexts,
         .value = "KIND",
         .initial = "constant",
         .help = "contextualizer: initial context; constant: 1"},
        {.name = "position_scale",
         .type = RAN_FIELD_BOOL,
         AT(position_scale),
         .initial = "true",
         .help = "contextualizer: position weights with mean 1, not sum 1"},
        {.name = "ffn_dim",
         .type = RAN_FIELD_SIZE,
         AT(ffn_dim),
         .low = 1,
         .high = 1 << 20,
         .value = "N",
         .initial = "512",
         .help = "transformer: inner width of the feed-forward layers"},
        {.name = "attention",
         .type = RAN_FIELD_CHOICES,
         AT(attention),
         .choices = ran_attention_names,
         .value = "PATTERN",
         .initial = "full",
         .help = "transformer: attention pattern, one for all heads, or one for each with commas "
                 "between; all but full use --window"},
        {.name = "dilation",
         .type = RAN_FIELD_SIZE,
         AT(dilation),
         .low = 0,
         .high = 1 << 20,
         .value = "N",
         .initial = "1",
         .help = "transformer: tokens skipped between two keys of dilated attention"},
        {.name = "similarity",
         .type = RAN_FIELD_CHOICE,
         AT(similarity),
         .choices = ran_similarity_names,
         .value = "KIND",
         .initial = "dot",
         .help = "transformer: score of a query and a key, before the softmax"},
        {.name = "shortlist",
         .type = RAN_FIELD_SIZE,
         AT(shortlist),
         .low = 0,
         .high = 1 << 30,
         .value = "N",
         .initial = "0",
         .help = "language models: adaptive softmax with the N most frequent tokens in its first "
                 "part; 0: one softmax over all"},
        {0},
};

bool ran_config_is_of_task(const char *name)
{
        static const char *const of_task[] = {"task",       "mask",   "min_window",     "pooling",
                                              "multilabel", "crf",    "join_sentences", "spelling",
                                              "wide",       "ngrams", "affixes",        "frozen",
                                              "shortlist"};

        for (size_t i = 0; i < sizeof of_task / sizeof *of_task; i++)
                if (strcmp(of_task[i], name) == 0)
                        return true;
        return false;
}

/* Nothing but the linear model learns then. */
static int check_frozen(const struct ran_config *c, struct ran_error *err)
{
        if (c->task != RAN_TASK_CLASSIFY)
                return ran_fail(err, RAN_EINVAL,
                                "a frozen encoder gives vectors of documents, which are for '%s', "
                                "not for '%s'",
                                ran_task_names[RAN_TASK_CLASSIFY], ran_task_names[c->task]);
        if (!ran_encoder_of(c)->per_token || !ran_config_has_encoder(c))
                return ran_fail(err, RAN_EINVAL,
                                "frozen needs an encoder with outputs of tokens: 'ran', "
                                "'transformer' or 'static', not '%s'",
                                ran_encoder_names[c->encoder]);
        if (c->wide == 0)
                return ran_fail(err, RAN_EINVAL,
                                "a frozen encoder serves the linear model: wide must be above 0");
        return RAN_OK;
}

int ran_config_check(const struct ran_config *c, struct ran_error *err)
{
        if (ran_fields_check(ran_config_fields, c, err) != RAN_OK)
                return RAN_EINVAL;
        const struct ran_encoder *encoder = ran_encoder_of(c); /* the number was in range */
        if (!encoder->per_token && ran_config_has_encoder(c) &&
            ran_task_of(c)->output != RAN_OUTPUT_DOCUMENT)
                return ran_fail(err, RAN_EINVAL,
                                "a %s makes one vector of a document and none of a "
                                "token: it can classify, but for '%s' the encoder must be 'ran'",
                                ran_encoder_names[c->encoder], ran_task_names[c->task]);
        RAN_TRY(ran_task_of(c)->check(c, err));
        if (encoder->check != NULL)
                RAN_TRY(encoder->check(c, err));
        if (c->frozen)
                RAN_TRY(check_frozen(c, err));
        if (c->affixes && c->wide == 1)
                return ran_fail(err, RAN_EINVAL,
                                "n-grams and affixes have rows of their own: wide must be 2 at "
                                "least, or affixes off");
        if (encoder->per_token && c->rotary && c->head_dim % 2 != 0)
                return ran_fail(err, RAN_EINVAL,
                                "rotary positions turn pairs: head_dim must be even, "
                                "not %zu (or rotary off)",
                                c->head_dim);
        return RAN_OK;
}
