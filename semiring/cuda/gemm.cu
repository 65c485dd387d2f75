// Dense by dense:   z_ij = ⊕_k x_ik ⊗ y_kj
//
// A block computes a tile of 16 ROWS by 16 COLS elements, a thread ROWS by COLS of them in registers. SLAB terms at a time,
// columns of X and rows of Y are in shared memory, and those of the next slab are under way meanwhile. Per pair of
// elements ⊗ and ⊕ are one instruction each, and all else is shared by many pairs.
//
// PLAIN: the caller has seen that the operators by themselves treat absent elements right, so no pair is tested. Absent
// integers are clamped to where no sum wraps, and results beyond `beyond` are absent.
//
// With ARGUMENT, each element also gets the smallest k whose term it is, for a ⊕ that chooses one of its operands. The
// loop only notes the last slab that has changed a sum, which is the first that holds the final value; the term is
// looked for in that slab at the end.
//
// Source: V. Volkov, J. W. Demmel, Benchmarking GPUs to tune dense linear algebra, SC 2008.

constexpr int SIDE = 16;                           // threads along each side of a tile
constexpr int TILE_ROWS = SIDE * ROWS, TILE_COLS = SIDE * COLS;
constexpr int PAD = 16 / sizeof(T);                // shared rows stay aligned, and columns are stored without conflicts
constexpr int QUAD = 4;                            // neighbours that a thread takes at once, the next SIDE * QUAD on

#if PLAIN
using Partial = T;
__device__ __forceinline__ Partial nothing() { return ZERO; }
__device__ __forceinline__ Partial with_term(Partial sum, T a, T b) { return plain_add(sum, plain_mul(a, b)); }
__device__ __forceinline__ Partial one_term(T a, T b) { return plain_mul(a, b); }
__device__ __forceinline__ T settled(Partial sum) { return sum; }
__device__ __forceinline__ T loaded(T value, T clamp) { return CLAMPED && value == ZERO ? clamp : value; }
__device__ __forceinline__ T written(Partial sum, T beyond) {
    if (CLAMPED) return plain_add(sum, beyond) == sum ? sum : ZERO;  // no worse than the limit
    return sum;
}
#else
using Partial = Sum;
__device__ __forceinline__ Partial nothing() { return EMPTY; }
__device__ __forceinline__ Partial with_term(Partial sum, T a, T b) { return combine(sum, lift(term(a, b))); }
__device__ __forceinline__ Partial one_term(T a, T b) { return lift(term(a, b)); }
__device__ __forceinline__ T settled(Partial sum) { return finish(sum); }
__device__ __forceinline__ T loaded(T value, T) { return value; }
__device__ __forceinline__ T written(Partial sum, T) { return finish(sum); }
#endif

// The place, among a tile's rows or columns, of a thread's q-th.
template <int EACH> __device__ __forceinline__ int place(int number, int q) {
    constexpr int TAKEN = EACH < QUAD ? EACH : QUAD;
    return q / TAKEN * (SIDE * TAKEN) + number * TAKEN + q % TAKEN;
}

