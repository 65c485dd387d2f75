// Loops over more than the grid: for (long long i = thread_number(); i < n; i += thread_count()).
__device__ __forceinline__ long long thread_number() { return blockIdx.x * (long long)blockDim.x + threadIdx.x; }
__device__ __forceinline__ long long thread_count() { return gridDim.x * (long long)blockDim.x; }
