/* bind_neighbors.c: neighbors.h for arrays of Python. */

#include "bind.h"
#include "neighbors.h"

#define SO_INDEX "switchout.index"

/* number_words(text, ids, starts) -> number of distinct words; the last byte of text is a line break. */
static PyObject *number_words(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    int64_t n_distinct;
    so_begin(&in, args, n_args);
    so_array text = so_read_array(&in, "text", 1), ids = so_read_writable(&in, "ids", 4), starts = so_read_writable(&in, "starts", 8);
    if (so_is_bad(&in, ids.n < text.n / 2 + 1 || starts.n < 1 || text.n / 2 >= INT32_MAX, "ids, starts: too small for the text")) return NULL;
    Py_BEGIN_ALLOW_THREADS
    n_distinct = so_number_words(text.data, text.n, ids.data, starts.data, starts.n - 1);
    Py_END_ALLOW_THREADS
    if (so_is_bad(&in, n_distinct == -2, "starts: the text has another number of lines")) return NULL;
    so_end(&in);
    return n_distinct < 0 ? PyErr_NoMemory() : PyLong_FromLongLong(n_distinct);
}

/* Whether the starts grow from 0 to the number of ids, and all ids are below n_distinct. */
static int are_sentences(const int32_t *ids, int64_t n_ids, const int64_t *starts, int64_t n_starts, int64_t n_distinct)
{
    if (n_starts < 1 || starts[0] != 0 || starts[n_starts - 1] != n_ids) return 0;
    for (int64_t i = 1; i < n_starts; i++)
        if (starts[i] < starts[i - 1]) return 0;
    for (int64_t i = 0; i < n_ids; i++)
        if (ids[i] < 0 || ids[i] >= n_distinct) return 0;
    return 1;
}

static void free_index(PyObject *capsule)
{
    so_free_index(PyCapsule_GetPointer(capsule, SO_INDEX));
}

/* make_index(ids, starts, n_train, n_distinct): of the first n_train sentences. */
static PyObject *make_index(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_index *index;
    so_begin(&in, args, n_args);
    so_array ids = so_read_array(&in, "ids", 4), starts = so_read_array(&in, "starts", 8);
    int64_t n_train = so_read_int(&in, "n_train"), n_distinct = so_read_int(&in, "n_distinct");
    if (so_is_bad(&in, n_train < 1 || n_train >= starts.n || n_train >= INT32_MAX - SO_RANK_LANES || n_distinct < 0 || n_distinct > INT32_MAX, "n_train: no so many sentences")) return NULL;
    if (so_is_bad(&in, ids.n >= INT32_MAX || !are_sentences(ids.data, ids.n, starts.data, starts.n, n_distinct), "ids, starts: no sentences of words below n_distinct")) return NULL;
    Py_BEGIN_ALLOW_THREADS
    index = so_make_index(ids.data, starts.data, n_train, n_distinct);
    Py_END_ALLOW_THREADS
    so_end(&in);
    if (index == NULL) return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(index, SO_INDEX, free_index);
    if (capsule == NULL) so_free_index(index);
    return capsule;
}

/* Whether all queries are sentences of words below n_distinct. */
static int are_queries(const int64_t *queries, int64_t n, so_array ids, so_array starts, int64_t n_distinct)
{
    const int64_t *start = starts.data;
    for (int64_t i = 0; i < n; i++) {
        int64_t q = queries[i];
        if (q < 0 || q >= starts.n - 1 || start[q] < 0 || start[q] > start[q + 1] || start[q + 1] > ids.n) return 0;
        for (int64_t k = start[q]; k < start[q + 1]; k++)
            if (((int32_t *)ids.data)[k] < 0 || ((int32_t *)ids.data)[k] >= n_distinct) return 0;
    }
    return 1;
}

/* search(index, ids, starts, queries, distances, nearest): ids and starts are those of make_index. */
static PyObject *search(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    int ok;
    so_begin(&in, args, n_args);
    const so_index *index = so_read_struct(&in, SO_INDEX);
    so_array ids = so_read_array(&in, "ids", 4), starts = so_read_array(&in, "starts", 8), queries = so_read_array(&in, "queries", 8);
    so_array distances = so_read_writable(&in, "distances", 8), nearest = so_read_writable(&in, "nearest", 8);
    if (so_is_bad(&in, distances.n != queries.n || nearest.n != queries.n, "distances, nearest: expected one per query")) return NULL;
    if (so_is_bad(&in, !are_queries(queries.data, queries.n, ids, starts, index->n_distinct), "queries: no such sentences")) return NULL;
    Py_BEGIN_ALLOW_THREADS
    ok = so_search(index, ids.data, starts.data, queries.data, queries.n, distances.data, nearest.data);
    Py_END_ALLOW_THREADS
    so_end(&in);
    if (!ok) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

#define SO_NEIGHBORS_METHODS \
    SO_METHOD(number_words, "Number the words of lines.") \
    SO_METHOD(make_index, "Index training sentences by their words.") \
    SO_METHOD(search, "Find the nearest training sentences.")
