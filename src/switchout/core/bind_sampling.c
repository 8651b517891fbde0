/* bind_sampling.c: the sampler of switchout.h for arrays of Python. */

#include "bind.h"
#include "switchout.h"

#define SO_WORDS "switchout.words"
#define SO_LAW "switchout.law"
#define SO_SIMILAR "switchout.similar"

/* ---- Structs: made and checked once, used by many calls ---- */

static int is_sorted_below(const int64_t *values, int64_t n, int64_t low, int64_t high)
{
    for (int64_t i = 0; i < n; i++) {
        if (values[i] < low || values[i] > high) return 0;
        low = values[i] + 1;
    }
    return 1;
}

static int are_ranges(const int64_t *starts, const int64_t *stops, int64_t n, int64_t lowest, int64_t size)
{
    for (int64_t i = 0; i < n; i++) {
        if (starts[i] < lowest || stops[i] <= starts[i] || stops[i] > size) return 0;
        lowest = stops[i];
    }
    return 1;
}

static PyObject *make_words(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    int64_t size = so_read_int(&in, "size"), lowest = so_read_int(&in, "lowest");
    so_array starts = so_read_array(&in, "starts", 8), stops = so_read_array(&in, "stops", 8), draw_ids = so_read_array(&in, "draw_ids", 8);
    if (so_is_bad(&in, size < 1 || size > INT32_MAX || lowest < 0 || lowest > size || starts.n != stops.n, "size, lowest or ranges")) return NULL;
    if (so_is_bad(&in, !are_ranges(starts.data, stops.data, starts.n, lowest, size), "starts, stops: expected sorted ranges")) return NULL;
    if (so_is_bad(&in, !is_sorted_below(draw_ids.data, draw_ids.n, 0, size - 1), "draw_ids: expected sorted ids below size")) return NULL;
    int64_t n_words = size - lowest;
    for (int64_t r = 0; r < starts.n; r++) n_words -= ((int64_t *)stops.data)[r] - ((int64_t *)starts.data)[r];
    if (draw_ids.n) n_words = draw_ids.n;
    if (so_is_bad(&in, n_words < 2, "fewer than two words may be drawn")) return NULL;
    so_words *words = malloc(sizeof *words + 8 * (size_t)(2 * starts.n + draw_ids.n));
    if (words) {
        int64_t *room = (int64_t *)(words + 1);
        so_words made = {size, lowest, starts.n, room, room + starts.n, n_words, draw_ids.n ? room + 2 * starts.n : NULL};
        *words = made;
        so_put(so_put(so_put((char *)room, starts, 8), stops, 8), draw_ids, 8);
    }
    so_end(&in);
    return so_give_struct(words, SO_WORDS);
}

enum { AFTER_ROW = 3 }; /* larger numbers that follow every row of cumulative weights */

static int is_row(const uint64_t *row, int64_t n)
{
    for (int64_t k = 1; k < n; k++)
        if (row[k] < row[k - 1]) return 0;
    return n > 0;
}

static int are_rows(const uint64_t *cumulative, int64_t n, const int64_t *start, const int64_t *size, int64_t n_lengths)
{
    for (int64_t length = 0; length < n_lengths; length++) {
        if (start[length] < 0 || size[length] < 1 || start[length] > n || size[length] > n - start[length] - AFTER_ROW) return 0;
        if (!is_row(cumulative + start[length], size[length] + AFTER_ROW)) return 0;
    }
    return n_lengths > 0;
}

