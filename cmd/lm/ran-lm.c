/* ran-lm.c - scores texts, continues them, and fills masked tokens. */
#include "cmd/options/options.h"
#include "cmd/options/verbs.h"
#include "cmd/lm/lm.h"

int main(int argc, char **argv)
{
        static const struct cmd_verb verbs[] = {
                {"score", "add log likelihood and perplexity to records", lm_score},
                {"generate", "continue a prompt or records, or generate the target of a source",
                 lm_generate},
                {"fill", "predict the masked tokens of texts", lm_fill},
                {NULL, NULL, NULL},
        };

        return cmd_run_verb(
                "ran-lm",
                "Scores texts with language models, continues them, and fills masked tokens.",
                verbs, argc, argv);
}
