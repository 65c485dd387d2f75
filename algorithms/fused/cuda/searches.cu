// Breadth-first searches from up to 64 sources in one kernel: a word for each vertex, with a bit for each search [1, 2].
//
//     level⟨F⟩ = k,   F' = (F A)⟨¬visited⟩                  F, visited: a row of 64 bits for each vertex
//
// push    what the frontier's vertices have is offered along their edges. The frontier is a list, so that a step costs
//         its edges, however many vertices there are. Rows are cut into pieces of PIECE edges. A block gathers what it
//         lists in shared memory, and one atomic lists it. A step that finds more than a block holds is not listed:
//         the next push makes its list from the words.
// planes  Other steps cost the vertices, too: they leave what was visited before them as it is, and write what is visited
//         after them, V' = V ∨ F', elsewhere. Nobody has to remember a step for each bit, or what the frontier was:
//             level k: in V', not in V         F = V ∧ ¬V_before
//         A vertex that has not been seen by a search has no predecessor that it saw before the last step, so F A and V A
//         have the same new bits: all that such a step reads elsewhere is V.
// offers  A push of many edges waits for no answer: V' is V before, and an atomic for each edge puts bits into it.
// pull    every vertex that some search of the step may still reach looks through its predecessors, until it has all of
//         those searches: the first of them by its own thread, the others by eight lanes.
// both    A search that is behind the others has a small frontier, which few vertices find: nearly all would look through
//         all their predecessors for it. So its part of the frontier is offered, before the others are pulled. Which
//         searches are behind, some of the edges tell: few of them come from its frontier, and few from what it has seen.
// levels  are written from the planes, a row of the answer after another, once they are all in use or a push follows. A
//         push writes its own: a graph of many levels has few vertices in each.
//
// Words of a listed frontier, of the next, and of the one before, which is cleared meanwhile, take turns; so do the lists.
//
// [1] M. Then et al., The more the merrier: efficient multi-source graph traversal, VLDB 2015.
// [2] H. Liu, H. H. Huang, Y. Hu, iBFS: concurrent breadth-first search on GPUs, SIGMOD 2016.

using Word = unsigned long long;

constexpr int HELD_PIECES = 1024;                        // that a block gathers
constexpr int SAMPLED_EDGES = 1024;                      // that tell how far the searches are
// A search is behind if fewer edges of the sample come from its frontier, and from what it has seen.
constexpr int BEHIND_EDGES = SAMPLED_EDGES / 64, EARLY_EDGES = SAMPLED_EDGES / 4;
constexpr int OFFER_FACTOR = 8;                          // edges are offered if there are more than one in so many vertices
constexpr int MAX_WARP_PIECES = 1 << 13;                 // up to which a warp looks at one
constexpr int PULLS_PER_THREAD = 1024 / SEARCHES_THREADS;  // vertices that a thread looks at, before it looks for any
constexpr int VERTICES_PER_LANE = 4;                     // in other passes over all
constexpr long long ALL_WORDS = -1;                      // of a frontier without a list

// Where a frontier is: in words and in a list, in words alone, or it is what the last plane has more.
constexpr unsigned long long LISTED = 0, UNLISTED = 1, IN_PLANES = 2;

// A vertex, or ~vertex if it has found something in the step; what it has seen; its edges that are still to be looked at.
struct Row {
    Word seen;
    I vertex, at, end;
};

// A block gathers this in a step.
struct Gathered {
    union {
        RowPiece held[HELD_PIECES];                     // of a push
        Row rows[SEARCHES_THREADS * PULLS_PER_THREAD];  // of a pull, so many for each warp
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
    RowPiece* pieces;
    unsigned long long* counter;

