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
    int64_t n_draw;                /* how many words may be drawn: all of them, or if not NULL */
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

/* The same where only draw_ids may come in. A word outside them may become any of them, and the
   constant law has a limit of its own for it. */
SO_INLINE int64_t so_other_drawable(int64_t v, so_bits bits, const so_words *words, const so_law *law)
{
    int64_t low = 0, high = words->n_draw;
    while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (words->draw_ids[middle] < v) low = middle + 1;
        else high = middle;
    }
    int is_drawable = low < words->n_draw && words->draw_ids[low] == v;
    if (!law->cumulative && bits.word[0] > (is_drawable ? law->limit_drawable : law->limit_other)) return v;
    if (!is_drawable) return words->draw_ids[so_below(words->n_draw, bits)];
    int64_t rank = low + 1 + so_below(words->n_draw - 1, bits);
    return words->draw_ids[rank - words->n_draw * (rank >= words->n_draw)];
}

/* What the hit word v becomes. */
SO_INLINE int64_t so_new_word(int64_t v, so_bits bits, const so_words *words, const so_law *law)
{
    if (law->null_id >= 0) return law->null_id;
    return words->draw_ids ? so_other_drawable(v, bits, words, law) : so_other_word(v, bits, words);
}

/* ---- A batch of sentences ---- */

typedef struct {
    const void *source;      /* ids, [n_rows, width], int32 or int64 */
    void *rows;              /* the result, of the same type; may be `source` itself */
    int64_t item_size;       /* 4 or 8 */
    int64_t n_rows, width;
    const uint8_t *frozen;   /* [n_rows, width]: words to leave alone and not to count; or NULL */
    const int64_t *lengths;  /* [n_rows]: words of each sentence, if known; or NULL */
    const uint64_t *examples; /* [n_rows]: which example each row is */
    uint64_t last_example;   /* none is larger */
} so_batch;

/* What is wrong with a batch, and in which row. Rows before it may have been sampled already, but if
   the result goes over the source only `SO_BAD_LENGTH` is found that late. */
enum { SO_OK, SO_BAD_EXAMPLE, SO_BAD_ID, SO_BAD_LENGTH };
typedef struct { int64_t problem, row; } so_result;

SO_INLINE so_result so_found(int64_t problem, int64_t row)
{
    so_result result = {problem, row};
    return result;
}

enum { SO_SPAN = 64 };  /* words or columns whose answers are the bits of one number */
enum { SO_LOOK = 32 };  /* columns that are looked at together to find words that were hit */
enum { SO_TILE = 256 }; /* sentences whose n are drawn together, words that are replaced together */

/* In all that follows `wide` (int64, not int32) is a constant when it is compiled. */

SO_INLINE int64_t so_get(const void *ids, int wide, int64_t i)
{
    return wide ? ((const int64_t *)ids)[i] : ((const int32_t *)ids)[i];
}

SO_INLINE void so_set(void *ids, int wide, int64_t i, int64_t id)
{
    if (wide) ((int64_t *)ids)[i] = id;
    else ((int32_t *)ids)[i] = (int32_t)id;
}

typedef struct { int64_t low, high; } so_counts;

/* How many of the n ids from `first` on are at least `low`, and how many at least `high`. */
SO_INLINE so_counts so_count_from(const void *ids, int wide, int64_t first, int64_t n, int64_t low, int64_t high)
{
    so_counts count = {0, 0};
    if (wide) {
        const int64_t *id = (const int64_t *)ids + first;
        for (int64_t i = 0; i < n; i++) count.low += id[i] >= low, count.high += id[i] >= high;
        return count;
    }
    const int32_t *id = (const int32_t *)ids + first;
    int32_t n_low = 0, n_high = 0; /* as wide as the ids, so that vectors need no conversion */
    for (int64_t i = 0; i < n; i++) n_low += id[i] >= (int32_t)low, n_high += id[i] >= (int32_t)high;
    count.low = n_low, count.high = n_high;
    return count;
}

/* How many of the n ids from `first` on are in special range r, or in the one after it. An id is shifted so
   that the range begins at the least number: then one comparison is enough, and an empty range never holds. */
