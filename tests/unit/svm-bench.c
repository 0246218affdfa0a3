#include <stdlib.h>
#include <string.h>

#include "svm-bench.h"
#include "test.h"

void svm_bench_init(struct svm_bench *b, size_t documents, bool several)
{
        struct ran_error err = {0};

        memset(b, 0, sizeof *b);
        b->c = (struct ran_config){
                .linear.wide = SVM_BUCKETS, .linear.ngrams = 2, .classify.multilabel = several};
        corpus_make(&b->d, documents, 1, 30, several, 3);
        b->document = ran_alloc(documents, sizeof *b->document, &err);
        for (size_t i = 0; i < documents; i++)
                b->document[i] = i;
        b->documents = documents;
        b->cost = 0.7;
        b->tolerance = 1e-5;
        b->k = (struct ran_svm){.d = &b->d,
                                .features = &b->features,
                                .document = b->document,
                                .row = b->document,
                                .n = documents,
                                .ratios = true,
                                .seed = 5};
}

void svm_bench_release(struct svm_bench *b)
{
        ran_dataset_release(&b->d);
        ran_feature_lists_release(&b->lists);
        ran_features_release(&b->features);
        free(b->document);
}

void svm_bench_features(struct svm_bench *b)
{
        struct ran_error err = {0};

        ran_feature_lists_release(&b->lists);
        ran_features_release(&b->features);
        CHECK_OK(ran_feature_lists_read(&b->lists, &b->c, &b->d, NULL, b->keep, b->k.pool, &err),
                 err);
        ran_feature_lists_idf(&b->lists, &b->c, b->document, b->documents, b->idf);
        CHECK_OK(ran_features_make(&b->features, &b->lists, &b->c, b->document, b->documents,
                                   b->idf, b->keep, b->k.pool, &err),
                 err);
}

size_t svm_bench_solve(struct ran_svm_solver *s, double cost, double tolerance)
{
        size_t passes = 1;

        ran_svm_solver_begin(s, cost, tolerance, 1000);
        while (!ran_svm_solver_pass(s))
                passes++;
        return passes;
}

double svm_bench_is_of(const struct svm_bench *b, size_t d, size_t c)
{
        if (b->d.soft_first != NULL && b->d.soft_first[d + 1] > b->d.soft_first[d]) {
                for (size_t i = b->d.soft_first[d]; i < b->d.soft_first[d + 1]; i++)
                        if (b->d.soft_labels[i] == c)
                                return (double)b->d.soft[i];
                return 0;
        }
        for (size_t i = b->d.label_first[d]; i < b->d.label_first[d + 1]; i++)
                if (b->d.labels[i] == c)
                        return 1;
        return 0;
}

int svm_bench_stop(void *arg, size_t passes, double share)
{
        CHECK(share >= 0 && share <= 1);
        return passes == *(const size_t *)arg;
}

int svm_bench_count(void *arg, size_t passes, double share)
{
        CHECK(share >= 0 && share <= 1);
        *(size_t *)arg = passes;
        return 0;
}
