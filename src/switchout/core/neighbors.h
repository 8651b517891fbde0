/* neighbors.h: the nearest training sentence by word-level edit distance, exactly.

   No two sentences x, y are nearer than max(|x|, |y|) minus the terms they share, where a *term* is
   the k-th occurrence of a word in its sentence. For every query x:

   1. Read the lists of its terms, rarest first, and count the shared terms per sentence. A sentence
      on none of the lists read shares at most the unread terms. Once that is too few to reach the
      best distance known, the rest, the longest lists, stays unread. The longer y, the earlier that
      happens: sentences are numbered by length, so each list is read only as far as it matters.
   2. For the sentences met, a mark of 32 bits tells which unread frequent terms they hold.
   3. Measure the edit distance of those, smallest bound first, until no bound can win.

   Reading pauses once, halfway, to measure a few sentences that share the most rare terms: the
   sooner a good distance is known, the less there is to read. */

#ifndef SWITCHOUT_NEIGHBORS_H
#define SWITCHOUT_NEIGHBORS_H

#include <stdlib.h>

#include "edit_distance.h"

/* ---- Words as numbers ---- */

typedef struct { uint64_t code; int64_t first, size; int32_t id; } so_numbered; /* id < 0: free */

typedef struct {
    so_numbered *slots;
    int64_t n_slots, n_words; /* a power of two; at most half of them are used */
} so_number_table;

#define SO_MIX 0x9E3779B97F4A7C15u /* 2^64 / golden ratio, odd */

SO_INLINE so_numbered *so_number_slot(const so_number_table *table, const uint8_t *text, uint64_t code, int64_t first, int64_t size)
{
    uint64_t mixed = code * SO_MIX, at = (mixed ^ mixed >> 32) & (uint64_t)(table->n_slots - 1);
    for (;; at = (at + 1) & (uint64_t)(table->n_slots - 1)) {
        so_numbered *slot = &table->slots[at];
        if (slot->id < 0) return slot;
        if (slot->code != code || slot->size != size) continue;
        if (size <= 8 || memcmp(text + slot->first, text + first, (size_t)size) == 0) return slot; /* eight bytes are the code */
    }
}

/* Doubles the table (or makes the first one); returns whether there was memory. */
static inline int so_grow_numbers(so_number_table *table, const uint8_t *text)
{
    so_number_table larger = {NULL, table->n_slots ? 2 * table->n_slots : 1 << 12, table->n_words};
    larger.slots = (so_numbered *)malloc((size_t)larger.n_slots * sizeof *larger.slots);
    if (larger.slots == NULL) return 0;
    for (int64_t i = 0; i < larger.n_slots; i++) larger.slots[i].id = -1;
    for (int64_t i = 0; i < table->n_slots; i++) {
        const so_numbered *old = &table->slots[i];
        if (old->id >= 0) *so_number_slot(&larger, text, old->code, old->first, old->size) = *old;
    }
    free(table->slots);
    *table = larger;
    return 1;
}

/* Numbers the words between spaces and line breaks in order of first appearance; starts[i] is where
   line i begins in `ids`, which has room for size / 2 + 1. Returns the number of distinct words;
   -1: no memory, -2: not n_lines lines. */
static inline int64_t so_number_words(const uint8_t *text, int64_t size, int32_t *ids, int64_t *starts, int64_t n_lines)
{
    so_number_table table = {NULL, 0, 0};
    int64_t n = 0, line = 0, begin = 0;
    uint64_t code = 0;
    starts[0] = 0;
    for (int64_t i = 0; i < size; i++) {
        if (text[i] != ' ' && text[i] != '\n') {
            code = (code << 8 | text[i]) ^ (code >> 56) * SO_MIX; /* eight bytes fit, more are hashed */
            continue;
        }
        if (i > begin) {
            if (2 * table.n_words >= table.n_slots && !so_grow_numbers(&table, text)) return free(table.slots), -1;
            so_numbered *slot = so_number_slot(&table, text, code, begin, i - begin);
            if (slot->id < 0) slot->code = code, slot->first = begin, slot->size = i - begin, slot->id = (int32_t)table.n_words++;
            ids[n++] = slot->id;
        }
        if (text[i] == '\n') {
            if (line == n_lines) return free(table.slots), -2;
            starts[++line] = n;
        }
        begin = i + 1, code = 0;
    }
    free(table.slots);
    return line == n_lines ? table.n_words : -2;
}

