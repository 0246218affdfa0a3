/* svm-bench.h - a small problem for the linear model: documents of corpus.h, their matrix of
 * features, and what a solver needs beside it. */
#ifndef RAN_TESTS_UNIT_SVM_BENCH_H
#define RAN_TESTS_UNIT_SVM_BENCH_H

#include "corpus.h"
#include "part/linear/svm.h"

enum { SVM_BUCKETS = 200 };

struct svm_bench {
        struct ran_config c;
        struct ran_dataset d;
        struct ran_feature_lists lists;
        struct ran_features features;
        struct ran_svm k;
        size_t documents; /* that the matrix has, the first ones */
        size_t *document;
        double cost, tolerance;
        size_t keep;
        float idf[SVM_BUCKETS], weight[SVM_BUCKETS * CORPUS_C], bias[CORPUS_C];
};
void svm_bench_init(struct svm_bench *b, size_t documents, bool several);
void svm_bench_release(struct svm_bench *b);
/* The matrix of the data set as it is now. */
void svm_bench_features(struct svm_bench *b);
/* Returns the number of passes. */
size_t svm_bench_solve(struct ran_svm_solver *s, double cost, double tolerance);
/* Whether document d is of class c, from 0 to 1. */
double svm_bench_is_of(const struct svm_bench *b, size_t d, size_t c);
int svm_bench_stop(void *arg, size_t passes, double share);
int svm_bench_count(void *arg, size_t passes, double share);

#endif