/* make_count_law(cumulative, row_start, row_size, null_id); without rows one serves every length. */
static PyObject *make_count_law(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    so_array cumulative = so_read_array(&in, "cumulative", 8), start = so_read_array(&in, "row_start", 8), size = so_read_array(&in, "row_size", 8);
    int64_t null_id = so_read_int(&in, "null_id");
    if (so_is_bad(&in, cumulative.n <= AFTER_ROW || start.n != size.n, "cumulative, row_start, row_size: sizes")) return NULL;
    if (so_is_bad(&in, !start.data && !is_row(cumulative.data, cumulative.n), "cumulative: expected a growing row")) return NULL;
    if (so_is_bad(&in, start.data && !are_rows(cumulative.data, cumulative.n, start.data, size.data, start.n), "row_start, row_size: no such rows")) return NULL;
    so_law *law = malloc(sizeof *law + 8 * (size_t)(cumulative.n + 2 * start.n));
    if (law) {
        uint64_t *room = (uint64_t *)(law + 1);
        int64_t *rows = (int64_t *)(room + cumulative.n);
        so_law made = {room, cumulative.n - 1 - AFTER_ROW, start.n ? rows : NULL, start.n ? rows + start.n : NULL, start.n - 1, -1, -1, null_id};
        *law = made;
        so_put(so_put(so_put((char *)room, cumulative, 8), start, 8), size, 8);
    }
    so_end(&in);
    return so_give_struct(law, SO_LAW);
}

/* make_constant_law(limit_drawable, limit_other, null_id). */
static PyObject *make_constant_law(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    int64_t drawable = so_read_int(&in, "limit_drawable"), other = so_read_int(&in, "limit_other"), null_id = so_read_int(&in, "null_id");
    if (so_is_bad(&in, drawable < -1 || drawable > UINT32_MAX || other < -1 || other > UINT32_MAX, "limits: -1 or 32 bits")) return NULL;
    so_law *law = malloc(sizeof *law);
    so_law made = {NULL, 0, NULL, NULL, 0, drawable, other, null_id};
    if (law) *law = made;
    return so_give_struct(law, SO_LAW);
}

static int are_starts(const int64_t *start, int64_t n, int64_t last)
{
    for (int64_t i = 1; i < n; i++)
        if (start[i] < start[i - 1]) return 0;
    return n > 0 && start[0] == 0 && start[n - 1] == last;
}

/* make_similar(row_start, ids, limits): a row of possible words per word. */
static PyObject *make_similar(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    so_array start = so_read_array(&in, "row_start", 8), ids = so_read_array(&in, "ids", 8), limits = so_read_array(&in, "limits", 4);
    if (so_is_bad(&in, ids.n != limits.n || !are_starts(start.data, start.n, ids.n), "row_start: no such rows of ids and limits")) return NULL;
    so_similar_table *table = malloc(sizeof *table + (size_t)(8 * (start.n + ids.n) + 4 * limits.n));
    if (table) {
        int64_t *room = (int64_t *)(table + 1);
        so_similar_table made = {start.n - 1, room, room + start.n, (uint32_t *)(room + start.n + ids.n)};
        *table = made;
        so_put(so_put(so_put((char *)room, start, 8), ids, 8), limits, 4);
    }
    so_end(&in);
    return so_give_struct(table, SO_SIMILAR);
}

/* ---- Sampling ---- */

/* source, rows, frozen, lengths, examples, last_example: the same arguments for every sampler. */
static so_batch read_batch(so_args *in)
{
    so_batch x = {0};
    PyObject *source = so_next(in, "source");
    if (source == NULL) return x;
    int is_in_place = in->next < in->n_items && in->items[in->next] == source;
    Py_buffer *view = &in->views[in->n_views];
    if (PyObject_GetBuffer(source, view, is_in_place ? PyBUF_ND | PyBUF_WRITABLE : PyBUF_ND) < 0)
        return so_fail(in, PyExc_ValueError, "source", "expected a contiguous array, writable if it is the result"), x;
    in->n_views++;
    if (view->ndim != 2 || (view->itemsize != 4 && view->itemsize != 8))
        return so_fail(in, PyExc_TypeError, "source", "expected int32 or int64 [rows, width]"), x;
    x.source = view->buf, x.item_size = view->itemsize, x.n_rows = view->shape[0], x.width = view->shape[1];
    so_array rows = {view->buf, x.n_rows * x.width};
    if (is_in_place) in->next++;
    else rows = so_read_writable(in, "rows", (int)x.item_size);
    so_array frozen = so_read_array(in, "frozen", 1), lengths = so_read_array(in, "lengths", 8), examples = so_read_array(in, "examples", 8);
    x.last_example = so_read_unsigned(in, "last_example");
    if (in->failed) return x;
    x.rows = rows.data, x.frozen = frozen.data, x.lengths = lengths.data, x.examples = examples.data;
    int64_t n = x.n_rows * x.width;
    if (x.width >= 1 << 24 || rows.n != n || (x.frozen && frozen.n != n) || (x.lengths && lengths.n != x.n_rows) || examples.n != x.n_rows)
        so_fail(in, PyExc_ValueError, "rows, frozen, lengths, examples", "the shapes do not agree");
    return x;
}

