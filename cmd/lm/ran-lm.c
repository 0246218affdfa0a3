/* ran-lm.c - how likely texts are, how they could go on, and what could fill their gaps. */
#include "cmd/options/options.h"
#include "cmd/options/verbs.h"
#include "cmd/lm/lm.h"

int main(int argc, char **argv)
{
        static const struct cmd_verb verbs[] = {
                {"score", "add likelihood and perplexity to records", lm_score},
                {"generate", "go on from a prompt or from records, or answer a source",
                 lm_generate},
                {"fill", "find words for the gaps in texts", lm_fill},
                {NULL, NULL, NULL},
        };

        return cmd_run_verb("ran-lm",
                            "Asks language models how likely texts are, and for texts and words.",
                            verbs, argc, argv);
}
