/* synonyms.c - what fastText, PyTorch, Hugging Face, spaCy and scikit-learn call options and verbs.
 *
 * A program suggests the first of our names that it has: see nearest.c.
 */
#include "cmd/options/synonyms.h"

#include <stddef.h>

static const struct {
        const char *theirs, *ours;
} synonyms[] = {
        {"lr", "learning-rate"},
        {"alpha", "learning-rate"},
        {"batch-size", "batch"},
        {"per-device-train-batch-size", "batch"},
        {"num-train-epochs", "epochs"},
        {"epoch", "epochs"},
        {"n-epochs", "epochs"},
        {"max-iter", "epochs"},
        {"evaluate", "eval"},
        {"test", "eval"},
        {"score", "eval"},
        {"do-eval", "eval"},
        {"candidate-labels", "labels"},
        {"model-file", "model"},
        {"model-path", "model"},
        {"model-name-or-path", "model"},
        {"pretrained", "init"},
        {"pretrained-model", "init"},
        {"pretrained-vectors", "vectors"},
        {"checkpoint", "resume"},
        {"out", "output"},
        {"output-file", "output"},
        {"output-dir", "output"},
        {"input", "files-from"},
        {"valid", "dev"},
        {"validation", "dev"},
        {"validation-file", "dev"},
        {"dev-file", "dev"},
        {"val-split", "dev-share"},
        {"validation-split", "dev-share"},
        {"test-size", "dev-share"},
        {"autotune", "tune"},
        {"autotune-duration", "tune"},
        {"threads", "jobs"},
        {"thread", "jobs"},
        {"num-workers", "jobs"},
        {"n-jobs", "jobs"},
        {"workers", "jobs"},
        {"random-state", "seed"},
        {"random-seed", "seed"},
        {"hidden-size", "dim"},
        {"embedding-size", "dim"},
        {"num-layers", "layers"},
        {"num-heads", "heads"},
        {"max-length", "max-tokens"},
        {"max-seq-length", "max-tokens"},
        {"max-len", "max-tokens"},
        {"truncation", "truncate"},
        {"word-ngrams", "ngrams"},
        {"ngram-range", "ngrams"},
        {"min-freq", "min-count"},
        {"min-df", "min-count"},
        {"top-k", "top"},
        {"k", "top"},
        {"proba", "probs"},
        {"probabilities", "probs"},
        {"predict-proba", "probs"},
        {"format", "output-format"},
        {"sep", "delimiter"},
        {"separator", "delimiter"},
        {"field-separator", "delimiter"},
        {"names", "columns"},
        {"text-column", "text-member"},
        {"text-field", "text-member"},
        {"text-key", "text-member"},
        {"label-column", "label-member"},
        {"label-field", "label-member"},
        {"target-column", "label-member"},
        {"id-column", "id-member"},
        {"length", "max-new-tokens"},
        {"max-tokens", "max-new-tokens"},
        {"silent", "quiet"},
        {"debug", "verbose"},
        {"embedding", "embed"},
        {"embeddings", "embed"},
        /* Verbs. */
        {"train", "learn"},
        {"classification", "classify"},
        {"supervised", "classify"},
        {"ner", "tag"},
        {"language-model", "lm"},
        {"clm", "lm"},
        {"perplexity", "score"},
        {"predict", "score"},
        {"sample", "generate"},
        {"fill-mask", "fill"},
        {"tokenize", "encode"},
        {"detokenize", "decode"},
};

const char *cmd_synonym_at(unsigned i, const char **ours)
{
        if (i >= sizeof synonyms / sizeof *synonyms)
                return NULL;
        *ours = synonyms[i].ours;
        return synonyms[i].theirs;
}
