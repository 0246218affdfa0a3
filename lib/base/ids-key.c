/* ids-key.c - see ids-key.h. */
#include "base/ids-key.h"

#include <stdlib.h>

void ran_ids_key(const uint32_t *ids, size_t n, char key[RAN_IDS_KEY])
{
        struct ran_sha256 sha;
        char hex[65];

        ran_sha256_init(&sha);
        for (size_t i = 0; i < n; i++) {
                const unsigned char bytes[4] = {(unsigned char)ids[i], (unsigned char)(ids[i] >> 8),
                                                (unsigned char)(ids[i] >> 16),
                                                (unsigned char)(ids[i] >> 24)};

                ran_sha256_add(&sha, bytes, sizeof bytes);
        }
        ran_sha256_hex(&sha, hex);
        for (size_t i = 0; i < RAN_IDS_KEY; i++) {
                const char two[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

                key[i] = (char)strtoul(two, NULL, 16);
        }
}
