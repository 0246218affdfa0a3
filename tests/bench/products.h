/* products.h - the matrix products that a model is made of, and how fast OpenBLAS alone is at them:
 * what a benchmark divides by. */
#ifndef RAN_BENCH_PRODUCTS_H
#define RAN_BENCH_PRODUCTS_H

#include "ran.h"

/* OpenBLAS picks its kernels by the processor's name, and takes one that is younger than itself for
 * an old one. So it is measured in a program of its own, with the kernels that serve this processor
 * best: products_begin makes the program, when it was started for that, measure and end. */
void products_begin(int argc, char **argv);
const char *products_core(void); /* the kernels that are measured */

/* A model at work on documents; `rows` of them go through a product together. */
struct product_job {
        const struct ran_config *c;
        const struct ran_dataset *d;
        size_t outputs, rows;
        bool training;
};
/* Arithmetic of the mean token, without what is done once a window or a document. */
double products_flops(const struct product_job *job);
/* Arithmetic a second of `threads` threads, each with products of its own, so much of each product
 * as the model needs. */
double products_rate(const struct product_job *job, size_t threads, double seconds);

#endif