    // List the rows of some of the lanes, or `all`, even those that the block cannot hold. All of the warp take part.
    __device__ __forceinline__ void add_where(bool wanted, const RowPiece& row, Gathered& block, bool all) const {
        const unsigned int some = __ballot_sync(WARP, wanted);
        if (some == 0) return;
        if (!all && from_lane(*(volatile unsigned int*)&block.count, 0) > HELD_PIECES) return;
        const bool one = wanted && row.length <= PIECE;
        const unsigned int ones = __ballot_sync(WARP, one);
        unsigned int base = 0;
        if (lane_number() == 0 && ones != 0) base = atomicAdd(&block.count, (unsigned int)__popc(ones));
        base = from_lane(base, 0) + __popc(ones & lanes_below());
        if (one && base < HELD_PIECES) block.held[base] = row;
        const unsigned int over = __ballot_sync(WARP, one && base >= HELD_PIECES);
        if (all && over != 0) {
            const unsigned long long at = (places_for(__popc(over), counter) & 0xffffffffu) + __popc(over & lanes_below());
            if (one && base >= HELD_PIECES) pieces[at] = row;
        }
        if ((some & ~ones) == 0) return;
        const unsigned int pieces_of = wanted && !one ? (unsigned int)(row.length - 1) / PIECE + 1 : 0;
        const unsigned int upto = sum_up_to_lane(pieces_of);
        unsigned long long first = 0;
        if (lane_number() == 31) first = atomicAdd(counter, (unsigned long long)upto);
        first = (from_lane(first, 31) & 0xffffffffu) + upto - pieces_of;
        for (unsigned int left = some & ~ones; left != 0; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            const I vertex = from_lane(row.vertex, owner), start = from_lane(row.start, owner);
            const I length = from_lane(row.length, owner), count = (length - 1) / PIECE + 1;
            const unsigned long long at = from_lane(first, owner);
            for (I i = lane_number(); i < count; i += 32) pieces[at + i] = piece_of<PIECE>(vertex, start, length, i);
        }
    }
};

// Give what all threads of a block have gathered to the grid's counters, and what the block holds to the list.
__device__ __forceinline__ void hand_over(Gathered& block, const List& list, unsigned int edges, unsigned int found,
                                          Word live, unsigned long long* found_by_all, Word* live_of_all,
                                          unsigned int* unlisted) {
    edges = sum_of_warp(edges);
    found = sum_of_warp(found);
    live = bits_of_lanes(live);
    if (lane_number() == 0) {
        if (edges > 0) atomicAdd(&block.edges, edges);
        if (found > 0) atomicAdd(&block.found, found);
        if (live != 0) atomicOr(&block.live, live);
    }
    __syncthreads();
    const unsigned int kept = block.count < HELD_PIECES ? block.count : HELD_PIECES;
    if (threadIdx.x == 0) {
        const unsigned long long sum = (unsigned long long)block.edges << 32 | kept;
        if (sum != 0) block.base = (unsigned int)atomicAdd(list.counter, sum);
        if (block.found > 0) atomicAdd(found_by_all, (unsigned long long)block.found);
        if (block.live != 0) atomicOr(live_of_all, block.live);
        if (unlisted != nullptr && block.count > HELD_PIECES) *unlisted = 1;
    }
    __syncthreads();
    for (unsigned int i = threadIdx.x; i < kept; i += blockDim.x) list.pieces[block.base + i] = block.held[i];
}

// Put the sources into the first frontier, a warp for each.
__device__ __forceinline__ void place_sources(SearchesControl* control, const I* indptr, long long n, int searches,
                                              Word* visited, Word* words, RowPiece* pieces, int* level) {
    for (int j = (int)(thread_number() / 32); j < searches; j += (int)(thread_count() / 32)) {
        const long long s = control->sources[j];
        const Word bit = (Word)1 << j;
        const I start = indptr[s], length = indptr[s + 1] - start, count = (length + PIECE - 1) / PIECE;
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
        for (I i = lane_number(); i < count; i += 32) pieces[at + i] = piece_of<PIECE>((I)s, start, length, i);
    }
}

// The numbers of VERTICES_PER_LANE vertices of each lane, one warp's side by side; the warps of the grid take turns.
__device__ __forceinline__ long long first_passed() { return (thread_number() - lane_number()) * VERTICES_PER_LANE + lane_number(); }

// A frontier of all vertices: words, but for what they had before, if there is such.
struct Frontier {
    const Word *words, *had;
    __device__ __forceinline__ Word operator[](long long v) const { return words[v] & ~(had == nullptr ? 0 : had[v]); }
};

// List the vertices of a frontier that has no list, where they have one of these searches. kept: gets what is listed of
// the frontier, or null.  copy: gets its words, or null.
__device__ __noinline__ unsigned int list_found(const I* indptr, long long n, const Frontier& frontier, Word searches,
                                                Word* kept, Word* copy, const List& list, Gathered& block) {
    unsigned int edges = 0;
    for (long long first = first_passed(); first - lane_number() < n; first += thread_count() * VERTICES_PER_LANE) {
        Word word[VERTICES_PER_LANE], had[VERTICES_PER_LANE];
        UNROLLED(i, VERTICES_PER_LANE) {
            const long long v = first + 32 * i;
            word[i] = v < n ? frontier.words[v] : 0;
            had[i] = v < n && frontier.had != nullptr ? frontier.had[v] : 0;
        }
        UNROLLED(i, VERTICES_PER_LANE) {
            const long long v = first + 32 * i;
            if (copy != nullptr && v < n) copy[v] = word[i];
            word[i] &= ~had[i];
            RowPiece row{(I)v, 0, 0};
            if ((word[i] & searches) != 0) {
                row.start = indptr[v];
                row.length = indptr[v + 1] - row.start;
                if (kept != nullptr && row.length > 0) kept[v] = word[i];
            }
            edges += (unsigned int)row.length;
            list.add_where(row.length > 0, row, block, true);
        }
    }
    return edges;
}

// A step reads and writes this, in shared memory: registers are for what threads have of their own. frontier, next: words
// of a push.  seen: what is visited.  fresh: what is, after it, if it has a plane.  dealt: DEALERS zeros.  wanted: searches
// that are pulled.  behind: those that are offered.  outside: (n,) where no search goes, or null.
struct Step {
    long long n;
    const I* indptr;
    const J* indices;
    const I* in_indptr;
    const J* in_indices;
    const Word* frontier;
    Word *next, *seen, *fresh;
    const bool* outside;
    int* level;
    unsigned int* dealt;
    Word wanted, behind;
    int k;
};

__shared__ Step s;
__shared__ Gathered block;

// An array of the device's memory: the compiler cannot know of a pointer that it finds in shared memory.
template <class V> __device__ __forceinline__ V* global(V* array) {
    __builtin_assume(__isGlobal(array));
    return array;
}

__device__ __forceinline__ bool is_outside(long long v) { return s.outside != nullptr && global(s.outside)[v]; }

// A thread has found this in a step.
struct Found {
    Word live;
    unsigned int edges, vertices;
};

// Offer what the listed vertices have along their edges, so many lanes for each piece, and list what is found.
__device__ __noinline__ Found push_pieces(const RowPiece* pieces, long long count, int lanes, const List& list) {
    Found own{0, 0, 0};
    const int at_a_time = 32 / lanes, part = lane_number() / lanes;
    const long long warps = thread_count() / 32;
    for (long long base = thread_number() / 32 * at_a_time; base < count; base += warps * at_a_time) {
        RowPiece piece{0, 0, 0};
        Word word = 0;
        if (base + part < count) {
            piece = pieces[base + part];
            word = global(s.frontier)[piece.vertex];
        }
        for (I i = lane_number() % lanes; __any_sync(WARP, i < piece.length); i += lanes) {
            bool first = false;
            RowPiece row{0, 0, 0};
            if (i < piece.length) {
                const I x = global(s.indices)[piece.start + i];
                const Word seen = global(s.seen)[x];  // which may be old, and then it lets more through to the atomic
                row = {x, global(s.indptr)[x], 0};
                row.length = global(s.indptr)[x + 1] - row.start;
                Word fresh = is_outside(x) ? 0 : word & ~seen;
                if (fresh != 0) fresh &= ~atomicOr(global(s.seen) + x, fresh);
                if (fresh != 0) {
                    own.live |= fresh;
                    first = row.length > 0 && atomicOr(global(s.next) + x, fresh) == 0;
                    for (Word bits = fresh; bits != 0; bits &= bits - 1)
                        global(s.level)[(__ffsll(bits) - 1) * s.n + x] = s.k + 1;
                }
            }
            if (first) own.edges += (unsigned int)row.length;
            list.add_where(first, row, block, false);
        }
    }
    return own;
}

// Put what the listed vertices have of some searches into the next plane, where their edges lead to.
__device__ __noinline__ void offer_pieces(const RowPiece* pieces, long long count, Word searches, int lanes) {
    const int at_a_time = 32 / lanes, own = lane_number() / lanes;
    for (long long at = thread_number() / 32 * at_a_time + own; at < count; at += thread_count() / 32 * at_a_time) {
        const RowPiece piece = pieces[at];
        const Word word = global(s.seen)[piece.vertex] & searches;
        if (word == 0) continue;
#pragma unroll 4
        for (I i = lane_number() % lanes; i < piece.length; i += lanes) {
            const I x = global(s.indices)[piece.start + i];
            if (!is_outside(x)) atomicOr(global(s.fresh) + x, word);
        }
    }
}

// Finds what vertices have been offered that is new. A plane that was zeros gets what it lacks.
__device__ __noinline__ Found look_at_offers() {
    Found own{0, 0, 0};
    for (long long first = first_passed(); first - lane_number() < s.n; first += thread_count() * VERTICES_PER_LANE) {
        Word fresh[VERTICES_PER_LANE], had[VERTICES_PER_LANE];
        UNROLLED(i, VERTICES_PER_LANE) {
            const long long v = first + 32 * i;
            fresh[i] = v < s.n ? global(s.fresh)[v] : 0;
            had[i] = v < s.n ? global(s.seen)[v] : 0;
        }
        UNROLLED(i, VERTICES_PER_LANE) {
            const long long v = first + 32 * i;
            const Word found = fresh[i] & ~had[i];
            if ((had[i] & ~fresh[i]) != 0) global(s.fresh)[v] = had[i] | found;
            if (found == 0) continue;
            own.live |= found;
            own.edges += (unsigned int)(global(s.indptr)[v + 1] - global(s.indptr)[v]);
        }
    }
    return own;
}

// The searches that are behind: the others are pulled. All of the grid's threads take part, and get the same.
__device__ __noinline__ Word searches_behind(SearchesControl* control, int here, const Frontier& frontier,
                                             const Word* visited, const J* in_indices, long long nnz, Word live) {
    unsigned int* const hits = control->hits[here];
    for (int i = (int)thread_number(); i < SAMPLED_EDGES; i += (int)thread_count()) {
        const I u = in_indices[(long long)((double)nnz / SAMPLED_EDGES * i)];
        const Word word[2] = {frontier[u], visited[u]};
        UNROLLED(part, 4) {  // lane j counts searches j and j + 32
            const unsigned int half = (unsigned int)(word[part / 2] >> 32 * (part % 2));
            unsigned int own = 0;
            UNROLLED(j, 32) {
                const unsigned int lanes = __ballot_sync(WARP, half >> j & 1);
                if (lane_number() == j) own = lanes;
            }
            if (own != 0) atomicAdd(hits + 32 * part + lane_number(), (unsigned int)__popc(own));
        }
    }
    grid_barrier(&control->arrived);
    Word behind = 0;
    UNROLLED(half, 2) {
        const int j = 32 * half + lane_number();
        const bool is_behind = now(hits + j) < BEHIND_EDGES && now(hits + 64 + j) < EARLY_EDGES;
        behind |= (Word)__ballot_sync(WARP, is_behind) << 32 * half;
    }
    behind &= live;
    return behind == live ? 0 : behind;
}

// Look through the pieces of long columns, all warps. Those of a column follow each other in a warp, for the first may
// find all.
__device__ __noinline__ Found pull_pieces(const RowPiece* pieces, long long count) {
    Found found{0, 0, 0};
    constexpr int PER_LANE = LONG / 32, FIRST = 2;
    const long long warps = thread_count() / 32, each = (count + warps - 1) / warps, begin = thread_number() / 32 * each;
    const long long end = begin + each < count ? begin + each : count;
    for (long long first = begin; first < end; first += 32) {
        RowPiece piece{0, 0, 0};
        Word want = 0;
        if (first + lane_number() < end) {
            piece = pieces[first + lane_number()];
            want = is_outside(piece.vertex) ? 0 : s.wanted & ~now(global(s.fresh) + piece.vertex);
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
                    if (e < length) own |= global(s.seen)[global(s.in_indices)[start + e]];
                }
                known |= bits_of_lanes(own);
            };
            look(0, FIRST);
            if ((rest & ~known) != 0) look(FIRST, PER_LANE);
            Word fresh = known & rest;
            if (lane_number() == 0 && fresh != 0) {
                const Word had = atomicOr(global(s.fresh) + v, fresh);
                found.live |= fresh & ~had;
                found.vertices += had == global(s.seen)[v];
            }
        }
    }
    return found;
}

