/* similarity.c - how much a query and a key are alike. */
#include "ran/mask.h"

#include <math.h>

const char *const ran_similarity_names[] = {"dot", "cosine", "euclidean", "manhattan", NULL};

double ran_similarity(int similarity, const float *q, const float *k, size_t d)
{
        double dot = 0, qq = 0, kk = 0, squares = 0, sizes = 0, root = sqrt((double)d);

        for (size_t i = 0; i < d; i++) {
                double x = q[i], y = k[i];

                dot += x * y;
                qq += x * x;
                kk += y * y;
                squares += (x - y) * (x - y);
                sizes += fabs(x - y);
        }
        switch (similarity) {
        case RAN_SIMILARITY_COSINE:
                return root * dot / (sqrt(qq) * sqrt(kk) + 1e-8);
        case RAN_SIMILARITY_EUCLIDEAN:
                return -sqrt(squares + 1e-8);
        case RAN_SIMILARITY_MANHATTAN:
                return -sizes / root;
        default:
                return dot / root;
        }
}
