/* dropout.h: dropout whose mask is a function of a key per row and a place, so that it is recomputed,
   not stored. The hash is "lowbias32" by C. Wellons with a second key between its multiplications. */

#ifndef SWITCHOUT_DROPOUT_H
#define SWITCHOUT_DROPOUT_H

#include "switchout.h"

/* Adds to `out` what is kept of x, times scale; both [n_rows, width]. A value is dropped if its hash is
   below threshold. */
SO_INLINE void so_add_dropped(const float *x, int64_t n_rows, int64_t width, const uint64_t *keys, uint32_t threshold, float scale, float *out)
{
    for (int64_t row = 0; row < n_rows; row++) {
        const uint32_t low = (uint32_t)keys[row], high = (uint32_t)(keys[row] >> 32);
        const float *from = x + row * width;
        float *to = out + row * width;
        for (int64_t i = 0; i < width; i++) {
            uint32_t h = (uint32_t)i * 0x9E3779B9u ^ low;
            h = (h ^ h >> 16) * 0x7FEB352Du;
            h = (h ^ h >> 15 ^ high) * 0x846CA68Bu;
            float kept = from[i] * scale;
            uint32_t bits; /* masked: gcc makes no vectors of a branch on floats */
            memcpy(&bits, &kept, sizeof bits);
            bits &= 0u - (uint32_t)((h ^ h >> 16) >= threshold);
            memcpy(&kept, &bits, sizeof kept);
            to[i] += kept;
        }
    }
}

#endif