SO_INLINE int64_t so_count_special(const void *ids, int wide, int64_t first, int64_t n, const so_words *words, int64_t r)
{
    const int64_t next = so_min(r + 1, words->n_ranges - 1);
    const int64_t size = words->stops[r] - words->starts[r], next_size = next > r ? words->stops[next] - words->starts[next] : 0;
    if (wide) {
        const uint64_t *id = (const uint64_t *)ids + first, least = (uint64_t)INT64_MIN;
        const uint64_t shift = least - (uint64_t)words->starts[r], next_shift = least - (uint64_t)words->starts[next];
        int64_t count = 0, next_count = 0;
        for (int64_t i = 0; i < n; i++) {
            count += (int64_t)(id[i] + shift) < INT64_MIN + size;
            next_count += (int64_t)(id[i] + next_shift) < INT64_MIN + next_size;
        }
        return count + next_count;
    }
    const uint32_t *id = (const uint32_t *)ids + first, least = (uint32_t)INT32_MIN;
    const uint32_t shift = least - (uint32_t)words->starts[r], next_shift = least - (uint32_t)words->starts[next];
    int32_t count = 0, next_count = 0;
    for (int64_t i = 0; i < n; i++) {
        count += (int32_t)(id[i] + shift) < INT32_MIN + (int32_t)size;
        next_count += (int32_t)(id[i] + next_shift) < INT32_MIN + (int32_t)next_size;
    }
    return count + next_count;
}

/* Which of the n <= 64 ids from `first` on are at least `bound`, as bits. */
SO_INLINE uint64_t so_bits_from(const void *ids, int wide, int64_t first, int64_t n, int64_t bound)
{
    uint64_t bits = 0;
    uint32_t low = 0, high = 0;
    if (wide) {
        const int64_t *id = (const int64_t *)ids + first;
        for (int64_t i = 0; i < n; i++) bits |= (uint64_t)(id[i] >= bound) << i;
    } else {
        const int32_t *id = (const int32_t *)ids + first;
        for (int64_t i = 0; i < so_min(n, 32); i++) low |= (uint32_t)(id[i] >= (int32_t)bound) << i;
        for (int64_t i = 32; i < n; i++) high |= (uint32_t)(id[i] >= (int32_t)bound) << (i - 32);
    }
    return bits | low | (uint64_t)high << 32;
}

/* Which of n <= 64 bytes are not 0, as bits. Of eight at a time: the upper bit of each says it, and a
   product moves the eight of them side by side. */
SO_INLINE uint64_t so_nonzero_bits(const uint8_t *bytes, int64_t n)
{
    const uint64_t lower = 0x7F7F7F7F7F7F7F7F;
    uint64_t bits = 0, eight;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(&eight, bytes + i, 8);
        eight = (((eight & lower) + lower) | eight) & ~lower;
        bits |= (((eight >> 7) * 0x0102040810204080) >> 56) << i;
    }
    for (; i < n; i++) bits |= (uint64_t)(bytes[i] != 0) << i;
    return bits;
}

/* Which of n <= 64 ids, from place `first` of the batch on, are words that may be replaced, as bits. */
SO_INLINE uint64_t so_word_bits(const so_batch *x, const void *ids, int wide, int64_t first, int64_t n, const so_words *words)
{
    uint64_t bits = so_bits_from(ids, wide, first, n, words->lowest);
    for (int64_t r = 0; r < words->n_ranges; r++)
        bits &= ~so_bits_from(ids, wide, first, n, words->starts[r]) | so_bits_from(ids, wide, first, n, words->stops[r]);
    if (x->frozen) bits &= ~so_nonzero_bits(x->frozen + first, n);
    return bits;
}

/* Checks a row and finds its length. */
SO_INLINE int64_t so_check_row(const so_batch *x, int wide, int64_t row, const so_words *words, int64_t *length)
{
    const int64_t first = row * x->width, n = x->width;
    if (x->examples[row] > x->last_example) return SO_BAD_EXAMPLE;
    if (x->lengths) {
        *length = x->lengths[row];
        return *length < 0 || *length > n ? SO_BAD_LENGTH : SO_OK;
    }
    so_counts all = so_count_from(x->source, wide, first, n, words->lowest, words->size);
    if (x->frozen) {
        *length = 0;
        for (int64_t i = 0; i < n; i += SO_SPAN)
            *length += __builtin_popcountll(so_word_bits(x, x->source, wide, first + i, so_min(n - i, SO_SPAN), words));
    } else {
        *length = all.low;
        for (int64_t r = 0; r < words->n_ranges; r += 2) *length -= so_count_special(x->source, wide, first, n, words, r);
    }
    return all.high ? SO_BAD_ID : SO_OK;
}

