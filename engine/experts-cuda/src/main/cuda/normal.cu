/* The kernels of normal mode, for all GPUs. */
#include "normal_combine.cuh"
