// Breadth-first searches from up to 64 sources in one kernel: a word for each vertex, with a bit for each search [1, 2].
//
//     level⟨F⟩ = k,   F' = (F A)⟨¬visited⟩                  F, visited: a row of 64 bits for each vertex
//
// push    what the frontier's vertices have is offered along their edges. The frontier is a list, so that a step costs
//         its edges, however many vertices there are. Rows are cut into pieces of CUT edges. A block gathers what it
//         lists in shared memory, and one atomic lists it. A step that finds more than a block holds is not listed:
//         a pull does not need the list, and a push makes it from the words.
// pull    every vertex that some search of the step may still reach looks through its predecessors, until it has all of
//         those searches: the first of them by its own thread, the others by eight lanes.
// both    A search that is behind the others has a small frontier, which few vertices find: nearly all would look through
//         all their predecessors for it. So its part of the frontier is pushed, before the others are pulled. Which
//         searches are behind, some of the edges tell: few of them come from its frontier, and few from what it has seen.
// levels  Which step has found a bit is noted in DEPTH words a vertex, the step's number in binary digits: levels are
//         written from them at once, a row of the answer after another. After a few steps pushes write their levels
//         themselves: a graph of many levels has few vertices in each.
//
// Words of the frontier, of the next, and of the one before, which is cleared meanwhile, take turns; so do the lists.
//
// [1] M. Then et al., The more the merrier: efficient multi-source graph traversal, VLDB 2015.
// [2] H. Liu, H. H. Huang, Y. Hu, iBFS: concurrent breadth-first search on GPUs, SIGMOD 2016.

using Word = unsigned long long;

constexpr int DEPTH = 4, NOTABLE = (1 << DEPTH) - 1;  // digits of a step's number, and steps between two writings
constexpr int CUT = 256;                              // edges of a piece of a row
constexpr int HELD = 1024;                            // pieces that a block gathers
constexpr int NOTED_BY_PUSHES = 7;                    // steps since levels were written from which pushes do it themselves
constexpr int SAMPLED = 1024;                         // edges that tell how far the searches are
constexpr int BEHIND = SAMPLED / 64, EARLY = SAMPLED / 4;  // fewer of them come from the frontier, and from what was seen

constexpr int DEALERS = 61;                                // counters of vertices to pull, not a power of two: see pull_words

struct SearchesControl {
    unsigned int arrived, done;
    unsigned long long steps, pulls, pulling;
    unsigned long long noted;    // steps that are noted since levels were written
    unsigned long long listed;   // was the frontier before pushed, and so listed?
    unsigned long long before;   // pieces of that list
    unsigned long long begun;    // have the sources been placed?
    unsigned long long queue[3]; // pieces and, above them, edges
    unsigned long long again[3]; // the same of a list that is made from the words
    unsigned long long found[3]; // vertices that a pull has found
    Word live[3];                // searches that have a frontier
    unsigned int unlisted[3];    // has a block found more than it holds?
    int level_of[NOTABLE + 1];   // of a step's number
    unsigned int hits[3][128];   // of each search: edges of the sample that come from its frontier, and from what it has seen
    unsigned int dealt[3][DEALERS];  // vertices that warps have taken to pull, 32 at a time
};

// The edges of a vertex that are still to be looked at, and what it wants of them: afterwards what it has got.
struct Row {
    Word want;
    I at, end;
};

// What a block gathers in a step.
struct Gathered {
    union {
        Piece held[HELD];            // of a push
        Row rows[SEARCHES_THREADS];  // of a pull, 32 for each warp
    };
    unsigned int count, edges, found;
    Word live;
    unsigned int base;

    __device__ __forceinline__ void clear() {
        if (threadIdx.x == 0) {
            count = edges = found = 0;
            live = 0;
        }
        __syncthreads();
    }
};

// A list of pieces that the whole grid writes.
struct List {
    Piece* pieces;
    unsigned long long* counter;

