/* switchout.h: SwitchOut on arrays of word ids (Wang, Pham, Dai, Neubig, EMNLP 2018, Algorithm 1).

   For a sentence of L words: draw n from 0..L with p(n) ~ exp(-n / tau), hit each word with
   probability n / L, put another word, uniformly drawn, in the place of each word that was hit.
   `so_sample` at the end does that to a batch. The laws with a constant probability (the exact
   policy for Hamming distance, word dropout) and with a table per word are there, too.

   Randomness is addressed, not consumed: seed, epoch, side, example and word number are the key and
   the counter of Philox4x32-10. So batch size, padding, order and threads change nothing. Block 0 of
   a sentence serves n (its word 0); block 1 + i serves its i-th real word (word 0: is it hit? words
   1 and 2: what does it become?). All laws are integers: floats were rounded once, by the caller.

   C11 or C++17 with the vector types of gcc and clang. Needs nothing else, allocates nothing, keeps
   no state. To use it in another program copy this one file; docs/core.md says how. */

#ifndef SWITCHOUT_H
#define SWITCHOUT_H

#include <stdint.h>
#include <string.h>

#define SO_INLINE static inline __attribute__((always_inline, unused))

SO_INLINE int64_t so_min(int64_t a, int64_t b) { return a < b ? a : b; }
SO_INLINE int64_t so_max(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- Random bits: Philox4x32-10 (Salmon et al., SC 2011) ---- */

typedef struct {
    uint64_t seed;
    uint32_t epoch;
    uint32_t stream; /* side << 31 | slot << 24: the upper bits of every block number */
} so_address;

typedef struct { uint32_t word[4]; } so_bits;

enum { SO_ROUNDS = 10 };
#define SO_MULTIPLIER_0 0xD2511F53u
#define SO_MULTIPLIER_1 0xCD9E8D57u
#define SO_WEYL_0 0x9E3779B9u
#define SO_WEYL_1 0xBB67AE85u

/* The four words at one counter; `block` includes the stream. */
SO_INLINE so_bits so_random(const so_address *at, uint64_t example, uint32_t block)
{
    uint32_t k0 = (uint32_t)at->seed, k1 = (uint32_t)(at->seed >> 32);
    so_bits c = {{(uint32_t)example, (uint32_t)(example >> 32), at->epoch, block}};
    for (int round = 0; round < SO_ROUNDS; round++) {
        uint64_t p0 = (uint64_t)SO_MULTIPLIER_0 * c.word[0], p1 = (uint64_t)SO_MULTIPLIER_1 * c.word[2];
        c.word[0] = (uint32_t)(p1 >> 32) ^ c.word[1] ^ k0, c.word[1] = (uint32_t)p1;
        c.word[2] = (uint32_t)(p0 >> 32) ^ c.word[3] ^ k1, c.word[3] = (uint32_t)p0;
        k0 += SO_WEYL_0, k1 += SO_WEYL_1;
    }
    return c;
}

/* A number in 0..n - 1, n < 2^32, from words 1 and 2: floor(n * u / 2^64) of 64 random bits u. */
SO_INLINE int64_t so_below(int64_t n, so_bits bits)
{
    uint64_t carry = ((uint64_t)n * bits.word[1]) >> 32;
    return (int64_t)(((uint64_t)n * bits.word[2] + carry) >> 32);
}

/* ---- How many words change ---- */

typedef struct {
    /* The law of counts: C_k = round(2^39 * sum_{j <= k} exp(-j / tau)) for k = 0..last, and three
       larger numbers after them, so that four can be looked at without a question. Where the sum
       no longer grows in 2^-39 the row ends: longer sentences use its end. NULL: the constant law. */
    const uint64_t *cumulative;
    int64_t last;
    /* Not NULL: each length 0..max_length has a row of its own in `cumulative`, cut likewise. */
    const int64_t *row_start, *row_size;
    int64_t max_length;
    /* The constant law: a word is hit if 32 random bits are at most this; -1: never. */
    int64_t limit_drawable; /* for a word that could be drawn itself */
    int64_t limit_other;    /* for any other word */
    int64_t null_id;        /* what a hit word becomes; -1: another word */
} so_law;

/* The first index in low..high whose value is above v; high if there is none before. */
SO_INLINE int64_t so_first_above(const uint64_t *values, int64_t low, int64_t high, uint64_t v)
{
    while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (values[middle] <= v) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* floor(u * total / 2^32) for 32 random bits u. */
SO_INLINE uint64_t so_scale(uint32_t u, uint64_t total)
{
    return u * (total >> 32) + ((u * (total & 0xFFFFFFFF)) >> 32);
}

/* n for a sentence of `length` words from 32 random bits: how many C_k are at most u * C_L / 2^32. */
SO_INLINE int64_t so_draw_count(uint32_t u, int64_t length, const so_law *law)
{
    const uint64_t *c = law->cumulative;
    int64_t last = so_min(length, law->last);
    if (law->row_start) c += law->row_start[length], last = law->row_size[length] - 1;
    uint64_t v = so_scale(u, c[last]);
    int64_t n = (c[0] <= v) + (c[1] <= v) + (c[2] <= v) + (c[3] <= v); /* n is small more often than not: branch-free */
    return n < 4 ? n : so_first_above(c, 4, last, v);
}

/* ---- Words: which ids are replaced, and by which ---- */

typedef struct {
    int64_t size;                  /* ids are below it */
    int64_t lowest;                /* ids below it are special: not replaced, drawn or counted */
    int64_t n_ranges;              /* and these, sorted: starts[r] <= id < stops[r] */
    const int64_t *starts, *stops;
    int64_t n_draw;                /* how many words may be drawn: all, or if not NULL */
    const int64_t *draw_ids;       /* these, sorted */
} so_words;

/* A word other than v, uniform: 1 to W - 1 places further in the circle of all words. */
SO_INLINE int64_t so_other_word(int64_t v, so_bits bits, const so_words *words)
{
    int64_t rank = v - words->lowest;
    for (int64_t r = 0; r < words->n_ranges; r++)
        rank -= (words->stops[r] - words->starts[r]) * (v >= words->stops[r]);
    rank += 1 + so_below(words->n_draw - 1, bits);
    int64_t word = words->lowest + rank - words->n_draw * (rank >= words->n_draw);
    for (int64_t r = 0; r < words->n_ranges; r++)
        word += (words->stops[r] - words->starts[r]) * (word >= words->starts[r]);
    return word;
}

#endif
