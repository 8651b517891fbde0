/* bind.h: how the functions of the module read their arguments.

   A function reads its arguments one after the other. The first that does not fit sets an exception
   that names it; all later reads then return nothing, so one question at the end is enough:

       so_args in;
       so_begin(&in, args, n_args);
       so_array data = so_read_array(&in, "data", 1);          any number of items of 1 byte
       so_array ends = so_read_writable(&in, "ends", 8);
       int64_t size = so_read_int(&in, "size");
       if (so_is_bad(&in, size + 64 > data.n, "size: not so many bytes in data")) return NULL;
       Py_BEGIN_ALLOW_THREADS
       ... loops on data.data and ends.data ...
       Py_END_ALLOW_THREADS
       so_end(&in);

   Arrays come by the buffer protocol, contiguous, and stay alive and in place until so_end. */

#ifndef SWITCHOUT_BIND_H
#define SWITCHOUT_BIND_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern PyMethodDef so_methods_any[], so_methods_avx2[], so_methods_avx512[];

#define SO_METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, doc},

enum { SO_MOST_ARRAYS = 24 }; /* of one function */

typedef struct { void *data; int64_t n; } so_array; /* n items; None is {NULL, 0} */

typedef struct {
    PyObject *const *items;
    Py_ssize_t n_items, next;
    Py_buffer views[SO_MOST_ARRAYS];
    int n_views, failed;
} so_args;

static inline void so_begin(so_args *in, PyObject *const *items, Py_ssize_t n_items)
{
    in->items = items, in->n_items = n_items;
    in->next = 0, in->n_views = 0, in->failed = 0;
}

static inline void so_end(so_args *in)
{
    while (in->n_views) PyBuffer_Release(&in->views[--in->n_views]);
}

/* The next argument, or NULL if there is none or an earlier one failed. */
static inline PyObject *so_next(so_args *in, const char *name)
{
    if (in->failed) return NULL;
    if (in->next < in->n_items) return in->items[in->next++];
    PyErr_Format(PyExc_TypeError, "argument %zd (%s) is missing", in->next, name);
    in->failed = 1;
    return NULL;
}

static inline void so_fail(so_args *in, PyObject *exception, const char *name, const char *expected)
{
    PyErr_Clear();
    PyErr_Format(exception, "%s: %s", name, expected);
    in->failed = 1;
}

static inline so_array so_read_buffer(so_args *in, const char *name, int item_size, int flags)
{
    so_array none = {NULL, 0};
    PyObject *object = so_next(in, name);
    if (object == NULL || object == Py_None) return none;
    if (in->n_views == SO_MOST_ARRAYS) return so_fail(in, PyExc_SystemError, name, "too many arrays"), none;
    Py_buffer *view = &in->views[in->n_views];
    if (PyObject_GetBuffer(object, view, flags) < 0)
        return so_fail(in, PyExc_ValueError, name, flags & PyBUF_WRITABLE ? "expected a contiguous, writable array" : "expected a contiguous array"), none;
    in->n_views++;
    if (view->itemsize != item_size) return so_fail(in, PyExc_TypeError, name, "the items of the array have another size"), none;
    so_array array = {view->buf, view->len / item_size};
    return array;
}

/* An array to read, or None. */
static inline so_array so_read_array(so_args *in, const char *name, int item_size)
{
    return so_read_buffer(in, name, item_size, PyBUF_SIMPLE);
}

/* An array to write to, or None. */
static inline so_array so_read_writable(so_args *in, const char *name, int item_size)
{
    return so_read_buffer(in, name, item_size, PyBUF_WRITABLE);
}

static inline int64_t so_read_int(so_args *in, const char *name)
{
    PyObject *object = so_next(in, name);
    if (object == NULL) return 0;
    long long value = PyLong_AsLongLong(object);
    if (value == -1 && PyErr_Occurred()) so_fail(in, PyExc_ValueError, name, "expected an integer of 64 bits");
    return value;
}

static inline uint64_t so_read_unsigned(so_args *in, const char *name)
{
    PyObject *object = so_next(in, name);
    if (object == NULL) return 0;
    unsigned long long value = PyLong_AsUnsignedLongLong(object);
    if (value == (unsigned long long)-1 && PyErr_Occurred()) so_fail(in, PyExc_ValueError, name, "expected an unsigned integer of 64 bits");
    return value;
}

static inline double so_read_double(so_args *in, const char *name)
{
    PyObject *object = so_next(in, name);
    if (object == NULL) return 0;
    double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred()) so_fail(in, PyExc_TypeError, name, "expected a number");
    return value;
}

/* A struct made by a make_... function of this module, by its kind. */
static inline const void *so_read_struct(so_args *in, const char *kind)
{
    PyObject *object = so_next(in, kind);
    if (object == NULL) return NULL;
    const void *pointer = PyCapsule_GetPointer(object, kind);
    if (pointer == NULL) so_fail(in, PyExc_TypeError, kind, "expected what the core makes of that name");
    return pointer;
}

/* Whether an argument did not fit or `problem` holds; then there is an exception, all is released. */
static inline int so_is_bad(so_args *in, int problem, const char *message)
{
    if (!in->failed && in->next != in->n_items) {
        PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", in->next, in->n_items);
        in->failed = 1;
    }
    if (!in->failed && problem) {
        PyErr_SetString(PyExc_ValueError, message);
        in->failed = 1;
    }
    if (in->failed) so_end(in);
    return in->failed;
}

/* A copy of an array's items behind `to`; returns the place after them. */
static inline char *so_put(char *to, so_array array, int item_size)
{
    if (array.n) memcpy(to, array.data, (size_t)array.n * (size_t)item_size);
    return to + array.n * item_size;
}

static void so_free_struct(PyObject *capsule)
{
    free(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
}

/* Hands a struct from malloc to Python, which frees it. */
static inline PyObject *so_give_struct(void *pointer, const char *kind)
{
    if (pointer == NULL) return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(pointer, kind, so_free_struct);
    if (capsule == NULL) free(pointer);
    return capsule;
}

#endif
