/* output_loss.h: what stands between the matrix products of an output layer. A row of logits becomes its
   loss and, in place, its gradient, while it is in the cache. */

#ifndef SWITCHOUT_OUTPUT_LOSS_H
#define SWITCHOUT_OUTPUT_LOSS_H

#include <math.h>

#include "switchout.h"

/* Vectors as gcc and clang have them for all processors: by themselves they make none of a largest float or a sum.
   They are read and written where they stand: gcc makes two halves of a memcpy, which AVX2 waits for. */
enum { SO_LANES = 8 };
typedef float so_floats __attribute__((vector_size(4 * SO_LANES), aligned(4), may_alias));
typedef int32_t so_ints __attribute__((vector_size(4 * SO_LANES), aligned(4)));
typedef uint32_t so_words32 __attribute__((vector_size(4 * SO_LANES), aligned(4)));

SO_INLINE so_floats so_same(float x)
{
    return x - (so_floats){0};
}

/* Of two the larger; b where a is not a number. Vectors come by their address, about which no compiler has anything to say. */
SO_INLINE so_floats so_larger(const so_floats *a, const so_floats *b)
{
    so_ints is_larger = *a > *b;
    return (so_floats)(((so_ints)*a & is_larger) | ((so_ints)*b & ~is_larger));
}

/* exp(x) for x <= 0, to (5 - x) 1e-7 of it; e^-87 below that, also for what is not a number. */
SO_INLINE so_floats so_exp(const so_floats *x)
{
    so_floats least = so_same(-87.0f), t = so_larger(x, &least) * 1.44269504f;
    so_ints n = __builtin_convertvector(t - 0.5f, so_ints); /* the nearest integer */
    so_floats f = t - __builtin_convertvector(n, so_floats), p = f * 1.54035304e-4f + 1.33335581e-3f;
    p = p * f + 9.61812911e-3f;
    p = p * f + 5.55041087e-2f;
    p = p * f + 2.40226507e-1f;
    p = p * f + 6.93147181e-1f;
    p = p * f + 1.0f;
    return (so_floats)((so_words32)p + ((so_words32)n << 23));
}

/* z[0 .. size) are logits, of which the first `first` are never predicted. Returns
   -(1 - smoothing) log p(label) - smoothing * mean log p, and leaves its gradient in z. */
SO_INLINE double so_row_loss(float *z, int64_t first, int64_t size, int64_t label, float smoothing)
{
    float *words = z + first, share = smoothing / (float)(size - first), of_label = z[label];
    int64_t n = size - first, i, whole = n - n % SO_LANES;
    so_floats largest = so_same(words[0]), sums = {0}, totals = {0};
    for (i = 0; i < whole; i += SO_LANES) {
        so_floats x = *(const so_floats *)(words + i);
        largest = so_larger(&x, &largest);
        sums += x;
    }
    float most = largest[0];
    double sum = 0, total = 0;
    for (; i < n; i++) {
        most = words[i] > most ? words[i] : most;
        sum += words[i];
    }
    for (int k = 0; k < SO_LANES; k++) {
        most = largest[k] > most ? largest[k] : most;
        sum += sums[k];
    }
    for (i = 0; i < whole; i += SO_LANES) {
        so_floats *at = (so_floats *)(words + i), x = *at - most;
        totals += *at = so_exp(&x);
    }
    for (; i < n; i++) {
        so_floats x = so_same(words[i] - most), p = so_exp(&x);
        total += words[i] = p[0];
    }
    for (int k = 0; k < SO_LANES; k++) total += totals[k];
    float scale = (float)(1 / total);
    for (i = 0; i < n; i++) words[i] = words[i] * scale - share;
    for (i = 0; i < first; i++) z[i] = 0;
    z[label] -= 1 - smoothing;
    /* Without smoothing the last term is 0, unless a logit is not finite: then so is the loss. */
    return log(total) + most - (1 - (double)smoothing) * of_label - (double)share * sum;
}

/* The same for numbers of bfloat16, the upper halves of floats; `z` has room for a row. */
SO_INLINE double so_row_loss_bfloat16(uint16_t *row, int64_t first, int64_t size, int64_t label, float smoothing, float *z)
{
    for (int64_t i = 0; i < size; i++) {
        uint32_t bits = (uint32_t)row[i] << 16;
        memcpy(z + i, &bits, sizeof bits);
    }
    double loss = so_row_loss(z, first, size, label, smoothing);
    for (int64_t i = 0; i < size; i++) {
        uint32_t bits;
        memcpy(&bits, z + i, sizeof bits);
        row[i] = (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16); /* to the nearest, of two the even one */
    }
    return loss;
}

#endif