/* ---- The index: sentences by length, and the sentences that hold each term ---- */

enum { SO_MARKED = 32 };   /* frequent terms that have a bit in the mark of a sentence */
enum { SO_RANK_LANES = 32 }; /* each length begins at a multiple of so many ranks, for packed counters */

/* A sentence's *rank* is its number by length; ranks that only fill up belong to no sentence. */
typedef struct {
    int64_t n_train, longest, n_distinct, n_ranks, n_words, n_terms;
    int64_t *first_rank;  /* [longest + 2]: first rank of each length */
    int64_t *first_row;   /* [longest + 1]: where the words of sentences of each length begin in `rows` */
    int64_t *lowest;      /* [longest + 1]: first training sentence that is at most so long */
    int64_t *first_term;  /* [distinct + 1]: term of the first occurrence of each word; the next ones follow */
    int64_t *list_starts; /* [terms + 1]: where the list of each term begins in `ranks` */
    uint32_t *rows;       /* [words]: word ids, rank after rank */
    uint32_t *ranks;      /* [words]: ranks that hold each term, ascending */
    uint32_t *marks;      /* [ranks]: frequent terms of each rank */
    int32_t *order;       /* [ranks]: training sentence of each rank, n_train for none */
    uint8_t *bits;        /* [terms]: bit of each term in the marks; SO_MARKED if it has none */
} so_index;

static inline void so_free_index(so_index *index)
{
    if (index == NULL) return;
    free(index->first_rank), free(index->first_row), free(index->lowest), free(index->first_term), free(index->list_starts);
    free(index->rows), free(index->ranks), free(index->marks), free(index->order), free(index->bits);
    free(index);
}

SO_INLINE int64_t so_filled_up(int64_t n) { return (n + SO_RANK_LANES - 1) / SO_RANK_LANES * SO_RANK_LANES; }

/* Ranks and rows; `next` has room for longest + 1. */
SO_INLINE void so_sort_by_length(so_index *x, const int32_t *ids, const int64_t *starts, const int64_t *n_of_length, int64_t *next)
{
    for (int64_t length = 0, row = 0; length <= x->longest; row += n_of_length[length] * length, length++) {
        x->first_row[length] = row, next[length] = x->first_rank[length], x->lowest[length] = x->n_train;
        x->first_rank[length + 1] = x->first_rank[length] + so_filled_up(n_of_length[length]);
    }
    for (int64_t rank = 0; rank < x->n_ranks; rank++) x->order[rank] = (int32_t)x->n_train;
    for (int64_t i = 0; i < x->n_train; i++) {
        int64_t length = starts[i + 1] - starts[i], rank = next[length]++;
        uint32_t *row = x->rows + x->first_row[length] + (rank - x->first_rank[length]) * length;
        for (int64_t k = 0; k < length; k++) row[k] = (uint32_t)ids[starts[i] + k];
        x->order[rank] = (int32_t)i;
        x->lowest[length] = so_min(x->lowest[length], i);
    }
    for (int64_t length = 1; length <= x->longest; length++) x->lowest[length] = so_min(x->lowest[length], x->lowest[length - 1]);
}