// The searches that have seen any of so many predecessors, of places from `at` on, `apart` from each other.
template <int COUNT> __device__ __forceinline__ Word seen_there(I at, I apart, I end) {
    I u[COUNT];
    UNROLLED(j, COUNT) u[j] = end - at > j * apart ? global(s.in_indices)[at + j * apart] : -1;
    Word word = 0;
    UNROLLED(j, COUNT)
        if (u[j] >= 0) word |= global(s.seen)[u[j]];
    return word;
}

// A vertex has got some searches: its word after the step, unless it goes on looking.
__device__ __forceinline__ void take(Row& row, Word got, bool ends, Found& found) {
    found.live |= got;
    if (got != 0 && row.vertex >= 0) {
        ++found.vertices;
        row.vertex = ~row.vertex;
    }
    row.seen |= got;
    if (ends) global(s.fresh)[row.vertex < 0 ? ~row.vertex : row.vertex] = row.seen;
}

// Look through the rows of a warp until each has what it wants, eight lanes for a row. All of the warp take part.
__device__ __forceinline__ void pull_rows(const Row* rows, int count, Found& found) {
    constexpr int LANES = 8, PER_LANE = 4;
    const int own = lane_number() % LANES;
    int next = lane_number() / LANES;
    bool has = false;
    Row row{0, 0, 0, 0};
    Word got = 0, missing = 0;
    while (true) {
        if (row.at >= row.end || (missing & ~got) == 0) {
            if (has && own == 0) take(row, got & missing, true, found);
            has = next < count;
            row = has ? rows[next] : Row{0, 0, 0, 0};
            missing = has ? s.wanted & ~row.seen : 0;
            got = 0;
            next += 32 / LANES;
        }
        if (!__any_sync(WARP, has)) return;
        const Word word = row.end - row.at > own ? seen_there<PER_LANE>(row.at + own, LANES, row.end) : 0;
        got |= bits_of_lanes<LANES>(word);
        row.at = row.end - row.at > LANES * PER_LANE ? row.at + LANES * PER_LANE : row.end;
    }
}

