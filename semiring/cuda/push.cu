// A sparse operand pushed along its rows' entries:   y_k ⊕= a_ik ⊗ x_i   for the x_i that are present
//
// The cost is the entries of those rows, not the matrix. Rows become spans of entries; a scan of their lengths numbers
// the entries, and a thread takes an entry, so a hub is spread over the whole device. y is kept and is the zero
// everywhere; whoever lifts a y_k from the zero first notes k, by one atomic for a warp. For an idempotent ⊕: y_k
// cannot return to the zero, and the order does not show.

extern "C" __global__ void spans_compressed(const I* __restrict__ rows, I count, const I* __restrict__ indptr,
                                            I* __restrict__ starts, I* __restrict__ lengths) {
    for (long long f = thread_number(); f < count; f += thread_count()) {
        const I start = indptr[rows[f]];
        starts[f] = start;
        lengths[f] = indptr[rows[f] + 1] - start;
    }
}

// The same of few rows, and their scan, by one block: spans_f = where row f starts, spans_{count + f} = entries up to it.
extern "C" __global__ void __launch_bounds__(THREADS)
spans_scanned(const I* __restrict__ rows, I count, const I* __restrict__ indptr, I* __restrict__ spans) {
    I base = 0;
    for (I first = 0; first < count; first += THREADS) {
        const I f = first + threadIdx.x;
        I length = 0, all;
        if (f < count) {
            const I start = indptr[rows[f]];
            spans[f] = start;
            length = indptr[rows[f] + 1] - start;
        }
        const I before = sum_before(length, all);
        if (f < count) spans[count + f] = base + before + length;
        base += all;
    }
}

