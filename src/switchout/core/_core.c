/* _core.c: the Python module. It chooses the functions for this processor, and that is all.

   The functions are in bind_*.c (arguments of Python) and in the headers beside them (the loops). */

#include "bind.h"

static int choose_methods(PyObject *module)
{
#if defined(__x86_64__) && !defined(SO_PORTABLE) /* tests build it with the portable loops, too */
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        return PyModule_AddFunctions(module, so_methods_avx2) | PyModule_AddStringConstant(module, "INSTRUCTIONS", "avx2");
#endif
    return PyModule_AddFunctions(module, so_methods_any) | PyModule_AddStringConstant(module, "INSTRUCTIONS", "any");
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