// Let every vertex look for the searches of the step that have not been there. A warp that is done takes the next
// vertices: those of their rows that look for something are put together, and again those that go on after the first
// predecessors. Vertices with few ones in their numbers have the longest columns of an R-MAT graph, and a power of two
// would deal them alike.
__device__ __noinline__ Found pull_words() {
    constexpr int PER_LANE = 2, TAKEN_VERTICES = 32 * PULLS_PER_THREAD;
    Found found{0, 0, 0};
    Row* const rows = block.rows + threadIdx.x / 32 * TAKEN_VERTICES;
    const unsigned int warps = (unsigned int)(thread_count() / 32), dealers = warps < DEALERS ? warps : DEALERS;
    const unsigned int dealer = (unsigned int)(thread_number() / 32) % dealers;
    const auto ask = [&] { return lane_number() == 0 ? atomicAdd(global(s.dealt) + dealer, 1u) : 0u; };
    unsigned int ticket = ask();
    while (true) {
        const long long first = TAKEN_VERTICES * (long long)(from_lane(ticket, 0) * dealers + dealer);
        if (first >= s.n) return found;
        ticket = ask();  // which is not waited for
        Word seen[PULLS_PER_THREAD], given[PULLS_PER_THREAD];
        I at[PULLS_PER_THREAD], end[PULLS_PER_THREAD];
        UNROLLED(i, PULLS_PER_THREAD) {
            const long long v = first + 32 * i + lane_number();
            const bool inside = v < s.n;
            seen[i] = inside ? global(s.seen)[v] : ~(Word)0;
            given[i] = inside && s.behind != 0 ? global(s.fresh)[v] & s.behind & ~seen[i] : 0;
            at[i] = inside ? global(s.in_indptr)[v] : 0;
            end[i] = inside ? global(s.in_indptr)[v + 1] : 0;
        }
        int count = 0;
        UNROLLED(i, PULLS_PER_THREAD) {
            const long long v = first + 32 * i + lane_number();
            const I length = end[i] - at[i];
            const bool looks = (s.wanted & ~seen[i]) != 0 && length > 0 && length <= LONG && !is_outside(v);
            found.live |= given[i];
            found.vertices += given[i] != 0;
            if (!looks && length <= LONG && s.behind == 0 && v < s.n) global(s.fresh)[v] = seen[i];
            const unsigned int some = __ballot_sync(WARP, looks);
            if (looks) {
                const I vertex = given[i] != 0 ? ~(I)v : (I)v;
                rows[count + __popc(some & lanes_below())] = {seen[i] | given[i], vertex, at[i], end[i]};
            }
            count += __popc(some);
        }
        __syncwarp();
        int left = 0;
        for (int base = 0; base < count; base += 32) {
            const bool has = base + lane_number() < count;
            Row row = has ? rows[base + lane_number()] : Row{~(Word)0, 0, 0, 0};
            const Word want = s.wanted & ~row.seen, got = seen_there<PER_LANE>(row.at, 1, row.end) & want;
            const bool more = got != want && row.end - row.at > PER_LANE;
            if (has) take(row, got, !more, found);
            const unsigned int some = __ballot_sync(WARP, more);
            __syncwarp();  // all have read their rows
            if (more) {
                row.at += PER_LANE;
                rows[left + __popc(some & lanes_below())] = row;
            }
            left += __popc(some);
        }
        __syncwarp();
        if (left > 0) pull_rows(rows, left, found);
        __syncwarp();
    }
}