__device__ __forceinline__ I lower_bound(const I* sorted, I low, I high, I value) {
    while (low < high) {
        const I middle = low + (high - low) / 2;
        if (sorted[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

extern "C" __global__ void spans_list(const I* __restrict__ rows, I count, const I* __restrict__ outer, I nnz,
                                      I* __restrict__ starts, I* __restrict__ lengths) {
    for (long long f = thread_number(); f < count; f += thread_count()) {
        const I start = lower_bound(outer, 0, nnz, rows[f]);
        starts[f] = start;
        lengths[f] = lower_bound(outer, start, nnz, rows[f] + 1) - start;
    }
}

// Note k among the reached places, for the threads with `is_new`: in a list, where the threads of a warp that are here share
// one atomic, or without a count as a bit.
__device__ __forceinline__ void note(bool is_new, I k, I* reached, unsigned long long* count) {
    if (count == nullptr) {
        if (is_new) atomicOr(reinterpret_cast<unsigned int*>(reached) + k / 32, 1u << (k % 32));
        return;
    }
    const unsigned int here = __activemask();
    const unsigned int all = __ballot_sync(here, is_new);
    if (all == 0) return;
    const int lane = threadIdx.x % 32, leader = __ffs(all) - 1;
    unsigned long long base = 0;
    if (lane == leader) base = atomicAdd(count, (unsigned long long)__popc(all));
    base = __shfl_sync(here, base, leader);
    if (is_new) reached[base + __popc(all & ((1u << lane) - 1))] = k;
}

__device__ __forceinline__ bool relax(T* y, I k, T t) { return t != ZERO && atomic_add(y + k, t) == ZERO; }

// The row among [low, high] that entry e of all pushed ones belongs to: the last with ends[row - 1] <= e.
__device__ __forceinline__ I owner(const I* ends, I low, I high, I e) {
    while (low < high) {
        const I middle = low + (high - low) / 2;
        if (ends[middle] <= e) low = middle + 1;
        else high = middle;
    }
    return low;
}

// ends[f]: the number of entries in spans 0 … f.  stride: from an entry of a span to the next.
template <class Columns>
__device__ __forceinline__ void push_along(const I* starts, const I* ends, const T* weights, I count,
                                           const Columns& columns, const T* values, I step, I stride, T* y, I* reached,
                                           unsigned long long* nreached) {
    __shared__ I bounds[2];
    const I total = ends[count - 1];
    for (long long begin = blockIdx.x * (long long)PUSHED; begin < total; begin += gridDim.x * (long long)PUSHED) {
        const I end = (I)min(begin + PUSHED, (long long)total);
        __syncthreads();
        if (threadIdx.x < 2) bounds[threadIdx.x] = owner(ends, 0, count - 1, threadIdx.x == 0 ? (I)begin : end - 1);
        __syncthreads();
        for (I e = (I)begin + threadIdx.x; e < end; e += blockDim.x) {
            const I f = owner(ends, bounds[0], bounds[1], e);
            const I at = starts[f] + (e - (f > 0 ? ends[f - 1] : (I)0)) * stride;
            const I k = columns[at];
            note(relax(y, k, product(values[at * step], weights[f])), k, reached, nreached);
        }
    }
}

extern "C" __global__ void push_spans(const I* __restrict__ starts, const I* __restrict__ ends,
                                      const T* __restrict__ weights, I count, const J* __restrict__ inner,
                                      const T* __restrict__ values, I step, T* __restrict__ y,
                                      I* __restrict__ reached, unsigned long long* __restrict__ nreached) {
    push_along(starts, ends, weights, count, Indices{inner}, values, step, 1, y, reached, nreached);
}

// A thread for each slot of each row that is present.
extern "C" __global__ void push_padded(const I* __restrict__ rows, const T* __restrict__ weights, I count,
                                       const J* __restrict__ indices, const T* __restrict__ values, I step, I width,
                                       I nrows, T* __restrict__ y, I* __restrict__ reached,
                                       unsigned long long* __restrict__ nreached) {
    for (long long p = thread_number(); p < (long long)count * width; p += thread_count()) {
        const I f = (I)(p % count), at = (I)(p / count) * nrows + rows[f], k = indices[at];
        const bool is_new = k >= 0 && relax(y, k, product(values[at * step], weights[f]));
        note(is_new, k, reached, nreached);
    }
}

// Take the reached values out of y, which is the zero again, where MAX_SORTED_PLACES places or fewer were reached: one block
// sorts them, and none are noted for the next product. Else nothing is taken. The host is told how many there were.
extern "C" __global__ void __launch_bounds__(THREADS)
take_sorted(const I* __restrict__ reached, unsigned long long* __restrict__ nreached, unsigned long long* told,
            T* __restrict__ y, I* __restrict__ places, T* __restrict__ taken) {
    __shared__ I sorted[MAX_SORTED_PLACES];
    const unsigned long long found = *nreached;
    __syncthreads();
    if (threadIdx.x == 0) *told = found;
    if (found > MAX_SORTED_PLACES) return;
    if (threadIdx.x == 0) *nreached = 0;
    const int count = (int)found;
    int size = 1;
    while (size < count) size *= 2;
    for (int i = threadIdx.x; i < size; i += THREADS) sorted[i] = i < count ? reached[i] : (I)(~0ull >> (65 - 8 * sizeof(I)));
    for (int run = 2; run <= size; run *= 2) {  // bitonic: runs ascend and descend in turns
        for (int distance = run / 2; distance > 0; distance /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < size / 2; i += THREADS) {
                const int low = i / distance * 2 * distance + i % distance, high = low + distance;
                const I a = sorted[low], b = sorted[high];
                if ((a > b) == ((low & run) == 0)) {
                    sorted[low] = b;
                    sorted[high] = a;
                }
            }
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += THREADS) {
        const I at = sorted[i];
        places[i] = at;
        taken[i] = y[at];
        y[at] = ZERO;
    }
}

// More than a block sorts: listed places become bits, which are 0 before, and the list is empty for the next product.
extern "C" __global__ void mark_reached(const I* __restrict__ reached, unsigned long long found,
                                        unsigned long long* __restrict__ nreached, unsigned int* __restrict__ bits) {
    for (long long i = thread_number(); i < (long long)found; i += thread_count())
        atomicOr(bits + reached[i] / 32, 1u << (reached[i] % 32));
    if (thread_number() == 0) *nreached = 0;
}

// The reached places in their order, and their values out of y, which is the zero again, as the bits are 0. before: the
// bits before each word.
extern "C" __global__ void take_marked(unsigned int* __restrict__ bits, long long words, const I* __restrict__ before,
                                       T* __restrict__ y, I* __restrict__ places, T* __restrict__ taken) {
    for (long long w = thread_number(); w < words; w += thread_count()) {
        unsigned int left = bits[w];
        if (left == 0) continue;
        bits[w] = 0;
        for (I to = before[w]; left != 0; left &= left - 1) {
            const I at = (I)(w * 32 + __ffs(left) - 1);
            places[to] = at;
            taken[to++] = y[at];
            y[at] = ZERO;
        }
    }
}
