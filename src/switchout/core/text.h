/* text.h: SwitchOut on lines of text, as bytes, with the same noise as switchout.h has for ids.

   The i-th known word of line e is the i-th real word of example e. Words are what bytes.split() of
   Python gives: separated by ASCII white space. Every byte that is not part of a changed word stays.

   How it is fast: 64 bytes are compared at a time and the answers packed into one number, so that
   work is per word, not per byte; a line whose n is 0 whatever its length is not even split; and
   untouched bytes, line after line, are copied in one piece.

   Every array of bytes is followed by SO_PADDING readable bytes. Nothing is allocated here. */

#ifndef SWITCHOUT_TEXT_H
#define SWITCHOUT_TEXT_H

#include "switchout.h"

enum { SO_PADDING = 64 };

typedef struct {
    const uint8_t *data;
    const int64_t *starts, *ends; /* line i is data[starts[i]..ends[i]] */
    int64_t n;
    int64_t gap; /* bytes behind each line that belong to it: 1 for a newline or tab, or 0 */
} so_lines;

/* ---- 64 bytes at a time ---- */

typedef uint8_t so_block __attribute__((vector_size(32)));

/* Bit i: the highest bit of byte i. */
SO_INLINE uint64_t so_top_bits(const so_block *bytes)
{
#if defined(__AVX2__)
    typedef char signed_block __attribute__((vector_size(32)));
    return (uint32_t)__builtin_ia32_pmovmskb256((signed_block)*bytes);
#elif defined(__SSE2__)
    typedef char half __attribute__((vector_size(16)));
    half halves[2];
    memcpy(halves, bytes, sizeof halves);
    return (uint64_t)__builtin_ia32_pmovmskb128(halves[0]) | (uint64_t)__builtin_ia32_pmovmskb128(halves[1]) << 16;
#else
    uint64_t part[4], bits = 0; /* the product moves one bit of each byte to the top, in order */
    memcpy(part, bytes, sizeof part);
    for (int i = 0; i < 4; i++) bits |= (((part[i] & 0x8080808080808080u) >> 7) * 0x0102040810204080u >> 56) << (8 * i);
    return bits;
#endif
}

SO_INLINE uint64_t so_newline_bits(const uint8_t *data)
{
    so_block low, high;
    memcpy(&low, data, 32), memcpy(&high, data + 32, 32);
    so_block is_low = (so_block)(low == '\n'), is_high = (so_block)(high == '\n');
    return so_top_bits(&is_low) | so_top_bits(&is_high) << 32;
}

SO_INLINE uint64_t so_space_bits(const uint8_t *data)
{
    so_block low, high; /* a space, or one of \t \n \v \f \r, which are 9 to 13 */
    memcpy(&low, data, 32), memcpy(&high, data + 32, 32);
    so_block is_low = (so_block)(low == ' ') | (so_block)((so_block)(low - 9) < 5);
    so_block is_high = (so_block)(high == ' ') | (so_block)((so_block)(high - 9) < 5);
    return so_top_bits(&is_low) | so_top_bits(&is_high) << 32;
}

SO_INLINE uint64_t so_load_8(const uint8_t *data)
{
    uint64_t bytes;
    memcpy(&bytes, data, sizeof bytes);
    return bytes;
}

/* The bits of a block of 64 bytes at `at` that lie before `end`. */
SO_INLINE uint64_t so_before(int64_t at, int64_t end)
{
    return end - at >= 64 ? ~(uint64_t)0 : ~(~(uint64_t)0 << (end - at));
}

/* Where lines start and end, at most `room` of them; returns how many. */
SO_INLINE int64_t so_find_lines(const uint8_t *data, int64_t size, int64_t *starts, int64_t *ends, int64_t room)
{
    int64_t n = 0, start = 0;
    for (int64_t at = 0; at < size; at += 64)
        for (uint64_t bits = so_newline_bits(data + at) & so_before(at, size); bits; bits &= bits - 1) {
            if (n == room) return n;
            starts[n] = start, ends[n] = at + __builtin_ctzll(bits);
            start = ends[n++] + 1;
        }
    return n;
}