    // List the rows of some of the lanes, or `all`, even those that the block cannot hold. All of the warp take part.
    __device__ __forceinline__ void add_where(bool wanted, const Piece& row, Gathered& block, bool all) const {
        const unsigned int some = __ballot_sync(WARP, wanted);
        if (some == 0) return;
        if (!all && from_lane(*(volatile unsigned int*)&block.count, 0) > HELD) return;
        const bool one = wanted && row.length <= CUT;
        const unsigned int ones = __ballot_sync(WARP, one);
        unsigned int base = 0;
        if (lane_number() == 0 && ones != 0) base = atomicAdd(&block.count, (unsigned int)__popc(ones));
        base = from_lane(base, 0) + __popc(ones & lanes_below());
        if (one && base < HELD) block.held[base] = row;
        const unsigned int over = __ballot_sync(WARP, one && base >= HELD);
        if (all && over != 0) {
            unsigned long long at = 0;
            if (lane_number() == 0) at = atomicAdd(counter, (unsigned long long)__popc(over));
            at = (from_lane(at, 0) & 0xffffffffu) + __popc(over & lanes_below());
            if (one && base >= HELD) pieces[at] = row;
        }
        for (unsigned int left = some & ~ones; left != 0; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            const I vertex = from_lane(row.vertex, owner), start = from_lane(row.start, owner);
            const I length = from_lane(row.length, owner), count = (length - 1) / CUT + 1;
            unsigned long long at = 0;
            if (lane_number() == 0) at = atomicAdd(counter, (unsigned long long)count);
            at = from_lane(at, 0) & 0xffffffffu;
            for (I i = lane_number(); i < count; i += 32)
                pieces[at + i] = {vertex, start + i * CUT, length - i * CUT < CUT ? length - i * CUT : CUT};
        }
    }
};

// What all threads of a block have gathered goes to the grid's counters, and what it holds to the list.
__device__ __forceinline__ void hand_over(Gathered& block, const List& list, unsigned int edges, unsigned int found,
                                          Word live, unsigned long long* found_by_all, Word* live_of_all,
                                          unsigned int* unlisted) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        edges += __shfl_xor_sync(WARP, edges, distance);
        found += __shfl_xor_sync(WARP, found, distance);
        live |= __shfl_xor_sync(WARP, live, distance);
    }
    if (lane_number() == 0) {
        if (edges > 0) atomicAdd(&block.edges, edges);
        if (found > 0) atomicAdd(&block.found, found);
        if (live != 0) atomicOr(&block.live, live);
    }
    __syncthreads();
    const unsigned int kept = block.count < HELD ? block.count : HELD;
    if (threadIdx.x == 0) {
        const unsigned long long sum = (unsigned long long)block.edges << 32 | kept;
        if (sum != 0) block.base = (unsigned int)atomicAdd(list.counter, sum);
        if (block.found > 0) atomicAdd(found_by_all, (unsigned long long)block.found);
        if (block.live != 0) atomicOr(live_of_all, block.live);
        if (unlisted != nullptr && block.count > HELD) *unlisted = 1;
    }
    __syncthreads();
    for (unsigned int i = threadIdx.x; i < kept; i += blockDim.x) list.pieces[block.base + i] = block.held[i];
}

// What there is before the first step. words: three of n, and digits: DEPTH of n, become zeros.  outside: (n,), or null.
__device__ __forceinline__ void clear_state(long long n, int searches, const bool* outside, Word* visited, Word* words,
                                            Word* digits, int* level) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        const bool never = outside != nullptr && outside[v];
        visited[v] = never ? ~(Word)0 : 0;
        for (int i = 0; i < 3; ++i) words[i * n + v] = 0;
        if (digits != nullptr)
            for (int i = 0; i < DEPTH; ++i) digits[i * n + v] = 0;
        for (int j = 0; never && j < searches; ++j) level[j * n + v] = -1;
    }
}

// Put the sources into the first frontier, a warp for each.
__device__ __forceinline__ void place_sources(SearchesControl* control, const I* indptr, long long n, int searches,
                                              const long long* sources, Word* visited, Word* words, Piece* pieces,
                                              int* level) {
    for (int j = (int)(thread_number() / 32); j < searches; j += (int)(thread_count() / 32)) {
        const long long s = sources[j];
        const Word bit = (Word)1 << j;
        const I start = indptr[s], length = indptr[s + 1] - start, count = (length + CUT - 1) / CUT;
        bool lists = false;
        unsigned long long at = 0;
        if (lane_number() == 0) {
            level[j * n + s] = 0;
            atomicOr(visited + s, bit);
            atomicOr(&control->live[0], bit);
            lists = length > 0 && atomicOr(words + s, bit) == 0;
            if (lists) at = atomicAdd(control->queue, (unsigned long long)length << 32 | (unsigned long long)count);
        }
        if (!from_lane(lists, 0)) continue;
        at = from_lane(at, 0) & 0xffffffffu;
        for (I i = lane_number(); i < count; i += 32)
            pieces[at + i] = {(I)s, start + i * CUT, length - i * CUT < CUT ? length - i * CUT : CUT};
    }
}

