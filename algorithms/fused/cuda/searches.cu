// Breadth-first searches from up to 64 sources in one kernel: a word for each vertex, with a bit for each search [1, 2].
//
//     level⟨F⟩ = k,   F' = (F A)⟨¬visited⟩                  F, visited: a row of 64 bits for each vertex
//
// push    what the frontier's vertices have is offered along their edges. The frontier is a list, so that a step costs
//         its edges, however many vertices there are. Rows are cut into pieces of CUT edges. A block gathers what it
//         lists in shared memory, and one atomic lists it. A step that finds more than a block holds is not listed:
//         a pull does not need the list, and a push makes it from the words.
// offers  A push of many edges waits for no answer: an atomic for each edge puts bits into the next words, and then all
//         vertices take what is new, side by side. Three words of a vertex would lie in three places of memory.
// pull    every vertex that some search of the step may still reach looks through its predecessors, until it has all of
//         those searches: the first of them by its own thread, the others by eight lanes.
// both    A search that is behind the others has a small frontier, which few vertices find: nearly all would look through
//         all their predecessors for it. So its part of the frontier is offered, before the others are pulled. Which
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
constexpr int FIRST_DIGITS = 3, FIRST_NUMBERS = (1 << FIRST_DIGITS) - 1;  // of the steps whose numbers have so many
constexpr int CUT = 64;                               // edges of a piece of a row
constexpr int HELD = 1024;                            // pieces that a block gathers
constexpr int NOTED_BY_PUSHES = 6;                    // steps since levels were written from which pushes do it themselves
constexpr int SAMPLED = 1024;                         // edges that tell how far the searches are
constexpr int BEHIND = SAMPLED / 64, EARLY = SAMPLED / 4;  // fewer of them come from the frontier, and from what was seen
constexpr int FEW_PIECES = 1 << 13;                   // up to which a warp looks at one
constexpr int DEALERS = 61;                           // counters of vertices to pull, not a power of two: see pull_words

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
        if ((some & ~ones) == 0) return;
        const unsigned int pieces_of = wanted && !one ? (unsigned int)(row.length - 1) / CUT + 1 : 0;
        unsigned int upto = pieces_of;
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            const unsigned int below = __shfl_up_sync(WARP, upto, distance);
            if (lane_number() >= distance) upto += below;
        }
        unsigned long long first = 0;
        if (lane_number() == 31) first = atomicAdd(counter, (unsigned long long)upto);
        first = (from_lane(first, 31) & 0xffffffffu) + upto - pieces_of;
        for (unsigned int left = some & ~ones; left != 0; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            const I vertex = from_lane(row.vertex, owner), start = from_lane(row.start, owner);
            const I length = from_lane(row.length, owner), count = (length - 1) / CUT + 1;
            const unsigned long long at = from_lane(first, owner);
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

// Let so many words be zeros, two at a time.
__device__ __forceinline__ void clear_words(Word* words, long long count) {
    for (long long i = thread_number(); i < count / 2; i += thread_count())
        reinterpret_cast<ulonglong2*>(words)[i] = make_ulonglong2(0, 0);
    if (thread_number() == 0 && count % 2 != 0) words[count - 1] = 0;
}

// Where no search goes: outside is (n,), or null.
__device__ __forceinline__ void leave_out(long long n, int searches, const bool* outside, Word* visited, int* level) {
    for (long long v = thread_number(); outside != nullptr && v < n; v += thread_count()) {
        if (!outside[v]) continue;
        visited[v] = ~(Word)0;
        for (int j = 0; j < searches; ++j) level[j * n + v] = -1;
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

// What a step reads and writes, in shared memory: registers are for what threads have of their own. number: of the step,
// or 0 if it writes its levels itself.  before: words that become zero.  wanted: searches that are pulled.  behind:
// those of which `next` has offers.  dealt: DEALERS zeros.
struct Step {
    long long n;
    const I *indptr, *indices, *in_indptr, *in_indices;
    const Word* frontier;
    Word *next, *visited, *before, *digits;
    int* level;
    unsigned int* dealt;
    Word wanted, behind;
    int k, number;
};

__shared__ Step s;
__shared__ Gathered block;

// An array of the device's memory: the compiler cannot know of a pointer that it finds in shared memory.
template <class V> __device__ __forceinline__ V* global(V* array) {
    __builtin_assume(__isGlobal(array));
    return array;
}

// What a thread has found in a step.
struct Found {
    Word live;
    unsigned int edges, vertices;
};

// The number of the step that is the `noted`th. The third to the fifth, in which most is found, have one digit each.
__device__ __forceinline__ int number_of(int noted) { return (int)(0x8edca9bf6542137ull >> 4 * (noted - 1)) & NOTABLE; }

// Note that a step has found these bits, where other threads may note some of the same vertex.
__device__ __forceinline__ void note(I v, Word fresh) {
#pragma unroll
    for (int digit = 0; digit < DEPTH; ++digit)
        if (s.number >> digit & 1) atomicOr(global(s.digits) + digit * s.n + v, fresh);
}

// Note the same, where no other thread does of this vertex.
__device__ __forceinline__ void note_alone(long long v, Word fresh) {
    Word had[DEPTH];
#pragma unroll
    for (int digit = 0; digit < DEPTH; ++digit)
        had[digit] = s.number >> digit & 1 ? global(s.digits)[digit * s.n + v] : 0;
#pragma unroll
    for (int digit = 0; digit < DEPTH; ++digit)
        if (s.number >> digit & 1) global(s.digits)[digit * s.n + v] = had[digit] | fresh;
}

// Offer what the listed vertices have along their edges, so many lanes for each piece, and list what is found.
__device__ __noinline__ Found push_pieces(const Piece* pieces, long long count, int lanes, const List& list) {
    Found own{0, 0, 0};
    const int at_a_time = 32 / lanes, part = lane_number() / lanes;
    const long long warps = thread_count() / 32;
    for (long long base = thread_number() / 32 * at_a_time; base < count; base += warps * at_a_time) {
        Piece piece{0, 0, 0};
        Word word = 0;
        if (base + part < count) {
            piece = pieces[base + part];
            word = global(s.frontier)[piece.vertex];
        }
        for (I i = lane_number() % lanes; __any_sync(WARP, i < piece.length); i += lanes) {
            bool first = false;
            Piece row{0, 0, 0};
            if (i < piece.length) {
                const I x = global(s.indices)[piece.start + i];
                const Word seen = global(s.visited)[x];  // which may be old, and then it lets more through to the atomic
                row = {x, global(s.indptr)[x], 0};
                row.length = global(s.indptr)[x + 1] - row.start;
                Word fresh = word & ~seen;
                if (fresh != 0) fresh &= ~atomicOr(global(s.visited) + x, fresh);
                if (fresh != 0) {
                    own.live |= fresh;
                    first = row.length > 0 && atomicOr(global(s.next) + x, fresh) == 0;
                    if (s.number != 0) {
                        note(x, fresh);
                    } else {
                        for (Word bits = fresh; bits != 0; bits &= bits - 1)
                            global(s.level)[(__ffsll(bits) - 1) * s.n + x] = s.k + 1;
                    }
                }
            }
            if (first) own.edges += (unsigned int)row.length;
            list.add_where(first, row, block, false);
        }
    }
    return own;
}

// Put what the listed vertices have of some searches into the next words of the vertices that their edges lead to.
__device__ __noinline__ void offer_pieces(const Piece* pieces, long long count, Word searches, int lanes) {
    const int at_a_time = 32 / lanes, own = lane_number() / lanes;
    for (long long at = thread_number() / 32 * at_a_time + own; at < count; at += thread_count() / 32 * at_a_time) {
        const Piece piece = pieces[at];
        const Word word = global(s.frontier)[piece.vertex] & searches;
        if (word == 0) continue;
#pragma unroll 4
        for (I i = lane_number() % lanes; i < piece.length; i += lanes) {
            atomicOr(global(s.next) + global(s.indices)[piece.start + i], word);
        }
    }
}

// Take what has been offered and is new. The next frontier is not listed.
__device__ __noinline__ Found take_offers() {
    Found own{0, 0, 0};
    for (long long v = thread_number(); v < s.n; v += thread_count()) {
        const Word offered = global(s.next)[v];
        if (offered == 0) continue;
        const Word seen = global(s.visited)[v], fresh = offered & ~seen;
        const I length = global(s.indptr)[v + 1] - global(s.indptr)[v];
        const Word kept = length > 0 ? fresh : 0;
        if (kept != offered) global(s.next)[v] = kept;
        if (fresh == 0) continue;
        global(s.visited)[v] = seen | fresh;
        note_alone(v, fresh);
        own.live |= fresh;
        own.edges += (unsigned int)length;
    }
    return own;
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
__device__ __noinline__ Found pull_pieces(const Piece* pieces, long long count) {
    Found found{0, 0, 0};
    constexpr int AT_ONCE = LONG / 32, FIRST = 2;
    const long long warps = thread_count() / 32, each = (count + warps - 1) / warps, begin = thread_number() / 32 * each;
    const long long end = begin + each < count ? begin + each : count;
    for (long long first = begin; first < end; first += 32) {
        Piece piece{0, 0, 0};
        Word want = 0;
        if (first + lane_number() < end) {
            piece = pieces[first + lane_number()];
            want = s.wanted & ~now(global(s.visited) + piece.vertex);
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
                    if (e < length) own |= global(s.frontier)[global(s.in_indices)[start + e]];
                }
#pragma unroll
                for (int distance = 16; distance > 0; distance /= 2) own |= __shfl_xor_sync(WARP, own, distance);
                known |= own;
            };
            look(0, FIRST);
            if ((rest & ~known) != 0) look(FIRST, AT_ONCE);
            Word fresh = known & rest;
            if (lane_number() == 0 && fresh != 0) {
                fresh &= ~atomicOr(global(s.visited) + v, fresh);
                if (fresh != 0) {
                    found.live |= fresh;
                    found.vertices += atomicOr(global(s.next) + v, fresh) == 0;
                    note(v, fresh);
                }
            }
        }
    }
    return found;
}

// The searches whose frontier has any of so many predecessors, of places from `at` on.
template <int COUNT> __device__ __forceinline__ Word seen_there(I at, I apart, I end) {
    I u[COUNT];
#pragma unroll
    for (int j = 0; j < COUNT; ++j) u[j] = at + j * apart < end ? global(s.in_indices)[at + j * apart] : -1;
    Word word = 0;
#pragma unroll
    for (int j = 0; j < COUNT; ++j)
        if (u[j] >= 0) word |= global(s.frontier)[u[j]];
    return word;
}

// Look through the rows of a warp until each has what it wants, eight lanes for a row. All of the warp take part.
__device__ __forceinline__ void pull_rows(Row* rows, int count) {
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
        Word word = seen_there<AT_ONCE>(at + own, LANES, end);
#pragma unroll
        for (int distance = LANES / 2; distance > 0; distance /= 2) word |= __shfl_xor_sync(WARP, word, distance);
        got |= word;
        at += LANES * AT_ONCE;
    }
}

// A vertex that is to pull: what it has seen, what it has been offered, and its column.
struct Column {
    Word seen, given;
    I at, end;
};

// Let every vertex look for the searches of the step that have not been there. A warp that is done takes the next
// vertices, whose columns it has asked for before. Those with few ones in their numbers have the longest columns of an
// R-MAT graph, and a power of two would deal them alike.
__device__ __noinline__ Found pull_words() {
    constexpr int AT_ONCE = 4;
    Found found{0, 0, 0};
    Row* const rows = block.rows + threadIdx.x / 32 * 32;
    const unsigned int warps = (unsigned int)(thread_count() / 32), dealers = warps < DEALERS ? warps : DEALERS;
    const unsigned int dealer = (unsigned int)(thread_number() / 32) % dealers;
    const auto ask = [&] { return lane_number() == 0 ? atomicAdd(global(s.dealt) + dealer, 1u) : 0u; };
    const auto taken = [&](unsigned int ticket) { return from_lane(ticket, 0) * dealers + dealer; };
    const auto vertex_of = [&](unsigned int group) { return 32 * (long long)group + lane_number(); };
    const auto column_of = [&](unsigned int group) {
        Column column{~(Word)0, 0, 0, 0};
        const long long v = vertex_of(group);
        if (v < s.n) {
            column.seen = global(s.visited)[v];
            if (s.behind != 0) column.given = global(s.next)[v] & s.behind;
            column.at = global(s.in_indptr)[v];
            column.end = global(s.in_indptr)[v + 1];
        }
        return column;
    };
    unsigned int ticket = ask();
    unsigned int group = taken(ticket);
    ticket = ask();
    Column column = column_of(group);
    while (32 * (long long)group < s.n) {
        const Column own = column;
        const unsigned int next = taken(ticket);
        ticket = ask();  // which is not waited for
        column = column_of(next);
        const Word want = s.wanted & ~own.seen;
        const bool is_long = own.end - own.at > LONG;
        const I end = want == 0 || is_long ? own.at : own.end;
        if (vertex_of(group) < s.n) global(s.before)[vertex_of(group)] = 0;
        Word got = seen_there<AT_ONCE>(own.at, 1, end);
        const bool more = (want & ~got) != 0 && own.at + AT_ONCE < end;
        const unsigned int some = __ballot_sync(WARP, more);
        if (some != 0) {
            Row* const row = rows + __popc(some & lanes_below());
            if (more) *row = {want & ~got, own.at + AT_ONCE, end};
            __syncwarp();
            pull_rows(rows, __popc(some));
            __syncwarp();
            if (more) got |= row->want;
            __syncwarp();
        }
        const long long v = vertex_of(group);
        const Word offered = own.given & ~own.seen, fresh = (got & want) | offered;
        if (is_long && own.given != 0) {  // while others pull its pieces
            if (offered != own.given) atomicAnd(global(s.next) + v, ~(own.given & ~offered));
            if (offered != 0) {
                atomicOr(global(s.visited) + v, offered);
                note((I)v, offered);
            }
        } else if ((fresh | own.given) != 0) {
            global(s.next)[v] = fresh;
            if (fresh != 0) {
                global(s.visited)[v] = own.seen | fresh;
                note_alone(v, fresh);
            }
        }
        found.live |= fresh;
        found.vertices += fresh != 0;
        group = next;
    }
    return found;
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
                                                   Word* digits, int depth, bool again, int* level) {
    constexpr int AT_ONCE = 8;  // searches
    for (long long v = SIDE * thread_number(); v < n; v += SIDE * thread_count()) {
        for (int half = 0; 32 * half < searches; ++half) {
            unsigned int digit[SIDE][DEPTH], written[SIDE];
#pragma unroll
            for (int c = 0; c < SIDE; ++c) {
                unsigned int known = 0;
#pragma unroll
                for (int i = 0; i < DEPTH; ++i) {
                    digit[c][i] = i < depth ? (unsigned int)(digits[i * n + v + c] >> 32 * half) : 0;
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
        for (int i = 0; again && i < FIRST_DIGITS; ++i)
            for (int c = 0; c < SIDE; ++c) digits[i * n + v + c] = 0;
    }
}

// Write the levels that are noted, and -1 where no search has been. depth: digits in use.  again: are there more steps?
__device__ __noinline__ void write_levels(const SearchesControl* control, long long n, int searches, const Word* visited,
                                          Word* digits, int depth, bool again, int* level) {
    __shared__ int level_of[NOTABLE + 1];
    if (threadIdx.x <= NOTABLE) level_of[threadIdx.x] = threadIdx.x == 0 ? -1 : now(control->level_of + threadIdx.x);
    __syncthreads();
    if (n % 4 == 0 && reinterpret_cast<unsigned long long>(level) % 16 == 0)
        write_side_by_side<4>(level_of, n, searches, visited, digits, depth, again, level);
    else write_side_by_side<1>(level_of, n, searches, visited, digits, depth, again, level);
    __syncthreads();
}

// control: zeros before the first launch.  columns: pieces of long ones, and how many.  searches: up to 64.  state: what
// every search has seen, three frontiers and, if anything is pulled, DEPTH digits, each of n words.  capacity: of each of
// three lists.  choice: 0 by Beamer's rule, 1 push, 2 pull.  deepest: the last level, or -1.  in_indptr, in_indices,
// columns, column_count: null if nothing is pulled.
extern "C" __global__ void __launch_bounds__(SEARCHES_THREADS, SEARCHES_BLOCKS)
    searches(SearchesControl* control, const I* indptr, const I* indices, const I* in_indptr, const I* in_indices,
             const Piece* columns, const unsigned long long* column_count, long long n, long long nnz, int searches,
             const long long* sources, const bool* outside, Word* state, Piece* lists, long long capacity, int* level,
             int choice, double alpha, double beta, int deepest, unsigned long long last_step) {
    Word *const visited = state, *const words = state + n;
    Word* const digits = in_indptr == nullptr ? nullptr : state + 4 * n;
    unsigned long long step = control->steps, pulls = 0, noted = control->noted;
    long long before = (long long)control->before;
    bool pulling = control->pulling != 0, listed = control->listed != 0, done = false;
    if (control->begun == 0) {
        clear_words(state, (digits == nullptr ? 4 : 4 + FIRST_DIGITS) * n);
        grid_barrier(&control->arrived);
        leave_out(n, searches, outside, visited, level);
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
        const unsigned long long mean = (queued >> 32) / (unsigned long long)(count > 0 ? count : 1);
        const int lanes = count < FEW_PIECES || mean > 24 ? 32 : mean > 12 ? 16 : mean > 6 ? 8 : 4;  // that share a piece
        if (pulling && noted == NOTABLE) {
            write_levels(control, n, searches, visited, digits, DEPTH, true, level);
            noted = 0;
            grid_barrier(&control->arrived);
        }
        const bool notes = digits != nullptr && (pulling || noted < NOTED_BY_PUSHES);
        if (notes) ++noted;
        const int number = notes ? number_of((int)noted) : 0;
        if (notes && thread_number() == 0) control->level_of[number] = (int)step + 1;
        if (notes && noted == FIRST_NUMBERS)  // of which the next is the first with another digit
            for (long long v = thread_number(); v < n; v += thread_count()) digits[FIRST_DIGITS * n + v] = 0;
        if (threadIdx.x == 0) {
            s = {n,      indptr, indices, in_indptr, in_indices, frontier, words + there * n, visited, gone,
                 digits, level,  control->dealt[here], live_now & ~behind, behind, (int)step, number};
        }
        __syncthreads();
        Found found{0, 0, 0};
        if (pulling) {
            ++pulls;
            if (behind != 0) {
                offer_pieces(lists + here * capacity, count, behind, lanes);
                grid_barrier(&control->arrived);
            }
            const Found of_long = pull_pieces(columns, (long long)*column_count);
            found = pull_words();
            found.live |= of_long.live;
            found.vertices += of_long.vertices;
        } else {
            if (listed) {
                const Piece* const list = lists + past * capacity;
                for (long long i = thread_number(); i < before; i += thread_count()) gone[list[i].vertex] = 0;
            } else {
                for (long long v = thread_number(); v < n; v += thread_count()) gone[v] = 0;
            }
            if (number != 0 && 2 * (queued >> 32) > (unsigned long long)n) {
                offer_pieces(lists + here * capacity, count, ~(Word)0, lanes);
                grid_barrier(&control->arrived);
                found = take_offers();
                if (thread_number() == 0) control->unlisted[there] = 1;
            } else {
                found = push_pieces(lists + here * capacity, count, lanes, next);
            }
        }
        listed = pushed && whole;  // one that was pulled may have vertices without edges, which are not listed
        before = count;
        hand_over(block, next, found.edges, found.vertices, found.live, control->found + there, control->live + there,
                  control->unlisted + there);
        grid_barrier(&control->arrived);
    }
    if (done) {
        const int depth = noted == 0 ? 0 : noted <= FIRST_NUMBERS ? FIRST_DIGITS : DEPTH;
        write_levels(control, n, searches, visited, digits, depth, false, level);
    }
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