SO_INLINE void so_copy_row(const so_batch *x, int wide, int64_t row)
{
    size_t n_bytes = (size_t)x->width * (wide ? 8 : 4);
    if (x->rows != x->source) memcpy((char *)x->rows + (size_t)row * n_bytes, (const char *)x->source + (size_t)row * n_bytes, n_bytes);
}

/* Checks all rows; their lengths are written to `lengths` unless that is NULL. */
SO_INLINE so_result so_check_rows(const so_batch *x, int wide, const so_words *words, int64_t *lengths)
{
    for (int64_t row = 0; row < x->n_rows; row++) {
        int64_t length, problem = so_check_row(x, wide, row, words, &length);
        if (problem != SO_OK) return so_found(problem, row);
        if (lengths) lengths[row] = length;
    }
    return so_found(SO_OK, 0);
}

/* ---- Random bits of many words at once: Philox on four counters side by side ---- */

#pragma GCC diagnostic ignored "-Wpsabi" /* about vectors as results of functions; all are inlined here */
typedef uint64_t so_lanes __attribute__((vector_size(32), aligned(8)));
typedef int64_t so_signed_lanes __attribute__((vector_size(32), aligned(8)));

SO_INLINE so_lanes so_all(uint64_t x)
{
    so_lanes lanes = {x, x, x, x};
    return lanes;
}

/* The lower halves times 32 bits: one instruction, but gcc does not find it by itself. */
SO_INLINE so_lanes so_multiply(const so_lanes *a, uint64_t b)
{
#if defined(__AVX2__) && !defined(__clang__)
    typedef int halves __attribute__((vector_size(32)));
    return (so_lanes)__builtin_ia32_pmuludq256((halves)*a, (halves)so_all(b));
#elif defined(__SSE2__) && !defined(__clang__)
    typedef int halves __attribute__((vector_size(16)));
    typedef long long products __attribute__((vector_size(16)));
    const halves factor = {(int)(uint32_t)b, 0, (int)(uint32_t)b, 0};
    halves in[2];
    products out[2];
    so_lanes result;
    memcpy(in, a, sizeof in);
    for (int h = 0; h < 2; h++) out[h] = __builtin_ia32_pmuludq128(in[h], factor);
    memcpy(&result, out, sizeof result);
    return result;
#else
    return (*a & so_all(0xFFFFFFFF)) * so_all(b & 0xFFFFFFFF);
#endif
}

/* An address with the keys of all rounds, made once for a batch. */
typedef struct {
    so_address at;
    so_lanes k0[SO_ROUNDS] __attribute__((aligned(32))), k1[SO_ROUNDS] __attribute__((aligned(32)));
} so_generator;

SO_INLINE void so_start(const so_address *at, so_generator *random)
{
    random->at = *at;
    for (uint32_t round = 0; round < SO_ROUNDS; round++) {
        random->k0[round] = so_all((uint32_t)at->seed + round * SO_WEYL_0);
        random->k1[round] = so_all((uint32_t)(at->seed >> 32) + round * SO_WEYL_1);
    }
}

/* c[i] holds counter word i of eight counters before and random word i after, in the lower halves of
   its lanes. Two vectors of four, because one alone would wait for its own products. */
SO_INLINE void so_random_lanes(const so_generator *random, so_lanes c[4][2])
{
#pragma GCC unroll 10
    for (int round = 0; round < SO_ROUNDS; round++) {
#pragma GCC unroll 2
        for (int h = 0; h < 2; h++) {
            so_lanes p0 = so_multiply(&c[0][h], SO_MULTIPLIER_0), p1 = so_multiply(&c[2][h], SO_MULTIPLIER_1);
            c[0][h] = (p1 >> 32) ^ c[1][h] ^ random->k0[round], c[1][h] = p1;
            c[2][h] = (p0 >> 32) ^ c[3][h] ^ random->k1[round], c[3][h] = p0;
        }
    }
}