// List the vertices of a frontier that has no list, where they have one of these searches.
__device__ __forceinline__ unsigned int list_found(const I* indptr, long long n, const Word* frontier, Word searches,
                                                   const List& list, Gathered& block) {
    unsigned int edges = 0;
    for (long long first = thread_number() - lane_number(); first < n; first += thread_count()) {
        const long long v = first + lane_number();
        Piece row{(I)v, 0, 0};
        if (v < n && (frontier[v] & searches) != 0) {
            row.start = indptr[v];
            row.length = indptr[v + 1] - row.start;
        }
        edges += (unsigned int)row.length;
        list.add_where(row.length > 0, row, block, true);
    }
    return edges;
}

// What a push or a pull reads and writes. number: of the step, or 0 if it writes its levels itself.
struct Step {
    long long n;
    const Word* frontier;
    Word *next, *visited, *digits;
    int* level;
    int k, number;
};

// Note that a step has found these bits, where other threads may note some of the same vertex.
__device__ __forceinline__ void note(const Step& s, I v, Word fresh) {
#pragma unroll
    for (int digit = 0; digit < DEPTH; ++digit)
        if (s.number >> digit & 1) atomicOr(s.digits + digit * s.n + v, fresh);
}

// Offer what the listed vertices have of some searches along their edges, so many lanes for each piece. What is found is
// listed, unless the step pulls, too.
template <bool PULLS>
__device__ __forceinline__ void push_pieces(const Step& s, const I* indptr, const I* indices, const Piece* pieces,
                                            long long count, Word searches, int lanes, const List& list, Gathered& block,
                                            unsigned int& edges, Word& live) {
    const int at_a_time = 32 / lanes, own = lane_number() / lanes;
    const long long warps = thread_count() / 32;
    for (long long base = thread_number() / 32 * at_a_time; base < count; base += warps * at_a_time) {
        Piece piece{0, 0, 0};
        Word word = 0;
        if (base + own < count) {
            piece = pieces[base + own];
            word = s.frontier[piece.vertex] & searches;
            if (PULLS && word == 0) piece.length = 0;
        }
        for (I i = lane_number() % lanes; __any_sync(WARP, i < piece.length); i += lanes) {
            bool first = false;
            Piece row{0, 0, 0};
            if (i < piece.length) {
                const I x = indices[piece.start + i];
                const Word seen = s.visited[x];  // which may be old, and then it lets more through to the atomic
                row = {x, indptr[x], 0};
                row.length = indptr[x + 1] - row.start;
                Word fresh = word & ~seen;
                if (fresh != 0) fresh &= ~atomicOr(s.visited + x, fresh);
                if (fresh != 0) {
                    live |= fresh;
                    first = row.length > 0 && atomicOr(s.next + x, fresh) == 0;
                    if (s.number != 0) {
                        note(s, x, fresh);
                    } else {
                        for (Word bits = fresh; bits != 0; bits &= bits - 1)
                            s.level[(__ffsll(bits) - 1) * s.n + x] = s.k + 1;
                    }
                }
            }
            if (PULLS) continue;
            if (first) edges += (unsigned int)row.length;
            list.add_where(first, row, block, false);
        }
    }
}

// The same before a pull, of the searches that are behind. Returns those that have found something.
__device__ __noinline__ Word push_behind(const Step& s, const I* indptr, const I* indices, const Piece* pieces,
                                         long long count, Word behind, int lanes, Gathered& block) {
    unsigned int edges = 0;
    Word live = 0;
    push_pieces<true>(s, indptr, indices, pieces, count, behind, lanes, List{}, block, edges, live);
    return live;
}

