/* config.c - the configuration of a model: the `config` of ran-model(5). */
#include "nn/part.h"
#include "ran/model.h"

#include <stddef.h>
#include <string.h>

static const char *const cells[] = {"gated", "plain", "prenorm", "published", NULL};
static const char *const contexts[] = {"constant", "learned", "random", NULL};
static const char *const reviews[] = {"none", "all", "window", "dispersed", NULL};
static const char *const poolings[] = {"max", "mean", "cls", "last", NULL};
static const char *const activations[] = {"none", "gelu", "gelu_tanh", "relu",
                                          "silu", "tanh", NULL};

static const char *const uppers[] = {"pooling", "mean", "max", "certain", NULL};

#define AT(member) offsetof(struct ran_config, member)

const struct ran_field ran_config_fields[] = {
        {"encoder", 0, RAN_FIELD_CHOICE, AT(encoder), .choices = ran_encoder_names, .value = "KIND",
         .initial = "ran", .first = true,
         .help = "encoder: ran; the lighter contextualizer, which can classify only; a "
                 "transformer; none: the linear model alone, fitted within seconds; or static: the "
                 "linear model with the mean of the vectors of --vectors FOLDER or --init MODEL; "
                 "or bert: a pretrained encoder (--init)"},
        {"task", 0, RAN_FIELD_CHOICE, AT(task), .choices = ran_task_names, .value = "TASK",
         .initial = "classify", .fixed = true, .help = "task of the model; the verb sets it"},
        {"dim", 0, RAN_FIELD_SIZE, AT(dim), 1, 65536, .value = "N", .initial = "128", .first = true,
         .help = "width D of the model"},
        {"layers", 0, RAN_FIELD_SIZE, AT(layers), 1, 1024, .value = "N", .initial = "2",
         .help = "layers, or steps of a contextualizer"},
        {"heads", 0, RAN_FIELD_SIZE, AT(heads), 1, 4096, .value = "N", .initial = "4",
         .help = "attention heads h of a layer"},
        {"head_dim", 0, RAN_FIELD_SIZE, AT(head_dim), 1, 65536, .value = "N", .initial = "32",
         .help = "width d_k of a head; h d_k need not equal D"},
        {"window", 0, RAN_FIELD_SIZE, AT(window), 1, 1 << 20, .value = "N", .initial = "256",
         .first = true, .help = "tokens in a window W; of a transformer, in its attention window"},
        {"min_window", 0, RAN_FIELD_SIZE, AT(min_window), 1, 1 << 20, .value = "N", .initial = "16",
         .help = "ran: a last window of fewer tokens joins the one before (at most W counts)"},
        {"cell", 0, RAN_FIELD_CHOICE, AT(ran.cell), .choices = cells, .value = "KIND",
         .initial = "prenorm",
         .help = "ran: layer and recurrent cell; prenorm: a residual stream; gated: the paper's; "
                 "plain: as the paper prints it; published: as in the authors' package rannet"},
        {"mask", 0, RAN_FIELD_CHOICE, AT(mask), .choices = ran_mask_names, .value = "KIND",
         .initial = "none",
         .help = "what a token may see; none: the whole document; causal: no later tokens; prefix: "
                 "no later tokens, except the source"},
        {"rotary", 0, RAN_FIELD_BOOL, AT(rotary), .initial = "true",
         .help = "rotary positions in window attention"},
        {"residual", 0, RAN_FIELD_BOOL, AT(ran.residual), .initial = "true",
         .help = "ran: add the previous cell to its update from window to window"},
        {"review", 0, RAN_FIELD_CHOICE, AT(ran.review), .choices = reviews, .value = "PATTERN",
         .initial = "all", .switches = true,
         .help = "ran: memory review: every token attends to the cells of all windows, or of a "
                 "pattern of them"},
        {"review_window", 0, RAN_FIELD_SIZE, AT(ran.review_window), 1, 1 << 20, .value = "N",
         .initial = "16", .later = true,
         .help = "ran: window of the review's patterns window and dispersed, in windows"},
        {"review_source", 0, RAN_FIELD_BOOL, AT(ran.review_source), .initial = "false",
         .later = true,
         .help = "ran, mask prefix: target tokens review every token of the source, too",
         .verbs = "lm"},
        {"pooling", 0, RAN_FIELD_CHOICE, AT(pooling), .choices = poolings, .value = "KIND",
         .initial = "max",
         .help = "pooling of tokens before classification; bert: also cls and last, the first or "
                 "last row of each window",
         .verbs = "classify"},
        {"cell_pooling", 0, RAN_FIELD_CHOICE, AT(ran.cell_pooling), .choices = poolings,
         .value = "KIND", .initial = "last", .later = true,
         .help = "published cells: the cell of the last window, or the mean or max of all windows",
         .verbs = "classify"},
        {"vector", 0, RAN_FIELD_BOOL, AT(ran.vector), .initial = "false", .later = true,
         .fixed = true, .help = "ran: the encoder has learned to make vectors of documents"},
        {"multilabel", 0, RAN_FIELD_BOOL, AT(classify.multilabel),
         .help = "several labels a document, a sigmoid each; records with \"labels\" turn this on",
         .verbs = "classify"},
        {"crf", 0, RAN_FIELD_BOOL, AT(tag.crf),
         .help = "predict whole tag sequences with a linear-chain CRF, not each tag by itself",
         .verbs = "tag"},
        {"join_sentences", 0, RAN_FIELD_SIZE, AT(tag.join_sentences), 0, 1000, .value = "N",
         .initial = "0",
         .help = "read up to N consecutive sentences with the same \"doc\" as one document; 0: "
                 "each by itself",
         .verbs = "tag"},
        {"spelling", 0, RAN_FIELD_SIZE, AT(spelling), 0, 1 << 24, .value = "N", .initial = "0",
         .help = "encoder: also read the spelling of words (case, shape, prefixes, suffixes), "
                 "hashed to N rows; 0: no"},
        {"wide", 0, RAN_FIELD_SIZE, AT(linear.wide), 0, 1 << 28, .value = "N", .initial = "0",
         .first = true,
         .help = "rows of the linear model, a table of hashed n-grams or word contexts (named "
                 "after Wide & Deep learning); 0: none",
         .verbs = "classify tag"},
        {"ngrams", 0, RAN_FIELD_SIZE, AT(linear.ngrams), 1, 8, .value = "N", .initial = "2",
         .help = "linear model: longest n-grams, in tokens (tagging: in words)",
         .verbs = "classify tag"},
        {"affixes", 0, RAN_FIELD_BOOL, AT(linear.affixes),
         .help = "linear model: add prefixes and suffixes of words, 2 to 5 characters; for unknown "
                 "and split words they replace n-grams",
         .verbs = "classify tag"},
        {"frozen", 0, RAN_FIELD_BOOL, AT(frozen), .initial = "false", .later = true,
         .help = "leave the encoder of --init as it is: classify: its document vectors are "
                 "features of the linear model; tag: a head learns from its rows of words",
         .verbs = "classify tag", .needs = "init",
         .why = "needs an encoder: give --init MODEL, such as --init english"},
        {"rank", 0, RAN_FIELD_SIZE, AT(contextualizer.rank), 1, 65536, .value = "N",
         .initial = "256", .help = "contextualizer: rank u of the second-order attention"},
        {"context", 0, RAN_FIELD_CHOICE, AT(contextualizer.context), .choices = contexts,
         .value = "KIND", .initial = "constant",
         .help = "contextualizer: initial context; constant: 1"},
        {"position_scale", 0, RAN_FIELD_BOOL, AT(contextualizer.position_scale), .initial = "true",
         .help = "contextualizer: position weights with mean 1, not sum 1"},
        {"ffn_dim", 0, RAN_FIELD_SIZE, AT(ffn_dim), 1, 1 << 20, .value = "N", .initial = "512",
         .help = "transformer: inner width of the feed-forward layers"},
        {"attention", 0, RAN_FIELD_CHOICES, AT(transformer.attention),
         .choices = ran_attention_names, .value = "PATTERN", .initial = "full",
         .help = "transformer: attention pattern, one for all heads, or one for each with commas "
                 "between; all but full use --window"},
        {"dilation", 0, RAN_FIELD_SIZE, AT(transformer.dilation), 0, 1 << 20, .value = "N",
         .initial = "1",
         .help = "transformer: tokens skipped between two keys of dilated attention"},
        {"similarity", 0, RAN_FIELD_CHOICE, AT(transformer.similarity),
         .choices = ran_similarity_names, .value = "KIND", .initial = "dot",
         .help = "transformer: score of a query and a key, before the softmax"},
        {"shortlist", 0, RAN_FIELD_SIZE, AT(lm.shortlist), 0, 1 << 30, .value = "N", .initial = "0",
         .help = "adaptive softmax with the N most frequent tokens in its first part; 0: one "
                 "softmax over all",
         .verbs = "lm mlm"},
        {"max_length", 0, RAN_FIELD_SIZE, AT(bert.max_length), 3, 1 << 20, .value = "N",
         .initial = "512", .later = true, .fixed = true,
         .help = "bert: tokens a window, special tokens included"},
        {"prefix", 0, RAN_FIELD_SIZE, AT(bert.prefix), 0, 64, .value = "N", .initial = "0",
         .later = true, .fixed = true, .help = "bert: special tokens before each window"},
        {"suffix", 0, RAN_FIELD_SIZE, AT(bert.suffix), 0, 64, .value = "N", .initial = "0",
         .later = true, .fixed = true, .help = "bert: special tokens after each window"},
        {"pool_skip", 0, RAN_FIELD_SIZE, AT(bert.pool_skip), 0, 65536, .value = "N", .initial = "0",
         .later = true, .fixed = true,
         .help = "bert: first rows of a window that pooling leaves out"},
        {"positions", 0, RAN_FIELD_BOOL, AT(bert.positions), .initial = "true", .later = true,
         .fixed = true, .help = "bert: learned positions"},
        {"buckets", 0, RAN_FIELD_SIZE, AT(bert.buckets), 0, 65536, .value = "N", .initial = "0",
         .later = true, .fixed = true, .help = "bert: buckets of relative positions; 0: none"},
        {"rotary_base", 0, RAN_FIELD_REAL, AT(bert.rotary_base), 1, 1e12, .value = "X",
         .initial = "10000", .later = true, .fixed = true,
         .help = "bert: base of rotary positions"},
        {"rotary_base_local", 0, RAN_FIELD_REAL, AT(bert.rotary_base_local), 1, 1e12, .value = "X",
         .initial = "10000", .later = true, .fixed = true,
         .help = "bert: the same in layers with local attention"},
        {"global_every", 0, RAN_FIELD_SIZE, AT(bert.global_every), 1, 1024, .value = "N",
         .initial = "1", .later = true, .fixed = true,
         .help = "bert: every N-th layer, from the first, attends to the whole window, the others "
                 "within --window"},
        {"norm_first", 0, RAN_FIELD_BOOL, AT(bert.norm_first), .initial = "false", .later = true,
         .fixed = true, .help = "bert: norms before attention and feed-forward layers, not after"},
        {"bias", 0, RAN_FIELD_BOOL, AT(bert.bias), .initial = "true", .later = true, .fixed = true,
         .help = "bert: linear layers and norms have biases"},
        {"norm_eps", 0, RAN_FIELD_REAL, AT(bert.norm_eps), 0, 1, .value = "X", .initial = "1e-12",
         .later = true, .fixed = true, .help = "bert: added to the variance in norms"},
        {"activation", 0, RAN_FIELD_CHOICE, AT(bert.activation), .choices = activations,
         .value = "KIND", .initial = "gelu", .later = true, .fixed = true,
         .help = "bert: activation of the feed-forward layers"},
        {"gated", 0, RAN_FIELD_BOOL, AT(bert.gated), .initial = "false", .later = true,
         .fixed = true, .help = "bert: feed-forward layers have a gate"},
        {"dense", 0, RAN_FIELD_SIZE, AT(bert.dense), 0, 65536, .value = "N", .initial = "0",
         .later = true, .fixed = true,
         .help = "bert: width of a linear layer before the head; 0: none"},
        {"dense_activation", 0, RAN_FIELD_CHOICE, AT(bert.dense_activation), .choices = activations,
         .value = "KIND", .initial = "tanh", .later = true, .fixed = true,
         .help = "bert: its activation"},
        {"dense_norm", 0, RAN_FIELD_BOOL, AT(bert.dense_norm), .initial = "false", .later = true,
         .fixed = true, .help = "bert: and a norm after it"},
        {"l2_normalize", 0, RAN_FIELD_BOOL, AT(bert.l2_normalize), .initial = "false",
         .later = true, .fixed = true, .help = "bert: document vectors have length 1"},
        {"vector_dim", 0, RAN_FIELD_SIZE, AT(bert.vector_dim), 0, 65536, .value = "N",
         .initial = "0", .later = true, .fixed = true,
         .help = "bert: of document vectors so many numbers, the first; 0: all"},
        {"upper", 0, RAN_FIELD_CHOICE, AT(upper), .choices = uppers, .value = "KIND",
         .initial = "pooling", .later = true,
         .help = "pretrained encoder: what makes a document's vector of its windows: its own "
                 "pooling; mean or max of the windows' vectors; certain: the window whose label is "
                 "most certain",
         .verbs = "classify", .needs = "init",
         .why = "needs a pretrained encoder: give --init MODEL"},
        {0},
};