/* Word 0 of block 0 of n examples; both arrays have room for the next multiple of eight. */
SO_INLINE void so_sentence_bits(const so_generator *random, const uint64_t *examples, int64_t n, uint64_t *bits)
{
    for (int64_t i = 0; i < n; i += 8) {
        so_lanes c[4][2];
        memcpy(c[0], examples + i, sizeof c[0]);
        for (int h = 0; h < 2; h++) c[1][h] = c[0][h] >> 32, c[2][h] = so_all(random->at.epoch), c[3][h] = so_all(random->at.stream);
        so_random_lanes(random, c);
        memcpy(bits + i, c[0], sizeof c[0]);
    }
}

/* A word is hit if its random word 0, times scale, is below bound. */
typedef struct { uint64_t scale; int64_t bound; } so_chance;

/* Which of n <= 64 words are hit, as bits; the i-th has block number block + i. */
SO_INLINE uint64_t so_hits(const so_generator *random, uint64_t example, uint64_t block, int64_t n, so_chance chance)
{
    so_lanes hits = so_all(0), bit = {1, 2, 4, 8}, offset = {0, 1, 2, 3};
    for (int64_t i = 0; i < n; i += 8) {
        so_lanes c[4][2];
        for (int h = 0; h < 2; h++) {
            c[0][h] = so_all(example), c[1][h] = so_all(example >> 32);
            c[2][h] = so_all(random->at.epoch), c[3][h] = offset + so_all(block + (uint64_t)(i + 4 * h));
        }
        so_random_lanes(random, c);
        for (int h = 0; h < 2; h++, bit <<= 4)
            hits |= bit & (so_lanes)((so_signed_lanes)so_multiply(&c[0][h], chance.scale) < (so_signed_lanes)so_all((uint64_t)chance.bound));
    }
    return (hits[0] | hits[1] | hits[2] | hits[3]) & (~(uint64_t)0 >> (SO_SPAN - n));
}

/* Words that were hit and not replaced yet. */
typedef struct {
    int64_t n;
    int64_t place[SO_TILE + SO_SPAN];                                /* where in the batch */
    uint64_t example[SO_TILE + SO_SPAN], block[SO_TILE + SO_SPAN];   /* the address of their bits */
} so_hit_list;

/* Puts other words there. Their random words 1 and 2 are drawn only now: most words are not hit. */
SO_INLINE void so_replace(const so_batch *x, int wide, const so_generator *random, const so_words *words, const so_law *law, so_hit_list *hits)
{
    for (int64_t k = 0; k < hits->n; k += 8) {
        so_lanes c[4][2];
        uint64_t drawn[3][8];
        memcpy(c[0], hits->example + k, sizeof c[0]);
        memcpy(c[3], hits->block + k, sizeof c[3]);
        for (int h = 0; h < 2; h++) c[1][h] = c[0][h] >> 32, c[2][h] = so_all(random->at.epoch);
        so_random_lanes(random, c);
        memcpy(drawn, c, sizeof drawn);
        for (int64_t j = 0; j < so_min(hits->n - k, 8); j++) {
            so_bits bits = {{(uint32_t)drawn[0][j], (uint32_t)drawn[1][j], (uint32_t)drawn[2][j], 0}};
            int64_t place = hits->place[k + j];
            so_set(x->rows, wide, place, so_new_word(so_get(x->rows, wide, place), bits, words, law));
        }
    }
    hits->n = 0;
}

/* ---- Algorithm 1 ---- */

/* The place of the i-th one, counted from 0; usually the ones stand side by side. */
SO_INLINE int64_t so_select(uint64_t bits, int64_t i)
{
    int64_t first = __builtin_ctzll(bits);
    uint64_t zeros = ~(bits >> first);
    if (zeros == 0 || __builtin_ctzll(zeros) > i) return first + i;
    while (i--) bits &= bits - 1;
    return __builtin_ctzll(bits);
}

/* Walks through the words of a row, some columns at a time. */
typedef struct {
    int64_t column;   /* the first of these columns */
    int64_t n_before; /* words in the columns before */
    uint64_t bits;    /* which of these columns hold words */
} so_cursor;

SO_INLINE void so_look(const so_batch *x, int wide, int64_t row, const so_words *words, so_cursor *cursor)
{
    int64_t first = row * x->width + cursor->column, n = x->width - cursor->column;
    if (n >= SO_LOOK) cursor->bits = so_word_bits(x, x->rows, wide, first, SO_LOOK, words); /* a constant: no loop */
    else cursor->bits = so_word_bits(x, x->rows, wide, first, n, words);
}