/* The term of every word in `rows`; `seen` [distinct] is zeros before and after. */
SO_INLINE void so_number_terms(so_index *x, const int64_t *n_of_length, int32_t *seen, int32_t *terms)
{
    for (int64_t length = 0, begin = 0; length <= x->longest; length++)
        for (int64_t s = 0; s < n_of_length[length]; s++, begin += length) {
            for (int64_t k = begin; k < begin + length; k++) {
                int64_t *most = &x->first_term[x->rows[k] + 1];
                terms[k] = seen[x->rows[k]]++;
                *most = so_max(*most, seen[x->rows[k]]);
            }
            for (int64_t k = begin; k < begin + length; k++) seen[x->rows[k]] = 0;
        }
    for (int64_t w = 0; w < x->n_distinct; w++) x->first_term[w + 1] += x->first_term[w];
    for (int64_t k = 0; k < x->n_words; k++) terms[k] += (int32_t)x->first_term[x->rows[k]];
    x->n_terms = x->first_term[x->n_distinct];
}

/* The 32 longest lists get a bit each: of equals those of the later terms. */
SO_INLINE void so_choose_marked(so_index *x)
{
    int64_t chosen[SO_MARKED], n = 0; /* ascending by size */
    for (int64_t term = 0; term < x->n_terms; term++) {
        int64_t size = x->list_starts[term + 1] - x->list_starts[term], at = n;
        x->bits[term] = SO_MARKED;
        while (at > 0 && x->list_starts[chosen[at - 1] + 1] - x->list_starts[chosen[at - 1]] > size) at--;
        if (n < SO_MARKED) memmove(chosen + at + 1, chosen + at, (size_t)(n++ - at) * sizeof *chosen);
        else if (at-- > 0) memmove(chosen, chosen + 1, (size_t)at * sizeof *chosen);
        if (at >= 0) chosen[at] = term;
    }
    for (int64_t i = 0; i < n; i++) x->bits[chosen[i]] = (uint8_t)i;
}

/* The ranks of every term, and the marks of every rank; `next` has room for the terms. */
SO_INLINE void so_invert(so_index *x, const int32_t *terms, const int64_t *n_of_length, int64_t *next)
{
    for (int64_t term = 0; term < x->n_terms; term++) next[term] = x->list_starts[term];
    for (int64_t length = 0, k = 0; length <= x->longest; length++)
        for (int64_t rank = x->first_rank[length]; rank < x->first_rank[length] + n_of_length[length]; rank++)
            for (int64_t t = 0; t < length; t++, k++) {
                x->ranks[next[terms[k]]++] = (uint32_t)rank;
                if (x->bits[terms[k]] < SO_MARKED) x->marks[rank] |= (uint32_t)1 << x->bits[terms[k]];
            }
}

SO_INLINE void *so_zeros(int64_t n, size_t item_size) { return calloc((size_t)n + 1, item_size); }

/* Indexes n_train sentences: sentence i is ids[starts[i]..starts[i + 1]], ids below n_distinct.
   Returns NULL if there is no memory. */
