/* bind_training.c: edits.h (rewards), dropout.h and output_loss.h for arrays of Python. */

#include "bind.h"
#include "dropout.h"
#include "edits.h"
#include "output_loss.h"

/* y, is_free, drawable, a; without room for the plan. */
static void read_edits(so_args *in, so_edits *e)
{
    so_array y = so_read_array(in, "y", 8), is_free = so_read_array(in, "is_free", 1), drawable = so_read_array(in, "drawable", 8);
    double a = so_read_double(in, "a");
    memset(e, 0, sizeof *e);
    if (in->failed) return;
    if (is_free.n != y.n || !(a > 0) || !(a * (double)drawable.n < 1)) {
        so_fail(in, PyExc_ValueError, "is_free, a", "expected a mask of y and 0 < a < 1 / words");
        return;
    }
    e->y = y.data, e->n = y.n, e->is_free = is_free.data, e->drawable = drawable.data, e->n_draw = drawable.n, e->a = a;
}

/* draw_edited(y, is_free, drawable, a, seed, epoch, stream, example, block, is_accepted_anyway, y_hat)
   -> (number of words, next unused block); 0: rejected or empty, -1: y_hat is too small. One try, so
   that Python can be interrupted between two. */
static PyObject *draw_edited(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_edits e;
    int64_t n;
    so_begin(&in, args, n_args);
    read_edits(&in, &e);
    uint64_t seed = so_read_unsigned(&in, "seed"), epoch = so_read_unsigned(&in, "epoch"), stream = so_read_unsigned(&in, "stream");
    uint64_t example = so_read_unsigned(&in, "example"), first = so_read_unsigned(&in, "block");
    int is_accepted_anyway = (int)so_read_int(&in, "is_accepted_anyway");
    so_array y_hat = so_read_writable(&in, "y_hat", 8);
    if (so_is_bad(&in, (epoch | stream) >> 32 || first >= 1 << 24 || e.n_draw < 1, "epoch, stream, block or drawable")) return NULL;
    so_address at = {seed, (uint32_t)epoch, (uint32_t)stream};
    uint32_t block = (uint32_t)first;
    size_t n_plan = (size_t)(e.n + 1), n_cells = (size_t)(y_hat.n + 1) * 6;
    e.rank = malloc(n_plan * 8), e.others = malloc(n_plan * 8), e.ratio = malloc(n_plan * 8);
    so_cell *cells = is_accepted_anyway ? NULL : malloc(n_cells * sizeof *cells);
    int has_room = e.rank && e.others && e.ratio && (cells || is_accepted_anyway);
    n = -1;
    Py_BEGIN_ALLOW_THREADS
    if (has_room) {
        so_plan_edits(&e);
        n = so_draw_script(&e, &at, example, &block, y_hat.data, y_hat.n);
        if (!is_accepted_anyway && n >= 0) {
            double u = so_uniform(so_random(&at, example, at.stream + block++));
            if (n > 0 && !(u * so_script_weight(&e, y_hat.data, n, cells).mass < 1)) n = 0;
        }
    }
    Py_END_ALLOW_THREADS
    free(e.rank), free(e.others), free(e.ratio), free(cells);
    so_end(&in);
    if (!has_room) return PyErr_NoMemory();
    return Py_BuildValue("LI", (long long)n, (unsigned int)block);
}

/* script_weight(y, is_free, drawable, a, y_hat) -> (edits, weight of all scripts over a^edits) */
static PyObject *script_weight(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_edits e;
    so_cell weight;
    so_begin(&in, args, n_args);
    read_edits(&in, &e);
    so_array y_hat = so_read_array(&in, "y_hat", 8);
    if (so_is_bad(&in, 0, "")) return NULL;
    so_cell *cells = malloc((size_t)(y_hat.n + 1) * 6 * sizeof *cells);
    if (cells == NULL) return so_end(&in), PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS
    weight = so_script_weight(&e, y_hat.data, y_hat.n, cells);
    Py_END_ALLOW_THREADS
    free(cells);
    so_end(&in);
    return Py_BuildValue("Ld", (long long)weight.cost, weight.mass);
}