// The searches that are behind: the others are pulled. All of the grid's threads take part, and get the same.
__device__ __noinline__ Word searches_behind(SearchesControl* control, int here, const Word* frontier,
                                             const Word* visited, const I* in_indices, long long nnz, Word live) {
    unsigned int* const hits = control->hits[here];
    for (int i = (int)thread_number(); i < SAMPLED; i += (int)thread_count()) {
        const I u = in_indices[(long long)((double)nnz / SAMPLED * i)];
        const Word word[2] = {frontier[u], visited[u]};
#pragma unroll
        for (int part = 0; part < 4; ++part) {  // lane j counts searches j and j + 32
            const unsigned int half = (unsigned int)(word[part / 2] >> 32 * (part % 2));
            unsigned int own = 0;
#pragma unroll
            for (int j = 0; j < 32; ++j) {
                const unsigned int lanes = __ballot_sync(WARP, half >> j & 1);
                if (lane_number() == j) own = lanes;
            }
            if (own != 0) atomicAdd(hits + 32 * part + lane_number(), (unsigned int)__popc(own));
        }
    }
    grid_barrier(&control->arrived);
    Word behind = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int j = 32 * half + lane_number();
        const bool is_behind = now(hits + j) < BEHIND && now(hits + 64 + j) < EARLY;
        behind |= (Word)__ballot_sync(WARP, is_behind) << 32 * half;
    }
    behind &= live;
    return behind == live ? 0 : behind;
}

// Look through the pieces of long columns, all warps. Those of a column follow each other in a warp, for the first may
// find all.
__device__ __forceinline__ void pull_pieces(const Step& s, const I* indices, const Piece* pieces, long long count,
                                            Word wanted, unsigned int& found, Word& live) {
    constexpr int AT_ONCE = LONG / 32, FIRST = 2;
    const long long warps = thread_count() / 32, each = (count + warps - 1) / warps, begin = thread_number() / 32 * each;
    const long long end = begin + each < count ? begin + each : count;
    for (long long first = begin; first < end; first += 32) {
        Piece piece{0, 0, 0};
        Word want = 0;
        if (first + lane_number() < end) {
            piece = pieces[first + lane_number()];
            want = wanted & ~now(s.visited + piece.vertex);
        }
        I vertex = -1;
        Word known = 0;  // of it
        for (unsigned int left = __ballot_sync(WARP, want != 0); left != 0; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            const I v = from_lane(piece.vertex, owner), start = from_lane(piece.start, owner);
            const I length = from_lane(piece.length, owner);
            if (v != vertex) known = 0;
            vertex = v;
            const Word rest = from_lane(want, owner) & ~known;
            if (rest == 0) continue;
            const auto look = [&](int from, int to) {
                Word own = 0;
#pragma unroll
                for (int j = from; j < to; ++j) {
                    const I e = 32 * j + lane_number();
                    if (e < length) own |= s.frontier[indices[start + e]];
                }
#pragma unroll
                for (int distance = 16; distance > 0; distance /= 2) own |= __shfl_xor_sync(WARP, own, distance);
                known |= own;
            };
            look(0, FIRST);
            if ((rest & ~known) != 0) look(FIRST, AT_ONCE);
            Word fresh = known & rest;
            if (lane_number() == 0 && fresh != 0) {
                fresh &= ~atomicOr(s.visited + v, fresh);
                if (fresh != 0) {
                    live |= fresh;
                    found += atomicOr(s.next + v, fresh) == 0;
                    note(s, v, fresh);
                }
            }
        }
    }
}

// Look through the rows of a warp until each has what it wants, eight lanes for a row. All of the warp take part.
__device__ __forceinline__ void pull_rows(const Word* frontier, const I* indices, Row* rows, int count) {
    constexpr int LANES = 8, AT_ONCE = 4;
    const int own = lane_number() % LANES;
    int row = -1, next = lane_number() / LANES;
    Word missing = 0, got = 0;
    I at = 0, end = 0;
    while (true) {
        if (at >= end || (missing & ~got) == 0) {
            if (row >= 0 && own == 0) rows[row].want = got;
            row = next < count ? next : -1;
            next += 32 / LANES;
            missing = row >= 0 ? rows[row].want : 0;
            at = row >= 0 ? rows[row].at : 0;
            end = row >= 0 ? rows[row].end : 0;
            got = 0;
        }
        if (!__any_sync(WARP, row >= 0)) return;
        __syncwarp();  // a row is read by all of its lanes before the first of them writes there
        Word word = 0;
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            const I place = at + LANES * j + own;
            if (place < end) word |= frontier[indices[place]];
        }
#pragma unroll
        for (int distance = LANES / 2; distance > 0; distance /= 2) word |= __shfl_xor_sync(WARP, word, distance);
        got |= word;
        at += LANES * AT_ONCE;
    }
}

