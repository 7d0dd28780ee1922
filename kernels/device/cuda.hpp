// The one header a kernel includes. Under nvcc it is CUDA; under a host compiler it is the executor's
// rendering of the same words (kernels/executor/cuda_words.hpp), so that one source serves both devices.
#pragma once

#if defined(__CUDACC__)
#include <cuda_runtime.h>

#define ASSAY_DEVICE_NAMESPACE cuda
#define ASSAY_ON_GPU 1
/// Declares `name`, an array (or struct) in the block's shared memory. T may be an alias of an array type.
#define ASSAY_SHARED(T, name) __shared__ T name
#else
#include "kernels/executor/cuda_words.hpp"

#define ASSAY_DEVICE_NAMESPACE cpu
#define ASSAY_ON_GPU 0
#endif

// Kernel code lives in  namespace assay::kernels::ASSAY_DEVICE_NAMESPACE { ... }  so that both builds of one
// source link into one program.
