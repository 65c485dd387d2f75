// The trees of many searches, from their levels alone: of the predecessors one level nearer the smallest.
//
// Levels lie in rows of MAX_SEARCHES, one for each vertex, in as few bytes as they fit, so that an edge costs a row. A warp looks
// through a column for all searches at once, as far as the last of them needs. Pieces of long columns are offered by atomics.

constexpr int SIDE = 32;
constexpr Level NO_LEVEL = (Level)-1;

// A tile of SIDE vertices and all searches from rows of n to rows of MAX_SEARCHES.
extern "C" __global__ void turn_levels(long long n, int searches, const int* level, Level* rows) {
    __shared__ Level tile[SIDE][MAX_SEARCHES + 1];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (long long base = blockIdx.x * (long long)SIDE; base < n; base += gridDim.x * (long long)SIDE) {
        for (int j = warp; j < MAX_SEARCHES; j += warps)
            tile[lane_number()][j] =
                j < searches && base + lane_number() < n ? (Level)level[j * n + base + lane_number()] : NO_LEVEL;
        __syncthreads();
        for (int i = warp; i < SIDE; i += warps)
            for (int j = lane_number(); j < MAX_SEARCHES && base + i < n; j += 32) rows[(base + i) * MAX_SEARCHES + j] = tile[i][j];
        __syncthreads();
    }
}

// The first of some predecessors that is one level nearer, for the lane's two searches; -1 for none.
struct Seeker {
    const Level* rows;
    Level wanted[2];
    bool seeks[2];
    I found[2];

    __device__ __forceinline__ void begin(long long v) {
        UNROLLED(h, 2) {
            const Level own = rows[v * MAX_SEARCHES + h * 32 + lane_number()];
            seeks[h] = own != NO_LEVEL && own != 0;
            wanted[h] = own - 1;
            found[h] = -1;
        }
    }
    __device__ __forceinline__ void look(const J* indices, I at, I end) {
        constexpr int PER_LANE = 4;
        for (; at < end && __any_sync(WARP, seeks[0] || seeks[1]); at += 32) {
            const int count = end - at < 32 ? (int)(end - at) : 32;
            const I mine = lane_number() < count ? indices[at + lane_number()] : 0;
            for (int i = 0; i < count && __any_sync(WARP, seeks[0] || seeks[1]); i += PER_LANE) {
                I u[PER_LANE];
                Level there[PER_LANE][2];
                UNROLLED(j, PER_LANE) {
                    u[j] = from_lane(mine, (i + j) & 31);
                    UNROLLED(h, 2)
                        there[j][h] = seeks[h] && i + j < count ? rows[u[j] * (long long)MAX_SEARCHES + h * 32 + lane_number()] : NO_LEVEL;
                }
                UNROLLED(j, PER_LANE)
                    UNROLLED(h, 2)
                        if (seeks[h] && there[j][h] == wanted[h]) {
                            found[h] = u[j];
                            seeks[h] = false;
                        }
            }
        }
    }
};

// Parents of what has a short column, and -1 of all else.
extern "C" __global__ void seek_parents(const I* indptr, const J* indices, long long n, int searches, const Level* rows,
                                        I longest, I* parent) {
    __shared__ I tile[MAX_SEARCHES][SIDE + 1];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (long long base = blockIdx.x * (long long)SIDE; base < n; base += gridDim.x * (long long)SIDE) {
        for (int i = warp; i < SIDE; i += warps) {
            Seeker seeker{rows, {0, 0}, {false, false}, {-1, -1}};
            if (base + i < n) {
                const I begin = indptr[base + i], end = indptr[base + i + 1];
                if (begin < end && end - begin <= longest) {
                    seeker.begin(base + i);
                    seeker.look(indices, begin, end);
                }
            }
            UNROLLED(h, 2) tile[h * 32 + lane_number()][i] = seeker.found[h];
        }
        __syncthreads();
        for (int j = warp; j < searches; j += warps)
            if (base + lane_number() < n) parent[j * n + base + lane_number()] = tile[j][lane_number()];
        __syncthreads();
    }
}

// The same of long columns, in pieces, whose parents are -1 before.
extern "C" __global__ void seek_in_pieces(const J* indices, long long n, int searches, const Level* rows,
                                          const RowPiece* pieces, const unsigned long long* count, I* parent) {
    for (long long i = thread_number() / 32; i < (long long)*count; i += thread_count() / 32) {
        const RowPiece piece = pieces[i];
        Seeker seeker{rows, {0, 0}, {false, false}, {-1, -1}};
        seeker.begin(piece.vertex);
        seeker.look(indices, piece.start, piece.start + piece.length);
        UNROLLED(h, 2) {
            const int j = h * 32 + lane_number();
            if (seeker.found[h] >= 0) take_smaller(parent + j * n + piece.vertex, seeker.found[h]);
        }
    }
}
