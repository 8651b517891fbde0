/* methods.c: every function of the module. It is compiled for any processor (methods_any.c) and
   for those with AVX2 and AVX-512 (methods_avx2.c, methods_avx512.c), so that no loop has to ask which one it runs on. */

#include "bind_neighbors.c"
#include "bind_sampling.c"
#include "bind_text.c"
#include "bind_training.c"

PyMethodDef SO_METHODS[] = {
    SO_SAMPLING_METHODS
    SO_TEXT_METHODS
    SO_NEIGHBORS_METHODS
    SO_TRAINING_METHODS
    {NULL, NULL, 0, NULL},
};
