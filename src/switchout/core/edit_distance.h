/* edit_distance.h: word-level Levenshtein distance of one sentence to many others.

   Bit-parallel: the differences down a column of the dynamic program are bits of two machine words
   (Myers 1999); blocks of 64 rows hand a carry of -1, 0 or 1 down (Hyyrö 2003). */

#ifndef SWITCHOUT_EDIT_DISTANCE_H
#define SWITCHOUT_EDIT_DISTANCE_H

#include "switchout.h"

typedef struct {
    int64_t length, n_blocks;
    uint32_t *local;     /* [distinct words]: row of `places` of each word; 0: not in the pattern */
    uint64_t *places;    /* [length + 1, n_blocks]: bit i of a word's row: word i of the pattern is it */
    uint64_t *up, *down; /* [n_blocks]: where the current column rises and falls, if there are several */
} so_pattern;

SO_INLINE void so_prepare(so_pattern *p, const int32_t *words, int64_t length)
{
    uint32_t n_rows = 0;
    p->length = length, p->n_blocks = (length + 63) >> 6;
    memset(p->places, 0, (size_t)p->n_blocks * 8); /* row 0: words that are not in the pattern */
    for (int64_t i = 0; i < length; i++) {
        uint32_t *row = &p->local[words[i]];
        if (*row == 0) {
            *row = ++n_rows;
            memset(p->places + *row * p->n_blocks, 0, (size_t)p->n_blocks * 8);
        }
        p->places[*row * p->n_blocks + (i >> 6)] |= (uint64_t)1 << (i & 63);
    }
}

/* Makes `local` zeros again. */
SO_INLINE void so_forget(so_pattern *p, const int32_t *words)
{
    for (int64_t i = 0; i < p->length; i++) p->local[words[i]] = 0;
}

/* One column of one block: takes how the row above changes (+1: rise, -1: fall) and hands on how the
   row below does; `change` is that of the row `last_bit`. */
typedef struct { uint64_t up, down, rise, fall; } so_column;

SO_INLINE int64_t so_next_column(so_column *c, uint64_t equal, int64_t last_bit)
{
    uint64_t vertical = equal | c->down;
    equal |= c->fall;
    uint64_t horizontal = (((equal & c->up) + c->up) ^ c->up) | equal;
    uint64_t right = c->down | ~(horizontal | c->up), left = c->up & horizontal;
    int64_t change = (int64_t)((right >> last_bit) & 1) - (int64_t)((left >> last_bit) & 1);
    uint64_t rise = right >> 63, fall = left >> 63;
    right = right << 1 | c->rise, left = left << 1 | c->fall;
    c->up = left | ~(vertical | right), c->down = right & vertical;
    c->rise = rise, c->fall = fall;
    return change;
}

/* The distance of the pattern to n words if it is at most `limit`, else some number above it. */
SO_INLINE int64_t so_distance(const so_pattern *p, const uint32_t *words, int64_t n, int64_t limit)
{
    int64_t score = p->length, last_bit = (p->length - 1) & 63;
    if (p->length == 0) return n;
    if (p->n_blocks == 1) {
        so_column column = {~(uint64_t)0, 0, 1, 0};
        for (int64_t k = 0; k < n; k++) {
            score += so_next_column(&column, p->places[p->local[words[k]]], last_bit);
            column.rise = 1, column.fall = 0; /* row 0 of the program rises */
            if (score - (n - k - 1) > limit) return score; /* it falls by at most one per word to come */
        }
        return score;
    }
    for (int64_t b = 0; b < p->n_blocks; b++) p->up[b] = ~(uint64_t)0, p->down[b] = 0;
    for (int64_t k = 0; k < n; k++) {
        const uint64_t *equal = p->places + p->local[words[k]] * p->n_blocks;
        so_column column = {0, 0, 1, 0};
        int64_t change = 0;
        for (int64_t b = 0; b < p->n_blocks; b++) {
            column.up = p->up[b], column.down = p->down[b];
            change = so_next_column(&column, equal[b], last_bit);
            p->up[b] = column.up, p->down[b] = column.down;
        }
        score += change; /* of the last block */
        if (score - (n - k - 1) > limit) return score;
    }
    return score;
}

#endif