/* The column of the i-th word of a row, i never falling; -1 if it has no so many. */
SO_INLINE int64_t so_find(const so_batch *x, int wide, int64_t row, const so_words *words, int64_t i, so_cursor *cursor)
{
    while (cursor->n_before + __builtin_popcountll(cursor->bits) <= i) {
        cursor->n_before += __builtin_popcountll(cursor->bits);
        cursor->column += SO_LOOK;
        if (cursor->column >= x->width) return -1;
        so_look(x, wide, row, words, cursor);
    }
    return cursor->column + so_select(cursor->bits, i - cursor->n_before);
}

/* Lists the words of a row that are hit; `hits` are those of its first 64 words. Returns whether the row
   has as many words as it needed to have. */
SO_INLINE int so_hit_row(const so_batch *x, int wide, int64_t row, int64_t length, uint64_t hits, so_chance chance,
                         const so_generator *random, const so_words *words, const so_law *law, so_hit_list *list)
{
    so_cursor cursor = {-SO_LOOK, 0, 0};
    for (int64_t first = 0; first < length; first += SO_SPAN) {
        uint64_t block = (uint64_t)random->at.stream + 1 + (uint64_t)first; /* of the first of 64 words */
        if (first) hits = so_hits(random, x->examples[row], block, so_min(length - first, SO_SPAN), chance);
        for (; hits; hits &= hits - 1) {
            int64_t i = __builtin_ctzll(hits), column = so_find(x, wide, row, words, first + i, &cursor);
            if (column < 0) return 0;
            list->place[list->n] = row * x->width + column;
            list->example[list->n] = x->examples[row];
            list->block[list->n++] = block + (uint64_t)i;
        }
        if (list->n >= SO_TILE) so_replace(x, wide, random, words, law, list); /* the cursor stays where it is */
    }
    return 1;
}

/* Asks for the columns that are looked at first. */
SO_INLINE void so_prefetch_row(const so_batch *x, int wide, int64_t row)
{
    int64_t item_size = wide ? 8 : 4, n_bytes = so_min(x->width, SO_LOOK) * item_size;
    const char *ids = (const char *)x->rows + row * x->width * item_size;
    for (int64_t i = 0; i < n_bytes + 63; i += 64) __builtin_prefetch(ids + so_min(i, n_bytes - 1));
}

SO_INLINE so_result so_sample_rows(const so_batch *x, int wide, const so_address *at, const so_words *words, const so_law *law)
{
    if (x->rows == x->source) { /* nothing is changed before all of it was looked at */
        so_result result = so_check_rows(x, wide, words, NULL);
        if (result.problem != SO_OK) return result;
    }
    const int is_constant = law->cumulative == NULL;
    const int64_t bound = so_max(law->limit_drawable, law->limit_other) + 1;
    const int64_t longest = law->row_start ? law->max_length : x->width;
    uint64_t examples[SO_TILE] = {0}, bits[SO_TILE], hits[SO_TILE];
    int64_t length[SO_TILE], chosen[SO_TILE];
    so_chance chance[SO_TILE];
    so_generator random;
    so_hit_list list;
    so_start(at, &random);
    memset(&list, 0, sizeof list);

    for (int64_t tile = 0; tile < x->n_rows; tile += SO_TILE) {
        int64_t n_rows = so_min(x->n_rows - tile, SO_TILE), n_chosen = 0, n_hit = 0;
        for (int64_t j = 0; j < n_rows; j++) {
            int64_t problem = so_check_row(x, wide, tile + j, words, &length[j]);
            if (problem == SO_OK && length[j] > longest) problem = SO_BAD_LENGTH;
            if (problem != SO_OK) return so_found(problem, tile + j);
            so_copy_row(x, wide, tile + j);
            examples[j] = x->examples[tile + j];
        }
        /* Draw n of every sentence; only those with n > 0 are visited. A word is hit with
           probability n / L: if u * L < n * 2^32. */
        if (!is_constant) so_sentence_bits(&random, examples, n_rows, bits);
        for (int64_t j = 0; j < n_rows; j++) { /* branch-free: half of the branches would be mispredicted */
            int64_t n = is_constant ? 0 : so_draw_count((uint32_t)bits[j], length[j], law);
            chosen[n_chosen] = j;
            chance[n_chosen].scale = is_constant ? 1 : (uint64_t)length[j];
            chance[n_chosen].bound = is_constant ? bound : n << 32;
            n_chosen += chance[n_chosen].bound > 0;
        }
        /* Which words are hit follows from the length alone. So rows are looked at only if one is, and
           their memory comes while random bits are drawn. */
        for (int64_t c = 0; c < n_chosen; c++) {
            int64_t j = chosen[c], n = so_min(length[j], SO_SPAN);
            so_prefetch_row(x, wide, tile + j);
            hits[n_hit] = n ? so_hits(&random, examples[j], (uint64_t)at->stream + 1, n, chance[c]) : 0;
            chosen[n_hit] = j, chance[n_hit] = chance[c];
            n_hit += (hits[n_hit] != 0) | (length[j] > SO_SPAN);
        }
        for (int64_t c = 0; c < n_hit; c++) {
            int64_t j = chosen[c];
            if (!so_hit_row(x, wide, tile + j, length[j], hits[c], chance[c], &random, words, law, &list)) return so_found(SO_BAD_LENGTH, tile + j);
        }
    }
    so_replace(x, wide, &random, words, law, &list);
    return so_found(SO_OK, 0);
}

