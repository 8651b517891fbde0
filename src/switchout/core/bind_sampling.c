/* bind_sampling.c: the sampler of switchout.h for arrays of Python. */

#include "bind.h"
#include "switchout.h"

/* philox(seed, epoch, stream, example, block): the four random words at one address. */
static PyObject *philox(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    uint64_t seed = so_read_unsigned(&in, "seed"), epoch = so_read_unsigned(&in, "epoch"), stream = so_read_unsigned(&in, "stream");
    uint64_t example = so_read_unsigned(&in, "example"), block = so_read_unsigned(&in, "block");
    if (so_is_bad(&in, (epoch | stream | block) >> 32 != 0, "epoch, stream and block have 32 bits")) return NULL;
    so_address at = {seed, (uint32_t)epoch, (uint32_t)stream};
    so_bits bits = so_random(&at, example, (uint32_t)(stream + block));
    return Py_BuildValue("IIII", bits.word[0], bits.word[1], bits.word[2], bits.word[3]);
}

#define SO_SAMPLING_METHODS \
    SO_METHOD(philox, "The four random words at an address.")