static so_address read_address(so_args *in)
{
    uint64_t seed = so_read_unsigned(in, "seed"), epoch = so_read_unsigned(in, "epoch"), stream = so_read_unsigned(in, "stream");
    if (!in->failed && (epoch | stream) >> 32) so_fail(in, PyExc_ValueError, "epoch, stream", "expected 32 bits");
    so_address at = {seed, (uint32_t)epoch, (uint32_t)stream};
    return at;
}

static PyObject *give_result(so_result result)
{
    return Py_BuildValue("LL", (long long)result.problem, (long long)result.row);
}

/* (*batch, *address, words, law or table) -> (problem, row) */
static PyObject *sample_by(PyObject *const *args, Py_ssize_t n_args, int has_table)
{
    so_args in;
    so_result result;
    so_begin(&in, args, n_args);
    so_batch x = read_batch(&in);
    so_address at = read_address(&in);
    const so_words *words = so_read_struct(&in, SO_WORDS);
    const void *law = so_read_struct(&in, has_table ? SO_SIMILAR : SO_LAW);
    if (so_is_bad(&in, 0, "")) return NULL;
    Py_BEGIN_ALLOW_THREADS
    result = has_table ? so_sample_similar(&x, &at, words, law) : so_sample(&x, &at, words, law);
    Py_END_ALLOW_THREADS
    so_end(&in);
    return give_result(result);
}

static PyObject *sample(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    return sample_by(args, n_args, 0);
}

static PyObject *sample_similar(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    return sample_by(args, n_args, 1);
}

/* measure(*batch, words, lengths) -> (problem, row): writes how many words each row has. */
static PyObject *measure(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_result result;
    so_begin(&in, args, n_args);
    so_batch x = read_batch(&in);
    const so_words *words = so_read_struct(&in, SO_WORDS);
    so_array counts = so_read_writable(&in, "counts", 8);
    if (so_is_bad(&in, counts.n != x.n_rows, "counts: expected one per row")) return NULL;
    Py_BEGIN_ALLOW_THREADS
    result = so_measure(&x, words, counts.data);
    Py_END_ALLOW_THREADS
    so_end(&in);
    return give_result(result);
}

/* philox(*address, example, block): the four random words at one address. */
static PyObject *philox(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    so_address at = read_address(&in);
    uint64_t example = so_read_unsigned(&in, "example"), block = so_read_unsigned(&in, "block");
    if (so_is_bad(&in, (block + at.stream) >> 32 != 0, "block: expected 32 bits")) return NULL;
    so_bits bits = so_random(&at, example, (uint32_t)(at.stream + block));
    return Py_BuildValue("IIII", bits.word[0], bits.word[1], bits.word[2], bits.word[3]);
}

#define SO_SAMPLING_METHODS \
    SO_METHOD(make_words, "Which ids are words.") \
    SO_METHOD(make_count_law, "Algorithm 1: a count per sentence, then a chance per word.") \
    SO_METHOD(make_constant_law, "The same chance for every word.") \
    SO_METHOD(make_similar, "What each word may become.") \
    SO_METHOD(sample, "Replace words of a batch by a law.") \
    SO_METHOD(sample_similar, "Replace words of a batch by a table per word.") \
    SO_METHOD(measure, "Check a batch and count its words.") \
    SO_METHOD(philox, "The four random words at an address.")
