/* kept.c - feeds a fuzzer the files that it is given, in the place of libFuzzer: what was found
 * once is tried by make check, whatever the compiler. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ran.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
        const char *name = strrchr(argv[0], '/');
        struct ran_error err;

        for (int i = 1; i < argc; i++) {
                struct ran_bytes file;

                if (ran_bytes_open(&file, argv[i], &err) != RAN_OK) {
                        fprintf(stderr, "%s\n", err.text);
                        return 1;
                }
                /* Memory of its own, so that a sanitizer sees where it ends. */
                uint8_t *copy = malloc(file.size);
                if (copy == NULL && file.size > 0)
                        return 1;
                if (file.size > 0)
                        memcpy(copy, file.data, file.size);
                LLVMFuzzerTestOneInput(copy, file.size);
                free(copy);
                ran_bytes_release(&file);
        }
        /* Some programs close the stream stdout at their end. */
        dprintf(STDOUT_FILENO, "%s: %d kept inputs\n", name != NULL ? name + 1 : argv[0], argc - 1);
        return argc == 1;
}