// Let every vertex look for the searches of the step that have not been there. before: words that become zero.
// pushed: may `next` have something already?  dealt: DEALERS zeros. A warp that is done takes the next vertices. Those
// with few ones in their numbers have the longest columns of an R-MAT graph, and a power of two would deal them alike.
__device__ __forceinline__ void pull_words(const Step& s, const I* indptr, const I* indices, Word wanted, Word* before,
                                           bool pushed, unsigned int* dealt, Row* rows, unsigned int& found, Word& live) {
    constexpr int AT_ONCE = 4;
    rows += threadIdx.x / 32 * 32;
    const int warps = (int)(thread_count() / 32), dealers = warps < DEALERS ? warps : DEALERS;
    const int dealer = (int)(thread_number() / 32) % dealers;
    unsigned int ticket = lane_number() == 0 ? atomicAdd(dealt + dealer, 1u) : 0;
    const auto taken = [&] { return 32 * ((long long)from_lane(ticket, 0) * dealers + dealer); };
    for (long long first = taken(); first < s.n; first = taken()) {
        if (lane_number() == 0) ticket = atomicAdd(dealt + dealer, 1u);  // which is not waited for
        const long long v = first + lane_number();
        Word seen = 0, want = 0, got = 0;
        I e = 0, end = 0;
        if (v < s.n) {
            before[v] = 0;
            seen = s.visited[v];
            want = wanted & ~seen;
        }
        if (want != 0) {
            e = indptr[v];
            end = indptr[v + 1];
            if (end - e > LONG) e = end;
#pragma unroll
            for (int j = 0; j < AT_ONCE; ++j)
                if (e + j < end) got |= s.frontier[indices[e + j]];
            e += AT_ONCE;
        }
        const bool more = (want & ~got) != 0 && e < end;
        const unsigned int some = __ballot_sync(WARP, more);
        if (some != 0) {
            Row* const row = rows + __popc(some & lanes_below());
            if (more) *row = {want & ~got, e, end};
            __syncwarp();
            pull_rows(s.frontier, indices, rows, __popc(some));
            __syncwarp();
            if (more) got |= row->want;
            __syncwarp();
        }
        const Word fresh = got & want;
        if (fresh == 0) continue;
        s.visited[v] = seen | fresh;
        s.next[v] = pushed ? s.next[v] | fresh : fresh;
#pragma unroll
        for (int digit = 0; digit < DEPTH; ++digit)
            if (s.number >> digit & 1) s.digits[digit * s.n + v] |= fresh;
        live |= fresh;
        ++found;
    }
}

// The lowest eight bits, each the lowest of four.
__device__ __forceinline__ unsigned int apart(unsigned int bits) {
    bits = (bits & 0xffu) | (bits & 0xf0u) << 12;
    bits = (bits & 0x000f000fu) | (bits & 0x000c000cu) << 6;
    bits = (bits & 0x03030303u) | (bits & 0x02020202u) << 3;
    return bits & 0x11111111u;
}