static inline so_index *so_make_index(const int32_t *ids, const int64_t *starts, int64_t n_train, int64_t n_distinct)
{
    so_index *x = (so_index *)so_zeros(0, sizeof *x);
    if (x == NULL) return NULL;
    x->n_train = n_train, x->n_distinct = n_distinct, x->n_words = starts[n_train];
    for (int64_t i = 0; i < n_train; i++) x->longest = so_max(x->longest, starts[i + 1] - starts[i]);
    int64_t *n_of_length = (int64_t *)so_zeros(x->longest + 1, 8), *next = NULL;
    for (int64_t i = 0; n_of_length && i < n_train; i++) n_of_length[starts[i + 1] - starts[i]]++;
    for (int64_t length = 0; n_of_length && length <= x->longest; length++) x->n_ranks += so_filled_up(n_of_length[length]);
    x->first_rank = (int64_t *)so_zeros(x->longest + 2, 8), x->first_row = (int64_t *)so_zeros(x->longest + 1, 8);
    x->lowest = (int64_t *)so_zeros(x->longest + 1, 8), x->first_term = (int64_t *)so_zeros(n_distinct + 1, 8);
    x->rows = (uint32_t *)so_zeros(x->n_words, 4), x->ranks = (uint32_t *)so_zeros(x->n_words, 4);
    x->marks = (uint32_t *)so_zeros(x->n_ranks, 4), x->order = (int32_t *)so_zeros(x->n_ranks, 4);
    int32_t *seen = (int32_t *)so_zeros(n_distinct, 4), *terms = (int32_t *)so_zeros(x->n_words, 4);
    int64_t *by_length = (int64_t *)so_zeros(x->longest + 1, 8);
    int ok = n_of_length && by_length && x->first_rank && x->first_row && x->lowest && x->first_term && x->rows && x->ranks && x->marks && x->order && seen && terms;
    if (ok) {
        so_sort_by_length(x, ids, starts, n_of_length, by_length);
        so_number_terms(x, n_of_length, seen, terms);
        x->list_starts = (int64_t *)so_zeros(x->n_terms + 1, 8), x->bits = (uint8_t *)so_zeros(x->n_terms, 1);
        next = (int64_t *)so_zeros(x->n_terms, 8);
        ok = x->list_starts && x->bits && next;
    }
    if (ok) {
        for (int64_t k = 0; k < x->n_words; k++) x->list_starts[terms[k] + 1]++;
        for (int64_t term = 0; term < x->n_terms; term++) x->list_starts[term + 1] += x->list_starts[term];
        so_choose_marked(x);
        so_invert(x, terms, n_of_length, next);
    }
    free(n_of_length), free(by_length), free(seen), free(terms), free(next);
    if (ok) return x;
    so_free_index(x);
    return NULL;
}

/* ---- The search ---- */

/* Tuned on TED and Tatoeba sentences; they change the speed, never the result. */
enum { SO_PROBES = 32 }; /* sentences measured in the pause, which comes when others must be further than WER 0.5 */
enum { SO_SLACK = 2 };   /* terms read beyond need: a list costs less than the sentences it rules out */

typedef struct { int64_t size, term; } so_term; /* a term and how long its list is */

/* One query, and working space that is reused for the next one. */
typedef struct {
    const so_index *index;
    so_pattern pattern;
    int64_t n_terms;
    so_term *terms;         /* of the query, rarest first */
    uint32_t *unread_marks; /* [terms + 1]: marks of the terms from the i-th on */
    int64_t *unread_others; /* [terms + 1]: how many of them have no mark */
    void *shared;           /* [ranks]: terms shared with the query, as far as read; zeros between queries */
    int32_t *seen;          /* [distinct]: zeros */
    int64_t *n_read;        /* [longest + 1]: lists read for each length */
    int64_t *hits;          /* first ranks of packed words with a high counter */
    int32_t *found, *lengths, *bounds, *sequence; /* [ranks]: ranks worth measuring */
    int64_t *heads;         /* [longest distance + 2] */
    int64_t least, nearest; /* the best so far: distance and training sentence */
} so_query;

static inline int so_by_size(const void *a, const void *b)
{
    const so_term *x = (const so_term *)a, *y = (const so_term *)b;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return x->term < y->term ? -1 : x->term > y->term;
}

SO_INLINE void so_list_terms(so_query *q, const int32_t *words)
{
    const so_index *index = q->index;
    q->n_terms = 0;
    for (int64_t i = 0; i < q->pattern.length; i++) {
        int64_t term = index->first_term[words[i]] + q->seen[words[i]]++;
        if (term >= index->first_term[words[i] + 1]) continue; /* does not occur in training */
        q->terms[q->n_terms].size = index->list_starts[term + 1] - index->list_starts[term];
        q->terms[q->n_terms++].term = term;
    }
    for (int64_t i = 0; i < q->pattern.length; i++) q->seen[words[i]] = 0;
    qsort(q->terms, (size_t)q->n_terms, sizeof *q->terms, so_by_size);
    q->unread_marks[q->n_terms] = 0, q->unread_others[q->n_terms] = 0;
    for (int64_t k = q->n_terms - 1; k >= 0; k--) {
        int bit = index->bits[q->terms[k].term];
        q->unread_marks[k] = q->unread_marks[k + 1] | (bit < SO_MARKED ? (uint32_t)1 << bit : 0);
        q->unread_others[k] = q->unread_others[k + 1] + (bit == SO_MARKED);
    }
}