/* Start, end, start, end, … of the words between start and end; returns how many words. */
SO_INLINE int64_t so_find_words(const uint8_t *data, int64_t start, int64_t end, int64_t *edges)
{
    int64_t n = 0;
    uint64_t carry = 0;
    for (int64_t at = start; at < end; at += 64) {
        uint64_t word = ~so_space_bits(data + at) & so_before(at, end);
        uint64_t changes = word ^ (word << 1 | carry); /* where a word starts or has just ended */
        carry = word >> 63;
        for (; changes; changes &= changes - 1) edges[n++] = at + __builtin_ctzll(changes);
    }
    if (n & 1) edges[n++] = end;
    return n >> 1;
}

SO_INLINE int64_t so_count_words(const uint8_t *data, int64_t start, int64_t end)
{
    int64_t n = 0;
    uint64_t carry = 0;
    for (int64_t at = start; at < end; at += 64) {
        uint64_t word = ~so_space_bits(data + at) & so_before(at, end);
        n += __builtin_popcountll(word & ~(word << 1 | carry));
        carry = word >> 63;
    }
    return n;
}

SO_INLINE int so_is_blank(const uint8_t *data, int64_t start, int64_t end)
{
    for (int64_t at = start; at < end; at += 64)
        if (~so_space_bits(data + at) & so_before(at, end)) return 0;
    return 1;
}

/* Which pairs have a word on both sides; counts those without: no source, no target, neither. */
SO_INLINE void so_kept_pairs(const so_lines *source, const so_lines *target, uint8_t *keep, int64_t *n_dropped)
{
    for (int64_t i = 0; i < source->n; i++) {
        int no_source = so_is_blank(source->data, source->starts[i], source->ends[i]);
        int no_target = so_is_blank(target->data, target->starts[i], target->ends[i]);
        keep[i] = !no_source && !no_target;
        if (!keep[i]) n_dropped[no_source && no_target ? 2 : no_source ? 0 : 1]++;
    }
}

/* Where columns 1 and 2 of each line end; returns the first line without a tab, or -1. */
SO_INLINE int64_t so_find_columns(const so_lines *lines, int64_t *tabs, int64_t *stops)
{
    for (int64_t i = 0; i < lines->n; i++) {
        const uint8_t *start = lines->data + lines->starts[i], *end = lines->data + lines->ends[i];
        const uint8_t *tab = memchr(start, '\t', (size_t)(end - start));
        if (!tab) return i;
        const uint8_t *stop = memchr(tab + 1, '\t', (size_t)(end - tab - 1));
        tabs[i] = tab - lines->data, stops[i] = (stop ? stop : end) - lines->data;
    }
    return -1;
}

/* Copies data[from..to] behind out[size]; returns the new size. Most pieces are short, and a copy of
   constant size is cheaper than asking how short: SO_PADDING bytes more can be read and written. */
SO_INLINE int64_t so_append(uint8_t *out, int64_t size, const uint8_t *data, int64_t from, int64_t to)
{
    int64_t n = to - from;
    if (n <= 32) memcpy(out + size, data + from, 32);
    else memcpy(out + size, data + from, (size_t)n);
    return size + n;
}

/* Puts source, target and the further columns of each line side by side; returns the size. Line k of
   source and target ends at source_ends[k] and target_ends[k], with a tab or newline behind it. */
SO_INLINE int64_t so_join_columns(const uint8_t *source, const int64_t *source_ends, const uint8_t *target, const int64_t *target_ends,
                                  const so_lines *rest, const int64_t *rows, int64_t n_rows, uint8_t *out)
{
    int64_t size = 0, from_source = 0, from_target = 0;
    for (int64_t k = 0; k < n_rows; k++) {
        size = so_append(out, size, source, from_source, source_ends[k] + 1);
        size = so_append(out, size, target, from_target, target_ends[k] + 1);
        from_source = source_ends[k] + 1, from_target = target_ends[k] + 1;
        int64_t start = rest->starts[rows[k]], end = rest->ends[rows[k]];
        if (start <= end) size = so_append(out, size, rest->data, start, end + 1); /* there is a third column */
    }
    return size;
}

/* ---- The known words: a hash table over their bytes ---- */

typedef struct { uint64_t low, high; } so_keys;

typedef struct {
    so_keys keys;
    uint64_t size_and_id; /* size << 32 | id; 0: an empty slot */
    int64_t offset;       /* where the word is in the blob */
} so_slot;

typedef struct {
    so_slot *slots;
    int64_t n_slots;  /* a power of two, more than n_words */
    uint8_t *blob;    /* all words, one after the other */
    int64_t *offsets; /* word i is blob[offsets[i]..offsets[i + 1]] */
    int64_t n_words;
} so_lexicon;