// Write the levels of so many vertices that stand side by side, by a thread. The others are in other threads.
template <int SIDE>
__device__ __forceinline__ void write_side_by_side(const int* level_of, long long n, int searches, const Word* visited,
                                                   Word* digits, bool noted, bool again, int* level) {
    constexpr int AT_ONCE = 8;  // searches
    for (long long v = SIDE * thread_number(); v < n; v += SIDE * thread_count()) {
        for (int half = 0; 32 * half < searches; ++half) {
            unsigned int digit[SIDE][DEPTH], written[SIDE];
#pragma unroll
            for (int c = 0; c < SIDE; ++c) {
                unsigned int known = 0;
#pragma unroll
                for (int i = 0; i < DEPTH; ++i) {
                    digit[c][i] = noted ? (unsigned int)(digits[i * n + v + c] >> 32 * half) : 0;
                    known |= digit[c][i];
                }
                written[c] = (unsigned int)(visited[v + c] >> 32 * half) & ~known;
            }
            for (int first = 32 * half; first < 32 * half + 32 && first < searches; first += AT_ONCE) {
                unsigned int numbers[SIDE], any = 0;
#pragma unroll
                for (int c = 0; c < SIDE; ++c) {
                    numbers[c] = 0;
#pragma unroll
                    for (int i = 0; i < DEPTH; ++i) {
                        numbers[c] |= apart(digit[c][i]) << i;
                        digit[c][i] >>= AT_ONCE;
                    }
                    any |= written[c];
                }
                int* const row = level + first * n + v;
                if ((any & 0xffu) == 0 && first + AT_ONCE <= searches) {
#pragma unroll
                    for (int j = 0; j < AT_ONCE; ++j) {
                        int found[SIDE];
#pragma unroll
                        for (int c = 0; c < SIDE; ++c) found[c] = level_of[numbers[c] >> 4 * j & NOTABLE];
                        if constexpr (SIDE == 4)
                            __stcs(reinterpret_cast<int4*>(row + j * n), make_int4(found[0], found[1], found[2], found[3]));
                        else __stcs(row + j * n, found[0]);
                    }
                } else {
                    for (int j = 0; j < AT_ONCE && first + j < searches; ++j)
#pragma unroll
                        for (int c = 0; c < SIDE; ++c)
                            if (!(written[c] >> j & 1)) row[j * n + c] = level_of[numbers[c] >> 4 * j & NOTABLE];
                }
#pragma unroll
                for (int c = 0; c < SIDE; ++c) written[c] >>= AT_ONCE;
            }
        }
        for (int i = 0; again && i < DEPTH; ++i)
            for (int c = 0; c < SIDE; ++c) digits[i * n + v + c] = 0;
    }
}

// Write the levels that are noted, and -1 where no search has been. again: are there more steps to come?
__device__ __noinline__ void write_levels(const SearchesControl* control, long long n, int searches, const Word* visited,
                                          Word* digits, bool noted, bool again, int* level) {
    __shared__ int level_of[NOTABLE + 1];
    if (threadIdx.x <= NOTABLE) level_of[threadIdx.x] = threadIdx.x == 0 ? -1 : now(control->level_of + threadIdx.x);
    __syncthreads();
    if (n % 4 == 0 && reinterpret_cast<unsigned long long>(level) % 16 == 0)
        write_side_by_side<4>(level_of, n, searches, visited, digits, noted, again, level);
    else write_side_by_side<1>(level_of, n, searches, visited, digits, noted, again, level);
    __syncthreads();
}