// The lowest eight bits, each the lowest of four.
__device__ __forceinline__ unsigned int apart(unsigned int bits) {
    bits = (bits & 0xffu) | (bits & 0xf0u) << 12;
    bits = (bits & 0x000f000fu) | (bits & 0x000c000cu) << 6;
    bits = (bits & 0x03030303u) | (bits & 0x02020202u) << 3;
    return bits & 0x11111111u;
}

// Planes of which levels are written, and the levels that they mean.
struct Written {
    const Word* planes[PLANES];  // the last of them again, if there are fewer
    int level_of[PLANES + 1];    // of the first plane that has a bit, or PLANES if none does
};

// The words of vertices that stand side by side; four of them lie as two pairs.
template <int SIDE> __device__ __forceinline__ void read_words(const Word* from, Word* to) {
    if constexpr (SIDE == 4) {
        const ulonglong2* const pairs = reinterpret_cast<const ulonglong2*>(from);
        const ulonglong2 low = pairs[0], high = pairs[1];
        to[0] = low.x, to[1] = low.y, to[2] = high.x, to[3] = high.y;
    } else {
        to[0] = from[0];
    }
}

// Write the levels of so many vertices that stand side by side, by a thread. The others are in other threads. A plane has
// what those before it have, so the binary digits of a bit's first plane are sums of planes modulo two.
template <int SIDE>
__device__ __forceinline__ void write_side_by_side(const Written& by, long long n, int searches, bool again, int* level) {
    constexpr int PER_LANE = 8, DIGITS = 4;  // searches, and digits of a number
    static_assert(PLANES == 8);
    for (long long v = SIDE * thread_number(); v < n; v += SIDE * thread_count()) {
        Word plane[PLANES][SIDE], digit[SIDE][DIGITS], written[SIDE];
        UNROLLED(i, PLANES) read_words<SIDE>(global(by.planes[i]) + v, plane[i]);
        UNROLLED(c, SIDE) {
            digit[c][3] = ~plane[7][c];
            digit[c][2] = plane[3][c] ^ plane[7][c];
            digit[c][1] = plane[1][c] ^ plane[3][c] ^ plane[5][c] ^ plane[7][c];
            digit[c][0] = digit[c][1] ^ plane[0][c] ^ plane[2][c] ^ plane[4][c] ^ plane[6][c];
            written[c] = plane[0][c] | (again ? ~plane[7][c] : 0);
        }
        for (int first = 0; first < searches; first += PER_LANE) {
            unsigned int numbers[SIDE], any = 0;
            UNROLLED(c, SIDE) {
                numbers[c] = 0;
                UNROLLED(i, DIGITS) numbers[c] |= apart((unsigned int)(digit[c][i] >> first)) << i;
                any |= (unsigned int)(written[c] >> first);
            }
            int* const row = level + first * n + v;
            if ((any & 0xffu) == 0 && first + PER_LANE <= searches) {
                UNROLLED(j, PER_LANE) {
                    int found[SIDE];
                    UNROLLED(c, SIDE) found[c] = by.level_of[numbers[c] >> 4 * j & 15];
                    if constexpr (SIDE == 4)
                        __stcs(reinterpret_cast<int4*>(row + j * n), make_int4(found[0], found[1], found[2], found[3]));
                    else __stcs(row + j * n, found[0]);
                }
            } else {
                for (int j = 0; j < PER_LANE && first + j < searches; ++j)
                    UNROLLED(c, SIDE)
                        if (!(written[c] >> (first + j) & 1)) row[j * n + c] = by.level_of[numbers[c] >> 4 * j & 15];
            }
        }
    }
}

