/* The kernels of normal mode, for GPUs that convert to 8-bit floats themselves: from compute capability 8.9 on. */
#define HAS_FP8

#include "normal_combine.cuh"
