/* switchout.h in a program without Python: the published vectors of Philox, then cases from standard
   input, whose ids are printed. tests/unit/test_c_header.py compiles it as C and as C++.

   A case is a line of numbers: words (size, lowest, ranges, starts, stops, drawable ids), law
   (0: limits; 1: cumulative weights; null word), address (seed, epoch, stream), item size, rows,
   width, example ids, ids. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "switchout.h"

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static uint64_t read_number(void)
{
    char text[32];
    if (scanf("%31s", text) != 1) fail("the input ends in the middle of a case");
    return text[0] == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
}

static int64_t *read_numbers(int64_t n)
{
    int64_t *numbers = (int64_t *)malloc((size_t)(n + 1) * sizeof *numbers);
    if (numbers == NULL) fail("no memory");
    for (int64_t i = 0; i < n; i++) numbers[i] = (int64_t)read_number();
    return numbers;
}

/* Random123 (kat_vectors), philox4x32 10. */
static void check_published_vectors(void)
{
    static const struct { uint32_t counter[4], key[2], result[4]; } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        so_address at = {(uint64_t)known[i].key[1] << 32 | known[i].key[0], known[i].counter[2], 0};
        uint64_t example = (uint64_t)known[i].counter[1] << 32 | known[i].counter[0];
        so_bits bits = so_random(&at, example, known[i].counter[3]);
        if (memcmp(bits.word, known[i].result, sizeof bits.word) != 0) fail("Philox differs from the published vectors");
    }
}

/* The vectors of four must hit what the single counter hits, also where a word is just in or out. */
static void check_hits(void)
{
    so_address at = {0x299f31d0a4093822, 7, 1u << 31};
    so_generator random;
    so_start(&at, &random);
    for (int64_t n = 1; n <= SO_SPAN; n++)
        for (uint64_t scale = 1; scale <= 25; scale += 24)
            for (int64_t more = 0; more <= 1; more++) {
                uint64_t block = (uint64_t)at.stream + 1, expected = 0;
                int64_t bound = (int64_t)(scale * so_random(&at, 9, (uint32_t)block).word[0]) + more;
                for (int64_t i = 0; i < n; i++)
                    expected |= (uint64_t)((int64_t)(scale * so_random(&at, 9, (uint32_t)(block + (uint64_t)i)).word[0]) < bound) << i;
                so_chance chance = {scale, bound};
                if (so_hits(&random, 9, block, n, chance) != expected) fail("hits differ from those of single counters");
            }
}

static int run_case(void)
{
    char next;
    if (scanf(" %c", &next) != 1) return 0;
    ungetc(next, stdin);
    so_words words = {0, 0, 0, NULL, NULL, 0, NULL};
    words.size = (int64_t)read_number(), words.lowest = (int64_t)read_number(), words.n_ranges = (int64_t)read_number();
    int64_t *starts = read_numbers(words.n_ranges), *stops = read_numbers(words.n_ranges);
    int64_t n_listed = (int64_t)read_number(), *draw_ids = read_numbers(n_listed);
    words.starts = starts, words.stops = stops;
    words.n_draw = (int64_t)read_number(), words.draw_ids = n_listed ? draw_ids : NULL;
    int64_t n_weights = (int64_t)read_number(), *weights = read_numbers(n_weights);
    so_law law = {n_weights ? (const uint64_t *)weights : NULL, n_weights - 4, NULL, NULL, 0, 0, 0, 0};
    law.limit_drawable = (int64_t)read_number(), law.limit_other = (int64_t)read_number(), law.null_id = (int64_t)read_number();
    so_address at = {0, 0, 0};
    at.seed = read_number(), at.epoch = (uint32_t)read_number(), at.stream = (uint32_t)read_number();
    int64_t item_size = (int64_t)read_number(), n_rows = (int64_t)read_number(), width = (int64_t)read_number();
    int64_t *examples = read_numbers(n_rows), *ids = read_numbers(n_rows * width);
    if (item_size == 4)
        for (int64_t i = 0; i < n_rows * width; i++) ((int32_t *)ids)[i] = (int32_t)ids[i]; /* in place, from the left */
    so_batch batch = {ids, ids, item_size, n_rows, width, NULL, NULL, (const uint64_t *)examples, UINT64_MAX};
    so_result result = so_sample(&batch, &at, &words, &law);
    if (result.problem != SO_OK) fail("a case was refused");
    for (int64_t i = 0; i < n_rows * width; i++) printf("%" PRId64 " ", so_get(ids, item_size == 8, i));
    printf("\n");
    free(starts), free(stops), free(draw_ids), free(weights), free(examples), free(ids);
    return 1;
}

int main(void)
{
    check_published_vectors();
    check_hits();
    while (run_case()) continue;
    return 0;
}
