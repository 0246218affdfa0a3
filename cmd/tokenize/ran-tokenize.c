/* ran-tokenize.c - what can be done with texts without a model. */
#include "cmd/options/options.h"
#include "cmd/tokenize/tokenize.h"

int main(int argc, char **argv)
{
        static const struct cmd_verb verbs[] = {
                {"learn", "learn a vocabulary from records", tokenize_learn},
                {"encode", "add subwords, ids and offsets to records", tokenize_encode},
                {"decode", "turn ids back into text", tokenize_decode},
                {"records", "write records of any format as JSON lines", tokenize_records},
                {"duplicates", "find texts that are nearly the same", tokenize_duplicates},
                {NULL, NULL, NULL},
        };

        return cmd_run_verb(
                "ran-tokenize",
                "Learns vocabularies, converts text to tokens and back, and finds texts "
                "that are nearly the same.",
                verbs, argc, argv);
}
