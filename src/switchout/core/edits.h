/* edits.h: sentences drawn from q(y_hat | y) ~ exp(-edits(y_hat, y) / tau), exactly; and BLEU's matches.

   The idea and the proof are in switchout/policies/edit_law.py: draw an edit script by its weight, accept
   the sentence with probability a^edits / (weight of all its scripts), a = exp(-1 / tau). */

#ifndef SWITCHOUT_EDITS_H
#define SWITCHOUT_EDITS_H

#include "switchout.h"

enum { SO_TOOK, SO_INSERTED, SO_DELETED };  /* the last step of a script; the first two wrote a word */
enum { SO_FAR = 1 << 30 };                  /* the cost of a cell that no script reaches */

typedef struct {
    const int64_t *y;
    int64_t n;
    const uint8_t *is_free;    /* [n]: which words may be substituted or deleted */
    const int64_t *drawable;   /* sorted ids that may come in */
    int64_t n_draw;
    double a;                  /* weight of one edit, 0 < a < 1 / n_draw */
    int64_t *rank, *others;    /* [n + 1]: of y_i among the drawable (-1: none); how many others there are */
    double *ratio;             /* [n + 1]: weight of all scripts from here on, after a deletion over after none */
} so_edits;

/* ---- The weight of all scripts of a sentence ---- */

typedef struct { int64_t cost; double mass; } so_cell; /* fewest edits; weight of the scripts over a^cost */

SO_INLINE double so_power(double a, int64_t n)
{
    double result = 1;
    for (; n; n >>= 1, a *= a)
        if (n & 1) result *= a;
    return result;
}

/* Adds the scripts of one cell, extended by an edit of price 0 or 1, to another. */
SO_INLINE void so_extend(so_cell *to, const so_cell *from, int64_t price, double a)
{
    int64_t cost = from->cost + price;
    if (from->mass == 0) return;
    if (cost < to->cost) to->mass = from->mass + to->mass * so_power(a, to->cost - cost), to->cost = cost;
    else to->mass += from->mass * so_power(a, cost - to->cost);
}

/* One cell per prefix of y, prefix of y_hat and last step; `cells` has room for 6 * (n_hat + 1). */
static inline so_cell so_script_weight(const so_edits *e, const int64_t *y_hat, int64_t n_hat, so_cell *cells)
{
    for (int64_t i = 0; i <= e->n; i++) {
        so_cell *row = cells + 3 * (i & 1) * (n_hat + 1), *above = cells + 3 * ((i & 1) ^ 1) * (n_hat + 1);
        const int is_word = i > 0 && e->is_free[i - 1], is_repeated = i > 1 && e->y[i - 1] == e->y[i - 2];
        for (int64_t j = 0; j <= n_hat; j++) {
            so_cell *here = row + 3 * j, *left = here - 3, *up = above + 3 * j, *corner = up - 3;
            for (int s = 0; s < 3; s++) here[s].cost = SO_FAR, here[s].mass = 0;
            if (i == 0 && j == 0) here[SO_TOOK].cost = 0, here[SO_TOOK].mass = 1;
            if (i > 0 && j > 0 && y_hat[j - 1] == e->y[i - 1]) {
                so_extend(&here[SO_TOOK], &corner[SO_TOOK], 0, e->a);
                so_extend(&here[SO_TOOK], &corner[SO_INSERTED], 0, e->a);
                if (!is_repeated) so_extend(&here[SO_TOOK], &corner[SO_DELETED], 0, e->a);
            } else if (is_word && j > 0) {
                so_extend(&here[SO_TOOK], &corner[SO_TOOK], 1, e->a);
            }
            if (j > 0 && (i == e->n || y_hat[j - 1] != e->y[i])) {
                so_extend(&here[SO_INSERTED], &left[SO_TOOK], 1, e->a);
                so_extend(&here[SO_INSERTED], &left[SO_INSERTED], 1, e->a);
            }
            if (is_word) {
                so_extend(&here[SO_DELETED], &up[SO_TOOK], 1, e->a);
                so_extend(&here[SO_DELETED], &up[SO_DELETED], 1, e->a);
            }
        }
    }
    so_cell *last = cells + 3 * ((e->n & 1) * (n_hat + 1) + n_hat);
    so_extend(&last[SO_TOOK], &last[SO_INSERTED], 0, e->a);
    so_extend(&last[SO_TOOK], &last[SO_DELETED], 0, e->a);
    return last[SO_TOOK];
}