bool ran_config_is_of_task(const char *name)
{
        static const char *const of_task[] = {
                "task",       "mask",    "min_window",     "pooling",   "cell_pooling",
                "multilabel", "crf",     "join_sentences", "spelling",  "wide",
                "ngrams",     "affixes", "frozen",         "shortlist", "l2_normalize"};

        if (strcmp(name, "upper") == 0 || strncmp(name, "dense", 5) == 0)
                return true;
        for (size_t i = 0; i < sizeof of_task / sizeof *of_task; i++)
                if (strcmp(of_task[i], name) == 0)
                        return true;
        return false;
}

int ran_config_check(const struct ran_config *c, struct ran_error *err)
{
        if (ran_fields_check(ran_config_fields, c, err) != RAN_OK)
                return RAN_EINVAL;
        const struct ran_part_list parts = ran_parts_of(c); /* the numbers were in range */
        if (ran_config_has_encoder(c) && !ran_config_has_token_outputs(c) &&
            ran_task_of(c)->output != RAN_OUTPUT_DOCUMENT)
                return ran_fail(err, RAN_EINVAL,
                                "a %s makes one vector of a document and none of a "
                                "token: it can classify, but for '%s' the encoder must be 'ran'",
                                ran_encoder_names[c->encoder], ran_task_names[c->task]);
        RAN_TRY(ran_task_of(c)->check(c, err));
        if (ran_task_of(c)->linear == RAN_LINEAR_NONE && c->linear.wide > 0)
                return ran_fail(err, RAN_EINVAL,
                                "a linear model predicts labels or tags: for '%s' wide must be 0",
                                ran_task_names[c->task]);
        /* Without an encoder predictors are all that is left. */
        if (!ran_config_has_encoder(c) && ran_task_of(c)->linear == RAN_LINEAR_NONE)
                return ran_fail(err, RAN_EINVAL,
                                "without an encoder there is only a linear model, which predicts "
                                "labels or tags: for '%s' the encoder must be 'ran' or "
                                "'transformer'",
                                ran_task_names[c->task]);
        if (!ran_config_has_encoder(c) && !ran_config_has_predictor(c))
                return ran_fail(err, RAN_EINVAL,
                                "without an encoder and without a linear model nothing is left: "
                                "wide must be above 0, or the encoder not 'none'");
        if (c->upper != RAN_UPPER_POOLING && !ran_encoder_is_imported(c))
                return ran_fail(err, RAN_EINVAL,
                                "upper stands above the windows of a pretrained encoder, not of "
                                "the encoder '%s': it must be 'pooling'",
                                ran_encoder_names[c->encoder]);
        for (size_t i = 0; i < parts.n; i++)
                if (parts.part[i]->check != NULL)
                        RAN_TRY(parts.part[i]->check(c, err));
        if (ran_config_has_token_outputs(c) && c->rotary && c->head_dim % 2 != 0)
                return ran_fail(err, RAN_EINVAL,
                                "rotary positions rotate pairs of numbers: head_dim must be even, "
                                "not %zu (or rotary off)",
                                c->head_dim);
        return RAN_OK;
}