// Write the levels of what the planes have after the first, `count` of them, and -1 where no search has been, unless this
// is done `again`. k: the level of what the last of them has more.
__device__ __noinline__ void write_levels(long long n, int searches, const Word* planes, unsigned long long first,
                                          int count, bool again, int k, int* level) {
    __shared__ Written by;
    const int i = (int)threadIdx.x;
    if (i < PLANES) by.planes[i] = planes + (first + (i < count ? i : count)) % PLANES * n;
    if (i <= PLANES) by.level_of[i] = i == PLANES ? -1 : k - count + i;
    __syncthreads();
    if (n % 4 == 0 && reinterpret_cast<unsigned long long>(level) % 16 == 0)
        write_side_by_side<4>(by, n, searches, again, level);
    else write_side_by_side<1>(by, n, searches, again, level);
    __syncthreads();
}

// control: zeros before the first launch, but for the sources.  columns: pieces of long ones, and how many.  searches: up
// to 64.  state: words of three frontiers and, if anything is pulled, PLANES planes, else one, of n words each; before the
// first launch zeros up to the second plane.  capacity: of each of three lists.  choice: BY_RULE, push,
// or PULL.  deepest: the last level, or -1.  in_indptr, in_indices, columns, column_count: null if nothing is pulled.
extern "C" __global__ void __launch_bounds__(SEARCHES_THREADS, SEARCHES_BLOCKS)
    searches(SearchesControl* control, const I* indptr, const J* indices, const I* in_indptr, const J* in_indices,
             const RowPiece* columns, const unsigned long long* column_count, long long n, long long nnz, int searches,
             const bool* outside, Word* state, RowPiece* lists, long long capacity, int* level, int choice, double alpha,
             double beta, int deepest, unsigned long long last_step) {
    Word *const words = state, *const planes = state + 3 * n;
    const auto plane = [=](unsigned long long i) { return planes + i % PLANES * n; };
    unsigned long long step = control->steps, pulls = 0, first = control->first, last = control->last;
    unsigned long long where = control->frontier;
    long long before = control->before;
    bool pulling = control->pulling != 0, written = control->written != 0, done = false;
    if (control->begun == 0) {
        place_sources(control, indptr, n, searches, planes, words, lists, level);
        grid_barrier(&control->arrived);
    }
    const auto write = [&] { write_levels(n, searches, planes, first, (int)(last - first), written, (int)step, level); };
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
        if (where == LISTED && now(control->unlisted + here) != 0) where = UNLISTED;
        Word *const own = words + here * n, *const gone = words + past * n, *const seen = plane(last);
        const Frontier frontier{where == IN_PLANES ? seen : own, where == IN_PLANES ? plane(last - 1) : nullptr};
        const List next{lists + there * capacity, control->queue + there};
        unsigned long long queued = now(control->queue + here);
        bool known = where == LISTED;  // is the frontier listed, and in words?
        const auto many = [=](unsigned long long q) { return choice == BY_RULE && (q >> 32) * alpha > (double)nnz; };
        const auto list_again = [&](Word searches, Word* keep, Word* copy) {
            const List list{lists + here * capacity, control->again + here};
            const unsigned int edges = list_found(indptr, n, frontier, searches, keep, copy, list, block);
            hand_over(block, list, edges, 0, 0, nullptr, nullptr, nullptr);
            grid_barrier(&control->arrived);
            block.clear();
            queued = now(control->again + here);
        };
        pulling = choice == PULL || (pulling ? now(control->found + here) * beta > (double)n : many(queued));
        if (!pulling && !known) {
            list_again(~(Word)0, where == IN_PLANES ? own : nullptr, nullptr);
            known = true;
            pulling = many(queued);
        }
        const bool offers = in_indptr != nullptr && !written && OFFER_FACTOR * (queued >> 32) > (unsigned long long)n;
        const bool in_plane = pulling || offers;  // else what is visited changes in its place
        if (in_plane ? last - first == PLANES - 1 : last != first) {
            write();
            first = last;
            written = true;
            grid_barrier(&control->arrived);
        }
        Word* const fresh = in_plane ? plane(last + 1) : nullptr;
        Word behind = 0;
        if (pulling) {
            const long long pieces = (long long)*column_count;
            for (long long i = thread_number(); i < pieces; i += thread_count())
                fresh[columns[i].vertex] = seen[columns[i].vertex];
            if (choice == BY_RULE) behind = searches_behind(control, here, frontier, seen, in_indices, nnz, live_now);
            else grid_barrier(&control->arrived);
        }
        const bool offered = pulling ? behind != 0 : offers;
        if (offered && !known && where == IN_PLANES) {
            list_again(behind, nullptr, fresh);
        } else if (offered && (pulling || last > 0)) {  // the second plane is zeros at first
            for (long long v = thread_number(); v < n; v += thread_count()) fresh[v] = seen[v];
            if (!known) list_again(behind, nullptr, nullptr);
            else grid_barrier(&control->arrived);
        }
        const long long count = (long long)(queued & 0xffffffffu);
        const unsigned long long mean = (queued >> 32) / (unsigned long long)(count > 0 ? count : 1);
        const int lanes = count < MAX_WARP_PIECES || mean > 24 ? 32 : mean > 12 ? 16 : mean > 6 ? 8 : 4;  // that share a piece
        if (threadIdx.x == 0) {
            s = {n,    indptr, indices, in_indptr, in_indices, own, words + there * n, seen, fresh, outside,
                 level, control->dealt[here], live_now & ~behind, behind, (int)step};
        }
        __syncthreads();
        if (before == ALL_WORDS) {
            for (long long v = thread_number(); v < n; v += thread_count()) gone[v] = 0;
        } else {
            const RowPiece* const list = lists + past * capacity;
            for (long long i = thread_number(); i < before; i += thread_count()) gone[list[i].vertex] = 0;
        }
        if (offered) {
            offer_pieces(lists + here * capacity, count, pulling ? behind : ~(Word)0, lanes);
            grid_barrier(&control->arrived);
        }
        Found found{0, 0, 0};
        if (pulling) {
            ++pulls;
            const Found of_long = pull_pieces(columns, (long long)*column_count);
            found = pull_words();
            found.live |= of_long.live;
            found.vertices += of_long.vertices;
        } else if (offered) {
            found = look_at_offers();
        } else {
            found = push_pieces(lists + here * capacity, count, lanes, next);
        }
        before = known ? count : where == IN_PLANES ? 0 : ALL_WORDS;
        where = in_plane ? IN_PLANES : LISTED;
        if (in_plane) ++last;
        hand_over(block, next, found.edges, found.vertices, found.live, control->found + there, control->live + there,
                  control->unlisted + there);
        grid_barrier(&control->arrived);
    }
    if (done && (first != last || !written)) write();
    if (thread_number() == 0) {
        control->done = done;
        control->begun = 1;
        control->steps = step;
        control->pulls += pulls;
        control->pulling = pulling;
        control->first = first;
        control->last = last;
        control->written = written;
        control->frontier = where;
        control->before = before;
    }
}
