/* What only x86-64 processors with AVX-512 can run: 5 to 13% faster than AVX2. Rows are short, so vectors of 256 bits do better than 512. */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512dq,avx512bw"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=256")
#endif
#define SO_METHODS so_methods_avx512
#include "methods.c"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int so_nothing_here; /* ISO C wants a declaration in every file */
#endif