/* ---- A table per word ---- */

typedef struct {
    int64_t n_words;
    const int64_t *row_start; /* [n_words + 1]: word v may become ids[row_start[v]..row_start[v + 1]]; */
    const int64_t *ids;       /* an empty row leaves it alone */
    const uint32_t *limits;   /* entry k: if 32 random bits are at most this and above the one before */
} so_similar_table;

SO_INLINE int64_t so_draw_similar(const so_similar_table *table, int64_t low, int64_t high, uint32_t u)
{
    while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (table->limits[middle] < u) low = middle + 1;
        else high = middle;
    }
    return table->ids[low];
}

SO_INLINE so_result so_similar_rows(const so_batch *x, int wide, const so_address *at, const so_words *words, const so_similar_table *table)
{
    so_result result = so_check_rows(x, wide, words, NULL);
    if (result.problem != SO_OK) return result;
    for (int64_t row = 0; row < x->n_rows; row++) {
        uint64_t block = at->stream;
        so_copy_row(x, wide, row);
        for (int64_t column = 0; column < x->width; column += SO_SPAN) {
            int64_t first = row * x->width + column;
            uint64_t is_word = so_word_bits(x, x->rows, wide, first, so_min(x->width - column, SO_SPAN), words);
            for (; is_word; is_word &= is_word - 1) {
                int64_t place = first + __builtin_ctzll(is_word), v = so_get(x->rows, wide, place);
                if (v >= table->n_words) return so_found(SO_BAD_ID, row);
                int64_t low = table->row_start[v], high = table->row_start[v + 1] - 1;
                block++;
                if (high < low) continue;
                uint32_t u = high > low ? so_random(at, x->examples[row], (uint32_t)block).word[0] : 0;
                so_set(x->rows, wide, place, so_draw_similar(table, low, high, u));
            }
        }
    }
    return so_found(SO_OK, 0);
}

/* ---- What to call ----
   The structs are copied first: nobody else can point to a copy, so that the compiler need not read it
   again after each id that is written. */

/* Samples a batch: each sentence's n, the words that are hit, what they become. */
static inline so_result so_sample(const so_batch *x, const so_address *at, const so_words *words, const so_law *law)
{
    const so_batch batch = *x;
    const so_words w = *words;
    const so_law l = *law;
    return x->item_size == 8 ? so_sample_rows(&batch, 1, at, &w, &l) : so_sample_rows(&batch, 0, at, &w, &l);
}

/* Samples a batch where what a word becomes depends on the word. */
static inline so_result so_sample_similar(const so_batch *x, const so_address *at, const so_words *words, const so_similar_table *table)
{
    const so_batch batch = *x;
    const so_words w = *words;
    const so_similar_table t = *table;
    return x->item_size == 8 ? so_similar_rows(&batch, 1, at, &w, &t) : so_similar_rows(&batch, 0, at, &w, &t);
}

/* Checks a batch and writes how many words each sentence has; samples nothing. */
static inline so_result so_measure(const so_batch *x, const so_words *words, int64_t *lengths)
{
    const so_batch batch = *x;
    const so_words w = *words;
    return x->item_size == 8 ? so_check_rows(&batch, 1, &w, lengths) : so_check_rows(&batch, 0, &w, lengths);
}

#endif