// z = x ⊗ y: (rows, cols) of (rows, terms) and (terms, cols), all by rows. which: (rows, cols), with ARGUMENT.
extern "C" __global__ void __launch_bounds__(SIDE * SIDE, BLOCKS)
multiply_dense(const T* __restrict__ x, const T* __restrict__ y, long long rows, long long terms, long long cols, T clamp,
               T beyond, T* __restrict__ z, I* __restrict__ which) {
    __shared__ alignas(16) T xs[2][SLAB][TILE_ROWS + PAD];
    __shared__ alignas(16) T ys[2][SLAB][TILE_COLS];
    constexpr int X_STEP = SIDE * SIDE / SLAB, X_EACH = TILE_ROWS / X_STEP;       // rows of X, of all threads and of one
    constexpr int Y_STEP = SIDE * SIDE / TILE_COLS, Y_EACH = SLAB / Y_STEP;       // rows of Y, likewise
    const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    const long long row = blockIdx.y * (long long)TILE_ROWS, col = blockIdx.x * (long long)TILE_COLS;
    const int x_row = threadIdx.x / SLAB, x_at = threadIdx.x % SLAB;
    const int y_at = threadIdx.x / TILE_COLS, y_col = threadIdx.x % TILE_COLS;
    const T* const from_x = x + (row + x_row) * terms + x_at;
    const T* const from_y = y + y_at * cols + col + y_col;
    const bool inside = row + TILE_ROWS <= rows && col + TILE_COLS <= cols;
    T next_x[X_EACH], next_y[Y_EACH];

    const auto ask = [&](long long k) {  // for the slab that begins at term k
        if (inside && k + SLAB <= terms) {
#pragma unroll
            for (int n = 0; n < X_EACH; ++n) next_x[n] = from_x[k + n * X_STEP * terms];
#pragma unroll
            for (int n = 0; n < Y_EACH; ++n) next_y[n] = from_y[(k + n * Y_STEP) * cols];
            return;
        }
#pragma unroll
        for (int n = 0; n < X_EACH; ++n) {
            const bool there = row + x_row + n * X_STEP < rows && k + x_at < terms;
            next_x[n] = there ? from_x[k + n * X_STEP * terms] : ZERO;
        }
#pragma unroll
        for (int n = 0; n < Y_EACH; ++n) {
            const bool there = k + y_at + n * Y_STEP < terms && col + y_col < cols;
            next_y[n] = there ? from_y[(k + n * Y_STEP) * cols] : ZERO;
        }
    };
    const auto store = [&](int half) {
#pragma unroll
        for (int n = 0; n < X_EACH; ++n) xs[half][x_at][x_row + n * X_STEP] = loaded(next_x[n], clamp);
#pragma unroll
        for (int n = 0; n < Y_EACH; ++n) ys[half][y_at + n * Y_STEP][y_col] = loaded(next_y[n], clamp);
    };

    Partial sum[ROWS][COLS];
    int slab_of[ARGUMENT ? ROWS : 1][ARGUMENT ? COLS : 1];
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int c = 0; c < COLS; ++c) {
            sum[r][c] = nothing();
            if constexpr (ARGUMENT) slab_of[r][c] = -1;
        }
    ask(0);
    store(0);
    __syncthreads();
    int half = 0;
    for (long long k = 0; k < terms; k += SLAB) {
        if (k + SLAB < terms) ask(k + SLAB);
        Partial before[ARGUMENT ? ROWS : 1][ARGUMENT ? COLS : 1];
        if constexpr (ARGUMENT) {
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
#pragma unroll
                for (int c = 0; c < COLS; ++c) before[r][c] = sum[r][c];
        }
#pragma unroll
        for (int s = 0; s < SLAB; ++s) {
            T a[ROWS], b[COLS];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) a[r] = xs[half][s][place<ROWS>(ty, r)];
#pragma unroll
            for (int c = 0; c < COLS; ++c) b[c] = ys[half][s][place<COLS>(tx, c)];
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
#pragma unroll
                for (int c = 0; c < COLS; ++c) sum[r][c] = with_term(sum[r][c], a[r], b[c]);
        }
        if constexpr (ARGUMENT) {
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
#pragma unroll
                for (int c = 0; c < COLS; ++c)
                    if (settled(before[r][c]) != settled(sum[r][c])) slab_of[r][c] = (int)(k / SLAB);
        }
        if (k + SLAB < terms) store(1 - half);
        __syncthreads();
        half = 1 - half;
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int c = 0; c < COLS; ++c) {
            const long long i = row + place<ROWS>(ty, r), j = col + place<COLS>(tx, c);
            if (i >= rows || j >= cols) continue;
            const T value = written(sum[r][c], beyond);
            z[i * cols + j] = value;
            if constexpr (ARGUMENT) {
                I found = -1;
                if (value != ZERO && slab_of[r][c] >= 0) {
                    const long long first = slab_of[r][c] * (long long)SLAB;
#pragma unroll 4
                    for (int s = SLAB - 1; s >= 0; --s) {
                        const long long k = min(first + s, terms - 1);
                        const Partial one = one_term(loaded(x[i * terms + k], clamp), loaded(y[k * cols + j], clamp));
                        if (settled(one) == settled(sum[r][c])) found = (I)k;
                    }
                }
                which[i * cols + j] = found;
            }
        }
}
