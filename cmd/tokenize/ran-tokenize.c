/* ran-tokenize.c - learns vocabularies, turns text into pieces of one, and pieces into text. */
#include "cmd/options/options.h"
#include "cmd/options/verbs.h"
#include "cmd/tokenize/tokenize.h"

int main(int argc, char **argv)
{
        static const struct cmd_verb verbs[] = {
                {"learn", "learn a vocabulary from records", tokenize_learn},
                {"import", "make a vocabulary of BERT's vocab.txt", tokenize_import},
                {"encode", "add pieces, ids and offsets to records", tokenize_encode},
                {"decode", "turn ids back to text", tokenize_decode},
                {NULL, NULL, NULL},
        };

        return cmd_run_verb("ran-tokenize",
                            "Learns vocabularies, turns text into pieces of one, and back.", verbs,
                            argc, argv);
}