#define SO_GOLDEN 0x9E3779B97F4A7C15u /* 2^64 / golden ratio, for multiplicative hashing */

/* The lowest n bytes, n from 0 to 8. */
SO_INLINE uint64_t so_low_bytes(int64_t n)
{
    static const uint64_t MASK[9] = {0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, ~(uint64_t)0};
    return MASK[n];
}

/* 128 bits for a word: up to 16 bytes they are its bytes, beyond that partly a hash. Whether a word
   has more than 8 bytes cannot be predicted, so nothing branches there. */
SO_INLINE so_keys so_word_keys(const uint8_t *word, int64_t size)
{
    so_keys keys = {so_load_8(word) & so_low_bytes(so_min(size, 8)), so_load_8(word + 8) & so_low_bytes(so_min(so_max(size - 8, 0), 8))};
    if (size <= 16) return keys;
    keys.high = so_load_8(word + size - 8);
    for (int64_t i = 8; i < size - 8; i += 8) {
        keys.low = (keys.low ^ so_load_8(word + i)) * SO_GOLDEN;
        keys.low ^= keys.low >> 32;
    }
    return keys;
}

SO_INLINE int64_t so_first_slot(so_keys keys, const so_lexicon *lexicon)
{
    uint64_t mixed = (keys.low ^ keys.high >> 29) * SO_GOLDEN + keys.high;
    return (int64_t)((mixed ^ mixed >> 32) & (uint64_t)(lexicon->n_slots - 1));
}

/* The id of a word, or -1 - the empty slot where it would go. */
SO_INLINE int64_t so_find_word(const so_lexicon *lexicon, const uint8_t *word, int64_t size, so_keys keys)
{
    for (int64_t i = so_first_slot(keys, lexicon);; i = (i + 1) & (lexicon->n_slots - 1)) {
        const so_slot *slot = &lexicon->slots[i];
        if (slot->size_and_id == 0) return -1 - i;
        if (slot->keys.low == keys.low && slot->keys.high == keys.high && (int64_t)(slot->size_and_id >> 32) == size
            && (size <= 16 || memcmp(word, lexicon->blob + slot->offset, (size_t)size) == 0))
            return (int64_t)(slot->size_and_id & 0xFFFFFFFF);
    }
}

SO_INLINE void so_enter_word(so_lexicon *lexicon, int64_t slot, so_keys keys, int64_t size, int64_t id)
{
    so_slot entry = {keys, (uint64_t)size << 32 | (uint64_t)id, lexicon->offsets[id]};
    lexicon->slots[slot] = entry;
}

/* Enters all words into empty slots; returns the first that was there before, or -1. */
SO_INLINE int64_t so_fill_slots(so_lexicon *lexicon)
{
    for (int64_t id = 0; id < lexicon->n_words; id++) {
        const uint8_t *word = lexicon->blob + lexicon->offsets[id];
        int64_t size = lexicon->offsets[id + 1] - lexicon->offsets[id];
        so_keys keys = so_word_keys(word, size);
        int64_t found = so_find_word(lexicon, word, size, keys);
        if (found >= 0) return id;
        so_enter_word(lexicon, -1 - found, keys, size, id);
    }
    return -1;
}

/* Counts the words of one line; new ones enter the lexicon, which has room for all of them. */
SO_INLINE void so_count_line(so_lexicon *lexicon, int64_t *counts, const so_lines *lines, int64_t line, int64_t *edges)
{
    int64_t n = so_find_words(lines->data, lines->starts[line], lines->ends[line], edges);
    for (int64_t w = 0; w < n; w++) {
        const uint8_t *word = lines->data + edges[2 * w];
        int64_t size = edges[2 * w + 1] - edges[2 * w];
        so_keys keys = so_word_keys(word, size);
        int64_t id = so_find_word(lexicon, word, size, keys);
        if (id < 0) {
            int64_t slot = -1 - id, offset = lexicon->offsets[lexicon->n_words];
            id = lexicon->n_words++;
            memcpy(lexicon->blob + offset, word, (size_t)size);
            lexicon->offsets[id + 1] = offset + size;
            so_enter_word(lexicon, slot, keys, size, id);
            counts[id] = 0;
        }
        counts[id]++;
    }
}

/* ---- Lines, changed ---- */