// control: zeros before the first launch.  columns: pieces of long ones, and how many.  searches: up to 64.  lanes: of a
// warp that share a piece.  capacity: of each of three lists.  choice: 0 by Beamer's rule, 1 push, 2 pull.  deepest: the
// last level, or -1.  in_indptr, in_indices, columns, column_count, digits: null if nothing is pulled.
extern "C" __global__ void __launch_bounds__(SEARCHES_THREADS, SEARCHES_BLOCKS)
    searches(SearchesControl* control, const I* indptr, const I* indices, const I* in_indptr, const I* in_indices,
             const Piece* columns, const unsigned long long* column_count, long long n, long long nnz, int searches,
             int lanes, const long long* sources, const bool* outside, Word* visited, Word* words, Word* digits,
             Piece* lists, long long capacity, int* level, int choice, double alpha, double beta, int deepest,
             unsigned long long last_step) {
    __shared__ Gathered block;
    unsigned long long step = control->steps, pulls = 0, noted = control->noted;
    long long before = (long long)control->before;
    bool pulling = control->pulling != 0, listed = control->listed != 0, done = false;
    if (control->begun == 0) {
        clear_state(n, searches, outside, visited, words, digits, level);
        grid_barrier(&control->arrived);
        place_sources(control, indptr, n, searches, sources, visited, words, lists, level);
        grid_barrier(&control->arrived);
        listed = true;
    }
    for (; step < last_step; ++step) {
        const int here = (int)(step % 3), there = (int)((step + 1) % 3), past = (int)((step + 2) % 3);
        const Word live_now = now(control->live + here);
        done = live_now == 0 || (long long)step == deepest;
        if (done) break;
        if (thread_number() == 0) {
            control->queue[past] = control->again[past] = 0;
            control->found[past] = 0;
            control->live[past] = 0;
            control->unlisted[past] = 0;
        }
        for (int i = (int)thread_number(); i < 128; i += (int)thread_count()) control->hits[past][i] = 0;
        for (int i = (int)thread_number(); i < DEALERS; i += (int)thread_count()) control->dealt[past][i] = 0;
        block.clear();
        Word* const frontier = words + here * n;
        Word* const gone = words + past * n;
        const List next{lists + there * capacity, control->queue + there};
        const bool pushed = !pulling;
        unsigned long long queued = now(control->queue + here);
        const auto many = [=](unsigned long long q) { return choice == 0 && (q >> 32) * alpha > (double)nnz; };
        pulling = choice == 2 || (pulling ? now(control->found + here) * beta > (double)n : many(queued));
        bool whole = now(control->unlisted + here) == 0, known = pushed && whole;  // is the frontier listed?
        const auto list_again = [&](Word searches) {
            const List list{lists + here * capacity, control->again + here};
            const unsigned int edges = list_found(indptr, n, frontier, searches, list, block);
            hand_over(block, list, edges, 0, 0, nullptr, nullptr, nullptr);
            grid_barrier(&control->arrived);
            block.clear();
            queued = now(control->again + here);
            known = true;
        };
        if (!pulling && !known) {
            list_again(~(Word)0);
            pulling = many(queued);
            whole = true;
        }
        Word behind = 0;
        if (pulling && choice == 0)
            behind = searches_behind(control, here, frontier, visited, in_indices, nnz, live_now);
        if (behind != 0 && !known) list_again(behind);
        const long long count = (long long)(queued & 0xffffffffu);
        if (pulling && noted == NOTABLE) {
            write_levels(control, n, searches, visited, digits, true, true, level);
            noted = 0;
            grid_barrier(&control->arrived);
        }
        const bool notes = digits != nullptr && (pulling || noted < NOTED_BY_PUSHES);
        if (notes) ++noted;
        const int number = notes ? (int)noted : 0;
        if (notes && thread_number() == 0) control->level_of[number] = (int)step + 1;
        const Step s{n, frontier, words + there * n, visited, digits, level, (int)step, number};
        unsigned int edges = 0, found = 0;
        Word live = 0;
        if (pulling) {
            ++pulls;
            if (behind != 0) {
                live = push_behind(s, indptr, indices, lists + here * capacity, count, behind, lanes, block);
                grid_barrier(&control->arrived);
            }
            const Word wanted = live_now & ~behind;
            pull_pieces(s, in_indices, columns, (long long)*column_count, wanted, found, live);
            pull_words(s, in_indptr, in_indices, wanted, gone, behind != 0, control->dealt[here], block.rows, found, live);
        } else {
            if (listed) {
                const Piece* const list = lists + past * capacity;
                for (long long i = thread_number(); i < before; i += thread_count()) gone[list[i].vertex] = 0;
            } else {
                for (long long v = thread_number(); v < n; v += thread_count()) gone[v] = 0;
            }
            push_pieces<false>(s, indptr, indices, lists + here * capacity, count, ~(Word)0, lanes, next, block, edges,
                               live);
        }
        listed = pushed && whole;  // one that was pulled may have vertices without edges, which are not listed
        before = count;
        hand_over(block, next, edges, found, live, control->found + there, control->live + there,
                  control->unlisted + there);
        grid_barrier(&control->arrived);
    }
    if (done) write_levels(control, n, searches, visited, digits, noted != 0, false, level);
    if (thread_number() == 0) {
        control->done = done;
        control->begun = 1;
        control->steps = step;
        control->pulls += pulls;
        control->pulling = pulling;
        control->noted = noted;
        control->listed = listed;
        control->before = before;
    }
}
