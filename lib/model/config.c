/* config.c - what a model is, apart from its weights: the `config` of ran-model(5). */
#include "base/field.h"
#include "model/encoder.h"

#include <stddef.h>
#include <string.h>

static const char *const cells[] = {"gated", "plain", NULL};
static const char *const contexts[] = {"constant", "learned", "random", NULL};
static const char *const poolings[] = {"max", "mean", NULL};

#define AT(member) .offset = offsetof(struct ran_config, member)

const struct ran_field ran_config_fields[] = {
        {.name = "encoder",
         .type = RAN_FIELD_CHOICE,
         AT(encoder),
         .choices = ran_encoder_names,
         .value = "KIND",
         .initial = "ran",
         .help = "encoder: ran; the lighter contextualizer, which can classify only; a "
                 "transformer; or none: the linear model alone, fitted within seconds"},
        {.name = "task",
         .type = RAN_FIELD_CHOICE,
         AT(task),
         .choices = ran_task_names,
         .value = "TASK",
         .initial = "classify",
         .help = "what to learn (the verb sets it)"},
        {.name = "dim",
         .type = RAN_FIELD_SIZE,
         AT(dim),
         .low = 1,
         .high = 65536,
         .value = "N",
         .initial = "128",
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
         .help = "width d_k of one head; h d_k need not be D"},
        {.name = "window",
         .type = RAN_FIELD_SIZE,
         AT(window),
         .low = 1,
         .high = 1 << 20,
         .value = "N",
         .initial = "256",
         .help = "tokens in a window W"},
        {.name = "min_window",
         .type = RAN_FIELD_SIZE,
         AT(min_window),
         .low = 1,
         .high = 1 << 20,
         .value = "N",
         .initial = "16",
         .help = "a last window of fewer tokens joins the one before it (at most W counts)"},
        {.name = "cell",
         .type = RAN_FIELD_CHOICE,
         AT(cell),
         .choices = cells,
         .value = "KIND",
         .initial = "gated",
         .help = "recurrent cell: gated, or plain as the paper prints it"},
        {.name = "mask",
         .type = RAN_FIELD_CHOICE,
         AT(mask),
         .choices = ran_mask_names,
         .value = "KIND",
         .initial = "none",
         .help = "what a token may see: none hides nothing"},
        {.name = "rotary",
         .type = RAN_FIELD_BOOL,
         AT(rotary),
         .initial = "true",
         .help = "rotary positions in window attention"},
        {.name = "residual",
         .type = RAN_FIELD_BOOL,
         AT(residual),
         .initial = "true",
         .help = "add the previous cell to the update of a window's cell"},
        {.name = "review",
         .type = RAN_FIELD_BOOL,
         AT(review),
         .initial = "true",
         .help = "memory review: every token attends to the cells of all windows"},
        {.name = "pooling",
         .type = RAN_FIELD_CHOICE,
         AT(pooling),
         .choices = poolings,
         .value = "KIND",
         .initial = "max",
         .help = "how the classifier pools the tokens"},
        {.name = "multilabel",
         .type = RAN_FIELD_BOOL,
         AT(multilabel),
         .help = "several labels a document, a sigmoid each (set by records with \"labels\")"},
        {.name = "crf",
         .type = RAN_FIELD_BOOL,
         AT(crf),
         .help = "tagging: score whole sequences of tags (a linear-chain CRF), not each by itself"},
        {.name = "join_sentences",
         .type = RAN_FIELD_SIZE,
         AT(join_sentences),
         .low = 0,
         .high = 1000,
         .value = "N",
         .initial = "0",
         .help = "tagging: read up to N successive sentences with the same \"doc\" as one "
                 "document; 0: each by itself"},
        {.name = "spelling",
         .type = RAN_FIELD_SIZE,
         AT(spelling),
         .low = 0,
         .high = 1 << 24,
         .value = "N",
         .initial = "0",
         .help = "also read how words are spelled (case, shape, prefixes, suffixes): features "
                 "hashed to a table of N rows; 0: no"},
        {.name = "wide",
         .type = RAN_FIELD_SIZE,
         AT(wide),
         .low = 0,
         .high = 1 << 28,
         .value = "N",
         .initial = "0",
         .help = "a linear model beside the encoder (after Wide & Deep learning): n-grams of a "
                 "document, or the context of a word, hashed to a table of N rows; 0: no"},
        {.name = "ngrams",
         .type = RAN_FIELD_SIZE,
         AT(ngrams),
         .low = 1,
         .high = 8,
         .value = "N",
         .initial = "2",
         .help = "linear model: the longest n-grams, in tokens"},
        {.name = "affixes",
         .type = RAN_FIELD_BOOL,
         AT(affixes),
         .help = "linear model: also prefixes and suffixes of words, two to five characters; for "
                 "words that are unknown or divided nothing else"},
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
         .help = "contextualizer: the first context; constant is 1"},
        {.name = "position_scale",
         .type = RAN_FIELD_BOOL,
         AT(position_scale),
         .initial = "true",
         .help = "contextualizer: weights of positions are 1 on average; otherwise they add up to "
                 "1"},
        {.name = "ffn_dim",
         .type = RAN_FIELD_SIZE,
         AT(ffn_dim),
         .low = 1,
         .high = 1 << 20,
         .value = "N",
         .initial = "512",
         .help = "transformer: width inside the feed-forward part"},
        {.name = "attention",
         .type = RAN_FIELD_CHOICES,
         AT(attention),
         .choices = ran_attention_names,
         .value = "PATTERN",
         .initial = "full",
         .help = "transformer: which tokens see each other, one pattern for all heads or one for "
                 "each: full, window, dilated or dispersed, the latter three with --window"},
        {.name = "dilation",
         .type = RAN_FIELD_SIZE,
         AT(dilation),
         .low = 0,
         .high = 1 << 20,
         .value = "N",
         .initial = "1",
         .help = "transformer: tokens that dilated attention skips between two"},
        {.name = "similarity",
         .type = RAN_FIELD_CHOICE,
         AT(similarity),
         .choices = ran_similarity_names,
         .value = "KIND",
         .initial = "dot",
         .help = "transformer: similarity of a query and a key before the softmax"},
        {.name = "shortlist",
         .type = RAN_FIELD_SIZE,
         AT(shortlist),
         .low = 0,
         .high = 1 << 30,
         .value = "N",
         .initial = "0",
         .help = "language models: adaptive softmax, the N most frequent tokens first and the rest "
                 "in groups of falling frequency; 0: one softmax over all"},
        {0},
};

bool ran_config_is_of_task(const char *name)
{
        static const char *const of_task[] = {
                "task",           "mask",     "min_window", "pooling", "multilabel", "crf",
                "join_sentences", "spelling", "wide",       "ngrams",  "affixes",    "shortlist"};

        for (size_t i = 0; i < sizeof of_task / sizeof *of_task; i++)
                if (strcmp(of_task[i], name) == 0)
                        return true;
        return false;
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
