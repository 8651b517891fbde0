/* What only newer x86-64 processors can run; _core.c asks before it is used. */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#endif
#define SO_METHODS so_methods_avx2
#include "methods.c"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int so_nothing_here; /* ISO C wants a declaration in every file */
#endif
