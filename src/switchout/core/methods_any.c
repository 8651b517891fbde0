#define SO_METHODS so_methods_any
#include "methods.c"
