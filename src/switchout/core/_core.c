/* _core.c: the Python module. It chooses the functions for this processor, and that is all.

   The functions are in bind_*.c (arguments of Python) and in the headers beside them (the loops). */

#include "bind.h"

static int use(PyObject *module, PyMethodDef *methods, const char *instructions)
{
    return PyModule_AddFunctions(module, methods) | PyModule_AddStringConstant(module, "INSTRUCTIONS", instructions);
}

/* Tests build the module with fewer choices, too: SO_UP_TO_AVX2, SO_PORTABLE. */
static int choose_methods(PyObject *module)
{
#if defined(__x86_64__) && !defined(SO_PORTABLE)
    __builtin_cpu_init();
    int has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#if !defined(SO_UP_TO_AVX2)
    int has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    if (has_avx2 && has_avx512) return use(module, so_methods_avx512, "avx512");
#endif
    if (has_avx2) return use(module, so_methods_avx2, "avx2");
#endif
    return use(module, so_methods_any, "any");
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)choose_methods},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "switchout.core._core", "The compiled core of switchout; see docs/core.md.", 0, NULL, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