/* ---- Drawing a script ---- */

typedef struct { double remove, insert, substitute, match; } so_steps;

SO_INLINE double so_total(so_steps w) { return w.remove + w.insert + w.substitute + w.match; }

/* The weights of all scripts that go on by deleting y_i, inserting before it, substituting or matching
   it; at the end of y, to match is to stop. */
SO_INLINE so_steps so_step_weights(const so_edits *e, int64_t i, int state)
{
    int is_end = i == e->n, is_word = !is_end && e->is_free[i];
    double new_words = e->a * (double)e->others[i];
    so_steps steps = {0, 0, 0, 1};
    if (is_word && state != SO_INSERTED) steps.remove = e->a * e->ratio[i + 1];
    if (state != SO_DELETED) steps.insert = new_words / (1 - new_words); /* this one and those after it */
    if (is_word && state == SO_TOOK) steps.substitute = new_words;
    if (state == SO_DELETED && !is_end && e->y[i] == e->y[i - 1]) steps.match = 0;
    return steps;
}

/* Fills in rank, others and ratio, from the end. */
static inline void so_plan_edits(so_edits *e)
{
    for (int64_t i = e->n; i >= 0; i--) {
        e->rank[i] = -1, e->others[i] = e->n_draw, e->ratio[i] = 1 - e->a * (double)e->n_draw;
        if (i == e->n) continue;
        int64_t low = 0, high = e->n_draw;
        while (low < high) {
            int64_t middle = (low + high) >> 1;
            if (e->drawable[middle] < e->y[i]) low = middle + 1;
            else high = middle;
        }
        if (low < e->n_draw && e->drawable[low] == e->y[i]) e->rank[i] = low, e->others[i] = e->n_draw - 1;
        if (i == 0) continue;
        e->ratio[i] = 1;
        e->ratio[i] = so_total(so_step_weights(e, i, SO_DELETED)) / so_total(so_step_weights(e, i, SO_TOOK));
    }
}

/* A number in [0, 1) of 53 bits, from words 0 and 3; words 1 and 2 are left for `so_below`. */
SO_INLINE double so_uniform(so_bits bits)
{
    return (double)((uint64_t)bits.word[0] << 21 | bits.word[3] >> 11) * (1.0 / 9007199254740992.0);
}

/* Draws a script by its weight and writes the sentence it makes, which has room for `room` words.
   Returns how many words it has, -1 if more than that. *block is the next unused block. */
static inline int64_t so_draw_script(const so_edits *e, const so_address *at, uint64_t example, uint32_t *block, int64_t *y_hat, int64_t room)
{
    int64_t n = 0, i = 0;
    int state = SO_TOOK;
    for (;;) {
        so_steps w = so_step_weights(e, i, state);
        so_bits bits = so_random(at, example, at->stream + (*block)++);
        double u = so_uniform(bits) * so_total(w);
        if (u < w.remove || w.match == 0) state = SO_DELETED;
        else if (u < w.remove + w.insert) state = SO_INSERTED;
        else if (i == e->n) return n;
        else state = SO_TOOK;
        if (state != SO_DELETED) {
            int is_new = state == SO_INSERTED || u < w.remove + w.insert + w.substitute;
            int64_t step = so_below(e->n_draw - (e->rank[i] >= 0), bits);
            if (n == room) return -1;
            y_hat[n++] = is_new ? e->drawable[(e->rank[i] + 1 + step) % e->n_draw] : e->y[i];
        }
        if (state != SO_INSERTED) i++;
    }
}

/* ---- BLEU ---- */

SO_INLINE void so_count_equal(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b, int64_t *counts)
{
    for (int64_t k = 0; k < 4 && k < n_a && k < n_b && a[k] == b[k]; k++) counts[k]++;
}

/* How many n-grams of 1 to 4 words are found in the reference, each at most as often as there. */
static inline void so_clipped_matches(const int64_t *x, int64_t n, const int64_t *reference, int64_t n_reference, int64_t *correct)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t found[4] = {0}, used[4] = {0};
        for (int64_t j = 0; j < n_reference; j++) so_count_equal(x + i, n - i, reference + j, n_reference - j, found);
        for (int64_t j = 0; j < i; j++) so_count_equal(x + i, n - i, x + j, n - j, used);
        for (int k = 0; k < 4; k++) correct[k] += used[k] < found[k];
    }
}

#endif