/* clipped_matches(hypothesis, reference) -> matches of 1, 2, 3 and 4 words */
static PyObject *clipped_matches(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    so_array x = so_read_array(&in, "hypothesis", 8), reference = so_read_array(&in, "reference", 8);
    int64_t correct[4] = {0};
    if (so_is_bad(&in, 0, "")) return NULL;
    Py_BEGIN_ALLOW_THREADS
    so_clipped_matches(x.data, x.n, reference.data, reference.n, correct);
    Py_END_ALLOW_THREADS
    so_end(&in);
    return Py_BuildValue("LLLL", (long long)correct[0], (long long)correct[1], (long long)correct[2], (long long)correct[3]);
}

/* add_dropped(x, keys, threshold, scale, out) */
static PyObject *add_dropped(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    so_array x = so_read_array(&in, "x", 4), keys = so_read_array(&in, "keys", 8);
    uint64_t threshold = so_read_unsigned(&in, "threshold");
    float scale = (float)so_read_double(&in, "scale");
    so_array out = so_read_writable(&in, "out", 4);
    if (so_is_bad(&in, threshold > UINT32_MAX || out.n != x.n || (keys.n ? x.n % keys.n : x.n) != 0, "x, keys, out: the shapes do not agree")) return NULL;
    Py_BEGIN_ALLOW_THREADS
    if (keys.n) so_add_dropped(x.data, keys.n, x.n / keys.n, keys.data, (uint32_t)threshold, scale, out.data);
    Py_END_ALLOW_THREADS
    so_end(&in);
    Py_RETURN_NONE;
}

/* output_loss(item_size, logits, labels, first, size, smoothing) -> loss; logits [labels, width] become their gradient.
   item_size 4: float, 2: bfloat16. */
static PyObject *output_loss(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    int64_t item_size = so_read_int(&in, "item_size");
    so_array logits = so_read_writable(&in, "logits", item_size == 2 ? 2 : 4), labels = so_read_array(&in, "labels", 8);
    int64_t first = so_read_int(&in, "first"), size = so_read_int(&in, "size");
    float smoothing = (float)so_read_double(&in, "smoothing");
    const int64_t *label = labels.data;
    int64_t width = labels.n ? logits.n / labels.n : size;
    int is_bad = first < 0 || size <= first || width < size || width * labels.n != logits.n;
    for (int64_t i = 0; i < labels.n && !is_bad; i++) is_bad = label[i] < first || label[i] >= size;
    if (so_is_bad(&in, is_bad, "logits, labels, first, size: the shapes do not agree")) return NULL;
    float *row = malloc((size_t)size * sizeof *row);
    if (row == NULL) return so_end(&in), PyErr_NoMemory();
    double loss = 0;
    Py_BEGIN_ALLOW_THREADS
    for (int64_t i = 0; i < labels.n; i++)
        loss += item_size == 2 ? so_row_loss_bfloat16((uint16_t *)logits.data + i * width, first, size, label[i], smoothing, row)
                               : so_row_loss((float *)logits.data + i * width, first, size, label[i], smoothing);
    Py_END_ALLOW_THREADS
    free(row);
    so_end(&in);
    return PyFloat_FromDouble(loss);
}

#define SO_TRAINING_METHODS \
    SO_METHOD(draw_edited, "Draw an edited sentence, which may be rejected.") \
    SO_METHOD(script_weight, "Edit distance, and the weight of all edit scripts.") \
    SO_METHOD(clipped_matches, "Matches of n-grams, as BLEU counts them.") \
    SO_METHOD(add_dropped, "Add what dropout keeps.") \
    SO_METHOD(output_loss, "The loss of logits, which become its gradient.")
