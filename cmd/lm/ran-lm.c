/* ran-lm.c - scores texts, continues them, and fills masked tokens. */
#include "cmd/options/options.h"
#include "cmd/lm/lm.h"

int main(int argc, char **argv)
{
        static const struct cmd_verb verbs[] = {
                {"score", "add the log likelihood and perplexity of texts", lm_score},
                {"generate", "generate the continuation of a text, or the target of a source",
                 lm_generate},
                {"fill", "predict the masked tokens of texts", lm_fill},
                {NULL, NULL, NULL},
        };

        return cmd_run_verb("ran-lm",
                            "Scores texts with language models, generates continuations, and "
                            "predicts masked tokens.",
                            verbs, argc, argv);
}