typedef struct {
    const so_lexicon *lexicon;
    const so_law *law;
    const uint8_t *has_row; /* [law->max_length + 1]: lengths whose row of the law is made; NULL: any */
    const uint8_t *null_word;
    int64_t null_size;
    int count_known; /* look up the words of lines that cannot change, too */
} so_rewriter;

typedef struct {
    so_lines lines;
    const uint8_t *keep; /* which lines to write; NULL: all */
    uint64_t first_example;
    so_address at; /* of copy 0; copy k is one epoch further */
    int64_t copies;
    int with_original; /* each line itself comes before its copies */
} so_task;

typedef struct {
    uint8_t *out;
    int64_t room;
    int64_t *ends;    /* of each line written, without its gap */
    int32_t *changes; /* in each line written; -1: an original */
} so_written;

typedef struct { /* where it stopped, and why before the last line */
    int64_t line, size, emitted, n_words, n_known, problem;
} so_progress;
enum { SO_DONE = -1, SO_NO_ROOM = -2 }; /* any other problem: a length that has no row yet */

typedef struct { /* room for the words of the longest line */
    int64_t *edges, *known, *hits, *news;
    so_keys *keys;
} so_scratch;

/* Edges and ids of the known words of a line; returns how many. All are hashed before the first is
   compared, so that cache misses overlap. */
SO_INLINE int64_t so_know_words(const so_lexicon *lexicon, const so_lines *lines, int64_t line, const so_scratch *s)
{
    const uint8_t *data = lines->data;
    int64_t n = so_find_words(data, lines->starts[line], lines->ends[line], s->edges), n_known = 0;
    for (int64_t w = 0; w < n; w++) {
        s->keys[w] = so_word_keys(data + s->edges[2 * w], s->edges[2 * w + 1] - s->edges[2 * w]);
        __builtin_prefetch(&lexicon->slots[so_first_slot(s->keys[w], lexicon)]);
    }
    for (int64_t w = 0; w < n; w++) {
        int64_t first = s->edges[2 * w], last = s->edges[2 * w + 1];
        int64_t id = so_find_word(lexicon, data + first, last - first, s->keys[w]);
        s->edges[2 * n_known] = first, s->edges[2 * n_known + 1] = last;
        s->known[n_known] = id;
        n_known += id >= 0;
    }
    return n_known;
}

/* Whether n = 0 for every number of words that so many bytes can hold: a longer sentence never has
   a larger p(0), if all lengths share one row. */
SO_INLINE int so_never_changes(const so_law *law, uint32_t u, int64_t n_bytes)
{
    if (!law->cumulative) return law->limit_drawable < 0;
    if (law->row_start) return 0;
    return so_scale(u, law->cumulative[so_min((n_bytes + 1) >> 1, law->last)]) < law->cumulative[0];
}

/* Which known words are hit and what they become (-1: the null word); returns how many. */
SO_INLINE int64_t so_draw_words(const so_rewriter *r, int64_t n_known, so_chance chance, const so_generator *random,
                                uint64_t example, const so_scratch *s)
{
    const so_lexicon *lexicon = r->lexicon;
    const so_address *at = &random->at;
    int64_t n_hits = 0;
    for (int64_t first = 0; first < n_known; first += SO_SPAN) {
        uint64_t block = (uint64_t)at->stream + 1 + (uint64_t)first;
        uint64_t hits = so_hits(random, example, block, so_min(n_known - first, SO_SPAN), chance);
        for (; hits; hits &= hits - 1) {
            int64_t i = first + __builtin_ctzll(hits), id = -1;
            if (r->law->null_id < 0) {
                so_bits bits = so_random(at, example, (uint32_t)(at->stream + 1 + (uint64_t)i));
                id = s->known[i] + 1 + so_below(lexicon->n_words - 1, bits);
                id -= lexicon->n_words * (id >= lexicon->n_words);
                __builtin_prefetch(&lexicon->offsets[id]);
            }
            s->hits[n_hits] = i;
            s->news[n_hits++] = id;
        }
    }
    return n_hits;
}

/* Draws one copy of a line; returns how many of its words are hit, or -1 - a length without row.
   `n_known` is -1 until the line was looked up. */