/* Counters of 8, 16 or 32 bits, a constant when this is compiled. */
SO_INLINE int64_t so_counter(const void *shared, int width, int64_t rank)
{
    return width == 8 ? ((const uint8_t *)shared)[rank] : width == 16 ? ((const uint16_t *)shared)[rank] : (int64_t)((const uint32_t *)shared)[rank];
}

SO_INLINE int64_t so_count_up(void *shared, int width, int64_t rank)
{
    return width == 8 ? ++((uint8_t *)shared)[rank] : width == 16 ? ++((uint16_t *)shared)[rank] : (int64_t)++((uint32_t *)shared)[rank];
}

SO_INLINE int64_t so_first_rank_from(const uint32_t *ranks, int64_t low, int64_t high, int64_t rank)
{
    while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (ranks[middle] < rank) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Counts shared terms until sentences not met are all further than `goal`. Returns the number of lists
   read in all; *peak is raised to the highest count met. */
SO_INLINE int64_t so_read_lists(so_query *q, int width, int64_t n_read, int64_t goal, int64_t *peak)
{
    const so_index *index = q->index;
    const int64_t length = q->pattern.length;
    while (n_read < q->n_terms && goal + q->n_terms - n_read >= length) {
        /* Shorter sentences are too far by their length alone; longer ones if not met before. */
        int64_t shortest = so_min(so_max(length - q->least, 0), index->longest + 1);
        int64_t longest = so_min(q->least + SO_SLACK + q->n_terms - n_read, index->longest);
        int64_t term = q->terms[n_read].term, low = index->list_starts[term], high = index->list_starts[term + 1];
        int64_t first = so_first_rank_from(index->ranks, low, high, index->first_rank[shortest]);
        int64_t last = so_first_rank_from(index->ranks, low, high, index->first_rank[longest + 1]);
        for (int64_t k = first; k < last; k++) *peak = so_max(*peak, so_count_up(q->shared, width, index->ranks[k]));
        n_read++;
        for (int64_t n = 0; n <= longest; n++) q->n_read[n] = n_read;
    }
    return n_read;
}

/* Lists the ranks of low <= bound <= high that share at least `floor` of the terms read. */
SO_INLINE int64_t so_collect(so_query *q, int width, int64_t low, int64_t high, int64_t floor)
{
    const so_index *index = q->index;
    const uint64_t *packed = (const uint64_t *)q->shared;
    const uint64_t ones = ~(uint64_t)0 / (~(uint64_t)0 >> (64 - width)), tops = ones << (width - 1);
    const int64_t length = q->pattern.length, per_word = 64 / width;
    int64_t n_found = 0;
    for (int64_t n = so_max(length - high, 0); n <= so_min(length + high, index->longest); n++) {
        int64_t n_read = q->n_read[n], larger = so_max(length, n), apart = larger - so_min(length, n);
        int64_t need = so_max(larger - high - (q->n_terms - n_read), floor);
        if (need > n_read) continue;
        /* Three passes, each a short loop of independent reads: words of counters that reach the
           need, ranks in them whose marks make up for the rest, and the bounds of those. */
        uint64_t carry = ones * (((uint64_t)1 << (width - 1)) - (uint64_t)need);
        int64_t n_hits = 0;
        for (int64_t k = index->first_rank[n] / per_word; k < index->first_rank[n + 1] / per_word; k += 4) {
            uint64_t over = (packed[k] + carry) | (packed[k + 1] + carry) | (packed[k + 2] + carry) | (packed[k + 3] + carry);
            if ((over & tops) == 0) continue;
            for (int64_t j = k; j < k + 4; j++) {
                q->hits[n_hits] = j * per_word;
                n_hits += ((packed[j] + carry) & tops) != 0;
            }
        }
        uint32_t unread = q->unread_marks[n_read];
        int64_t most = larger - q->unread_others[n_read], n_new = n_found; /* most: the bound if nothing is shared */
        for (int64_t k = 0; k < n_hits; k++)
            for (int64_t rank = q->hits[k]; rank < q->hits[k] + per_word; rank++) {
                q->found[n_new] = (int32_t)rank;
                n_new += most - so_counter(q->shared, width, rank) - __builtin_popcount(index->marks[rank] & unread) <= high;
            }
        for (int64_t k = n_found; k < n_new; k++) {
            int64_t rank = q->found[k], shared = so_counter(q->shared, width, rank);
            int64_t bound = so_max(most - shared - __builtin_popcount(index->marks[rank] & unread), apart);
            if (bound < low || shared < floor) continue;
            q->found[n_found] = (int32_t)rank, q->lengths[n_found] = (int32_t)n, q->bounds[n_found++] = (int32_t)bound;
        }
    }
    return n_found;
}

/* Measures up to `most` of the ranks found, smallest bound first, and keeps the best. */
SO_INLINE void so_verify(so_query *q, int64_t n_found, int64_t most)
{
    const so_index *index = q->index;
    memset(q->heads, 0, (size_t)(q->least + 2) * sizeof *q->heads);
    for (int64_t k = 0; k < n_found; k++) q->heads[q->bounds[k] + 1]++;
    for (int64_t b = 0; b <= q->least; b++) q->heads[b + 1] += q->heads[b];
    for (int64_t k = 0; k < n_found; k++) q->sequence[q->heads[q->bounds[k]]++] = (int32_t)k;
    for (int64_t s = 0; s < so_min(most, n_found); s++) {
        int64_t k = q->sequence[s], rank = q->found[k], n = q->lengths[k], sentence = index->order[rank];
        if (q->bounds[k] > q->least) break;
        if (q->bounds[k] == q->least && sentence >= q->nearest) continue;
        const uint32_t *row = index->rows + index->first_row[n] + (rank - index->first_rank[n]) * n;
        int64_t d = so_distance(&q->pattern, row, n, q->least);
        if (d < q->least || (d == q->least && sentence < q->nearest)) q->least = d, q->nearest = sentence;
    }
}

/* A distance nobody exceeds, the least max(|x|, |y|), and the first y that has it. */
SO_INLINE void so_share_nothing(so_query *q)
{
    const so_index *index = q->index;
    int64_t fitting = so_min(q->pattern.length, index->longest);
    q->least = q->pattern.length, q->nearest = index->lowest[fitting];
    if (index->first_rank[fitting + 1] > 0) return;
    for (q->least = fitting; index->first_rank[q->least + 1] == 0;) q->least++;
    q->nearest = index->order[0];
}

SO_INLINE void so_search_one(so_query *q, int width, const int32_t *words, int64_t length)
{
    const so_index *index = q->index;
    int64_t peak = 0;
    so_prepare(&q->pattern, words, length);
    so_list_terms(q, words);
    so_share_nothing(q);
    int64_t n_lengths = so_min(q->least + SO_SLACK + q->n_terms, index->longest) + 1; /* nothing longer is read */
    memset(q->n_read, 0, (size_t)(index->longest + 1) * sizeof *q->n_read);
    int64_t n_read = so_read_lists(q, width, 0, length / 2, &peak);
    if (peak > 1) so_verify(q, so_collect(q, width, 0, q->least, so_max(1, peak - 2)), SO_PROBES);
    so_read_lists(q, width, n_read, q->least + SO_SLACK, &peak);
    int64_t known = q->least, n_found = so_collect(q, width, 0, q->least - 1, 1);
    so_verify(q, n_found, n_found);
    if (q->least == known) { /* nothing is nearer; an earlier sentence may be as near */
        n_found = so_collect(q, width, q->least, q->least, 1);
        so_verify(q, n_found, n_found);
    }
    memset(q->shared, 0, (size_t)(index->first_rank[n_lengths] * (width / 8)));
    so_forget(&q->pattern, words);
}

static inline void so_free_query(so_query *q)
{
    free(q->pattern.local), free(q->pattern.places), free(q->pattern.up), free(q->pattern.down);
    free(q->terms), free(q->unread_marks), free(q->unread_others), free(q->shared), free(q->seen), free(q->n_read);
    free(q->hits), free(q->found), free(q->lengths), free(q->bounds), free(q->sequence), free(q->heads);
}

/* Working space for queries of up to `longest` words; returns whether there was memory. */
static inline int so_make_query(so_query *q, const so_index *index, int64_t longest)
{
    int64_t n_blocks = longest / 64 + 1, n_ranks = index->n_ranks + 1;
    memset(q, 0, sizeof *q);
    q->index = index;
    q->pattern.local = (uint32_t *)so_zeros(index->n_distinct, 4), q->pattern.places = (uint64_t *)so_zeros((longest + 1) * n_blocks, 8);
    q->pattern.up = (uint64_t *)so_zeros(n_blocks, 8), q->pattern.down = (uint64_t *)so_zeros(n_blocks, 8);
    q->terms = (so_term *)so_zeros(longest, sizeof(so_term)), q->unread_marks = (uint32_t *)so_zeros(longest + 1, 4);
    q->unread_others = (int64_t *)so_zeros(longest + 1, 8), q->shared = so_zeros(n_ranks, 4), q->seen = (int32_t *)so_zeros(index->n_distinct, 4);
    q->n_read = (int64_t *)so_zeros(index->longest + 1, 8), q->hits = (int64_t *)so_zeros(n_ranks / 2 + 1, 8);
    q->found = (int32_t *)so_zeros(n_ranks, 4), q->lengths = (int32_t *)so_zeros(n_ranks, 4), q->bounds = (int32_t *)so_zeros(n_ranks, 4);
    q->sequence = (int32_t *)so_zeros(n_ranks, 4), q->heads = (int64_t *)so_zeros(so_max(longest, index->longest) + 3, 8);
    return q->pattern.local && q->pattern.places && q->pattern.up && q->pattern.down && q->terms && q->unread_marks && q->unread_others
        && q->shared && q->seen && q->n_read && q->hits && q->found && q->lengths && q->bounds && q->sequence && q->heads;
}

/* The least distance and the first training sentence at it for each query: sentence i is
   ids[starts[i]..starts[i + 1]]. Queries alike in length are quick one after the other. Returns
   whether there was memory. */
static inline int so_search(const so_index *index, const int32_t *ids, const int64_t *starts, const int64_t *queries, int64_t n_queries,
                            int64_t *distances, int64_t *nearest)
{
    so_query q;
    int64_t longest = 0;
    for (int64_t i = 0; i < n_queries; i++) longest = so_max(longest, starts[queries[i] + 1] - starts[queries[i]]);
    int ok = so_make_query(&q, index, longest);
    for (int64_t i = 0; ok && i < n_queries; i++) {
        const int32_t *words = ids + starts[queries[i]];
        int64_t length = starts[queries[i] + 1] - starts[queries[i]];
        /* Counters are compared by carrying into their top bit, which must be free. */
        if (longest < 1 << 7) so_search_one(&q, 8, words, length);
        else if (longest < 1 << 15) so_search_one(&q, 16, words, length);
        else so_search_one(&q, 32, words, length);
        distances[i] = q.least, nearest[i] = q.nearest;
    }
    so_free_query(&q);
    return ok;
}

#endif