SO_INLINE int64_t so_draw_copy(const so_rewriter *r, const so_task *task, int64_t line, const so_generator *random,
                               int64_t *n_known, const so_scratch *s)
{
    const so_law *law = r->law;
    uint64_t example = task->first_example + (uint64_t)line;
    uint32_t u = law->cumulative ? so_random(&random->at, example, random->at.stream).word[0] : 0;
    if (so_never_changes(law, u, task->lines.ends[line] - task->lines.starts[line])) return 0;
    if (*n_known < 0) *n_known = so_know_words(r->lexicon, &task->lines, line, s);
    so_chance chance = {1, law->limit_drawable + 1};
    if (law->cumulative) {
        if (r->has_row && (*n_known > law->max_length || !r->has_row[*n_known])) return -1 - *n_known;
        chance.scale = (uint64_t)*n_known;
        chance.bound = so_draw_count(u, *n_known, law) << 32;
    }
    return chance.bound > 0 ? so_draw_words(r, *n_known, chance, random, example, s) : 0;
}

/* A word that comes in. */
typedef struct { const uint8_t *data; int64_t from, to; } so_piece;

SO_INLINE so_piece so_new_piece(const so_rewriter *r, int64_t id)
{
    so_piece null = {r->null_word, 0, r->null_size};
    if (id < 0) return null;
    so_piece word = {r->lexicon->blob, r->lexicon->offsets[id], r->lexicon->offsets[id + 1]};
    return word;
}

/* Writes the lines from progress.line on, each `copies` times. Untouched bytes wait until the next
   change and are then copied in one piece. If something is missing, the line it was found in is
   taken back and comes again in the next call. */
SO_INLINE so_progress so_rewrite_lines(const so_rewriter *r, const so_task *task, const so_written *w, so_progress p, const so_scratch *s)
{
    const so_lines *lines = &task->lines;
    int64_t from = 0, to = 0; /* untouched bytes that are not copied yet */
    so_generator random;
    so_start(&task->at, &random);
    p.problem = SO_DONE;
    for (; p.line < lines->n; p.line++) {
        if (task->keep && !task->keep[p.line]) continue;
        const int64_t start = lines->starts[p.line], end = lines->ends[p.line], stop = end + lines->gap;
        const so_progress before = p;
        const int64_t from_before = from, to_before = to;
        int64_t n_known = r->count_known ? so_know_words(r->lexicon, lines, p.line, s) : -1;
        for (int64_t copy = task->with_original ? -1 : 0; copy < task->copies; copy++) {
            int64_t n_hits = 0;
            if (copy >= 0) {
                random.at.epoch = task->at.epoch + (uint32_t)copy;
                n_hits = so_draw_copy(r, task, p.line, &random, &n_known, s);
            }
            int64_t needed = p.size + (to - from) + (stop - start) + SO_PADDING;
            for (int64_t h = 0; h < n_hits; h++) {
                so_piece word = so_new_piece(r, s->news[h]);
                needed += word.to - word.from;
            }
            if (n_hits < 0) p.problem = -1 - n_hits;
            else if (needed > w->room) p.problem = SO_NO_ROOM;
            if (p.problem != SO_DONE) break;
            if (start != to) {
                p.size = so_append(w->out, p.size, lines->data, from, to);
                from = start;
            }
            for (int64_t h = 0; h < n_hits; h++) {
                const int64_t *edge = &s->edges[2 * s->hits[h]];
                so_piece word = so_new_piece(r, s->news[h]);
                p.size = so_append(w->out, p.size, lines->data, from, edge[0]);
                p.size = so_append(w->out, p.size, word.data, word.from, word.to);
                from = edge[1];
            }
            to = stop;
            w->ends[p.emitted] = p.size + (end - from);
            w->changes[p.emitted++] = copy < 0 ? -1 : (int32_t)n_hits;
        }
        if (p.problem != SO_DONE) {
            int64_t problem = p.problem;
            p = before, from = from_before, to = to_before;
            p.problem = problem;
            break;
        }
        p.n_words += so_count_words(lines->data, start, end);
        p.n_known += r->count_known ? n_known : 0;
    }
    p.size = so_append(w->out, p.size, lines->data, from, to);
    return p;
}

/* The same on copies of the structs, which no byte that is written can change (see so_sample). */
static inline so_progress so_rewrite(const so_rewriter *r, const so_task *task, const so_written *w, so_progress p, const so_scratch *s)
{
    const so_lexicon lexicon = *r->lexicon;
    const so_law law = *r->law;
    so_rewriter rewriter = *r;
    rewriter.lexicon = &lexicon, rewriter.law = &law;
    const so_task t = *task;
    const so_written written = *w;
    const so_scratch scratch = *s;
    return so_rewrite_lines(&rewriter, &t, &written, p, &scratch);
}

#endif
