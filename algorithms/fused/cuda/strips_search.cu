// Breadth-first search on strips of rows: search.cu on each GPU for its own vertices, and bitmaps of all vertices.
//
// push    edges of the own frontier mark whom they reach, in a bitmap of all vertices. At the next listing each GPU takes
//         the marks of its own vertices from all, and writes those that are new into everybody's bitmap of the visited.
//         Two bitmaps of marks take turns, as in strips_paths.cu.
// pull    own unvisited vertices look for a visited predecessor. The words of the own vertices go into everybody's next
//         bitmap of the visited. Two of these take turns, so that a pull sees nobody that is found in it.
//
// Levels are kept in bytes for as long as they fit, for in the end they cross the link, too.
//
// Over the link, per GPU: a push reads a bit for each own vertex of each other GPU, and a pull writes as many.

enum Arrays { MEETINGS, MARKS, VISITED = MARKS + 2 };  // the rows of a team's table

// Levels before the first step: 0 at the source, -1 elsewhere.
extern "C" __global__ void start_strip(StripSearch* control, long long n, long long nnz, long long first, long long own_n,
                                       long long source, signed char* level, unsigned int* marks_a, unsigned int* marks_b,
                                       unsigned int* visited_a, unsigned int* visited_b) {
    for (long long v = thread_number(); v < own_n; v += thread_count()) level[v] = first + v == source ? 0 : -1;
    for (long long word = thread_number(); word * 32 < n; word += thread_count()) {
        marks_a[word] = marks_b[word] = visited_b[word] = 0;
        visited_a[word] = word == source / 32 ? 1u << (source % 32) : 0;
    }
    if (thread_number() != 0) return;
    *control = StripSearch{};
    control->unexplored = nnz;
}

// Levels in bytes, of any GPU, as integers: four at a time.
extern "C" __global__ void widen(long long count, const signed char* level, int* wide) {
    for (long long first = 4 * thread_number(); first < count; first += 4 * thread_count()) {
        const bool all = first + 4 <= count;
        const unsigned int four = all ? from_peer(reinterpret_cast<const unsigned int*>(level + first)) : 0;
        for (int k = 0; k < 4 && first + k < count; ++k)
            wide[first + k] = all ? (signed char)(four >> (8 * k)) : from_peer(level + first + k);
    }
}

// Takes what is new of 32 own vertices, which is then marked no more.
__device__ __forceinline__ unsigned int take_word(const Team& team, int turn, long long at, unsigned int visited) {
    unsigned int* const here = team.of<unsigned int>(MARKS + turn, team.own) + at;
    unsigned int bits = now(here);
    if (bits != 0) *here = 0;
    for (int gpu = 0; gpu < team.count; ++gpu)
        if (gpu != team.own) bits |= from_peer(team.of<unsigned int>(MARKS + turn, gpu) + at);
    return bits & ~visited;
}

constexpr int LISTED_PER_THREAD = 4;  // vertices of a thread for which a block asks for places together

// List the own vertices of level k, whose level is written, with the running sum of their degrees.
__device__ __forceinline__ void list_strip(const Team& team, int after, int turn, int current, const I* indptr,
                                           long long first, long long own_n, int k, Level* level, I* rows, I* offsets,
                                           unsigned long long* counter) {
    __shared__ unsigned int words[STRIPS_SEARCH_THREADS];
    constexpr int PARTS = 32 / LISTED_PER_THREAD, PART = STRIPS_SEARCH_THREADS / PARTS;
    const long long tile = STRIPS_SEARCH_THREADS * 32ll;
    for (long long base = blockIdx.x * tile; base < own_n; base += gridDim.x * tile) {
        const long long word = base / 32 + threadIdx.x, at = first / 32 + word;
        unsigned int bits = 0;
        if (word * 32 < own_n) {
            const unsigned int visited = now(team.of<unsigned int>(VISITED + current, team.own) + at);
            if (after == 0) bits = visited;
            if (after == 1) bits = take_word(team, turn, at, visited);
            if (after == 2) bits = visited & ~now(team.of<unsigned int>(VISITED + 1 - current, team.own) + at);
            if (after == 1 && bits != 0)
                for (int gpu = 0; gpu < team.count; ++gpu)
                    *(volatile unsigned int*)(team.of<unsigned int>(VISITED + current, gpu) + at) = visited | bits;
        }
        words[threadIdx.x] = bits;
        if (!__syncthreads_or(bits != 0)) continue;
        for (int part = 0; part < PARTS; ++part) {
            bool some = false;
            for (int i = lane_number(); i < PART; i += 32) some = some || words[part * PART + i] != 0;
            if (!__any_sync(WARP, some)) continue;  // as every warp of the block finds
            const auto place = [=](int j) {
                return (part * LISTED_PER_THREAD + j) * (STRIPS_SEARCH_THREADS / 32) + threadIdx.x / 32;
            };
            const auto vertex = [=](int j) { return base + place(j) * 32ll + lane_number(); };
            I degree[LISTED_PER_THREAD];
            UNROLLED(j, LISTED_PER_THREAD) {
                const long long v = vertex(j);
                const bool here = (words[place(j)] >> lane_number() & 1) != 0 && v < own_n;
                if (here) level[v] = (Level)k;
                degree[j] = here ? indptr[v + 1] - indptr[v] : 0;
            }
            list_with_degrees(degree, vertex, rows, offsets, counter);
        }
        __syncthreads();
    }
}

struct MarkAll {
    static constexpr int PER_LANE = 4;
    const J* indices;
    const unsigned int* visited;
    unsigned int* marks;

    __device__ __forceinline__ void row(I, bool) {}
    __device__ __forceinline__ void edges(const int*, const I* place, const bool* inside) {
        I x[PER_LANE];
        unsigned int seen[PER_LANE];
        UNROLLED(j, PER_LANE) x[j] = inside[j] ? __ldcs(indices + place[j]) : 0;
        UNROLLED(j, PER_LANE) seen[j] = visited[x[j] / 32] | marks[x[j] / 32];
        UNROLLED(j, PER_LANE)
            if (inside[j] && !(seen[j] >> (x[j] % 32) & 1)) atomicOr(marks + x[j] / 32, 1u << (x[j] % 32));
    }
};

constexpr int PULLED_PER_THREAD = 2;  // vertices of a thread whose reads go together

// Let the own unvisited that have predecessors, as the bits of `with_edges` say, look for a visited one. Returns how many
// of the thread's vertices found one.
__device__ __forceinline__ unsigned int pull_strip(const Team& team, int current, const I* indptr, const J* indices,
                                                   const unsigned int* with_edges, long long first, long long own_n,
                                                   Level* level, int next) {
    const unsigned int* const visited = team.of<unsigned int>(VISITED + current, team.own);
    const auto is_visited = [=](I u) { return (visited[(long long)u / 32] >> (u % 32) & 1) != 0; };
    unsigned int count = 0;
    for (long long from = (thread_number() - lane_number()) * PULLED_PER_THREAD; from < own_n;
         from += thread_count() * PULLED_PER_THREAD) {
        unsigned int before[PULLED_PER_THREAD], wanted[PULLED_PER_THREAD];
        I e[PULLED_PER_THREAD], end[PULLED_PER_THREAD];
        bool found[PULLED_PER_THREAD];
        UNROLLED(j, PULLED_PER_THREAD) {
            const long long word = from / 32 + j;
            const bool inside = word * 32 < own_n;
            before[j] = inside ? visited[first / 32 + word] : 0;
            wanted[j] = inside ? with_edges[word] & ~before[j] : 0;
        }
        UNROLLED(j, PULLED_PER_THREAD) {
            const bool looks = (wanted[j] >> lane_number() & 1) != 0;
            e[j] = looks ? indptr[from + 32 * j + lane_number()] : 0;
            end[j] = looks ? indptr[from + 32 * j + lane_number() + 1] : 0;
            found[j] = false;
        }
        for (int i = 0; i < LANE_ROW; ++i) {
            I u[PULLED_PER_THREAD];
            bool some = false;
            UNROLLED(j, PULLED_PER_THREAD) {
                u[j] = !found[j] && e[j] < end[j] ? indices[e[j]++] : (I)-1;
                some = some || u[j] >= 0;
            }
            if (!some) break;
            UNROLLED(j, PULLED_PER_THREAD)
                if (u[j] >= 0) found[j] = is_visited(u[j]);
        }
        UNROLLED(j, PULLED_PER_THREAD) {
            found[j] = first_by_warp(indices, 0, e[j], end[j], (I)found[j] - 1, [=](I, I u) { return is_visited(u); }) >= 0;
            if (found[j]) level[from + 32 * j + lane_number()] = (Level)next;
            count += found[j];
            const unsigned int bits = before[j] | __ballot_sync(WARP, found[j]);
            const long long word = from / 32 + j, at = first / 32 + word;
            if (word * 32 < own_n && lane_number() < team.count)
                *(volatile unsigned int*)(team.of<unsigned int>(VISITED + 1 - current, lane_number()) + at) = bits;
        }
    }
    return count;
}

// choice: BY_RULE, push, or PULL.  deepest: the last level, or -1.  in_indptr, in_indices: the own columns,
// or null where nothing is to be pulled.  with_edges: a bit for each own column that has entries.
extern "C" __global__ void __launch_bounds__(STRIPS_SEARCH_THREADS, STRIPS_SEARCH_BLOCKS)
    strips_search(StripSearch* control, const unsigned long long* table, int gpus, int gpu, const I* indptr, const J* indices,
                  const I* in_indptr, const J* in_indices, const unsigned int* with_edges, long long n, long long first,
                  long long own_n, Level* level, I* rows, I* offsets, int choice, double alpha, double beta, int deepest,
                  unsigned long long last_step) {
    const Team team{table, gpus, gpu};
    Meetings* const meetings = team.of<Meetings>(MEETINGS, gpu);
    unsigned long long step = control->steps, pulls = control->pulls, unexplored = control->unexplored;
    unsigned long long number = now(&meetings->number), pushes = control->pushes, looked_at = 0;
    int after = (int)control->after;
    bool pulling = control->pulling != 0, done = false;
    for (; step < last_step; ++step) {
        const int k = (int)step, current = (int)(pulls % 2);
        done = (pulling && k == deepest) || now(&meetings->lost) != 0;
        if (done) break;
        if (thread_number() == 0) {
            control->queue[(step + 1) % 3] = 0;
            control->found[(step + 1) % 3] = 0;
        }
        if (!pulling) {
            unsigned int* const marks = team.of<unsigned int>(MARKS + pushes % 2, gpu);
            for (long long word = thread_number(); word * 32 < n; word += thread_count())
                if (marks[word] != 0) marks[word] = 0;
            list_strip(team, after, (int)((pushes + 1) % 2), current, indptr, first, own_n, k, level, rows, offsets,
                       control->queue + step % 3);
            const auto write = [=](Letter& letter) { letter.words[0] = now(control->queue + step % 3); };
            const auto read = [=](const Letter* letters, int count) {
                unsigned long long edges = 0, vertices = 0;
                for (int p = 0; p < count; ++p) {
                    edges += letters[p].words[0] >> 32;
                    vertices += letters[p].words[0] & 0xffffffffu;
                }
                control->edges = edges;
                control->vertices = vertices;
            };
            meet(meetings, team, ++number, write, read);
            const unsigned long long edges = now(&control->edges), listed = now(control->queue + step % 3);
            done = now(&control->vertices) == 0 || k == deepest;
            if (done) break;
            unexplored -= edges;
            pulling = choice == PULL || (choice == BY_RULE && edges * alpha > (double)(unexplored + edges));
            if (!pulling) {
                MarkAll mark{indices, team.of<unsigned int>(VISITED + current, gpu), marks};
                deal_listed(rows, offsets, listed, indptr, mark);
                looked_at += listed >> 32;
                ++pushes;
                after = 1;
                meet(meetings, team, ++number, [](Letter&) {}, [](const Letter*, int) {});
                continue;
            }
        }
        const unsigned int own = pull_strip(team, current, in_indptr, in_indices, with_edges, first, own_n, level, k + 1);
        add_up(own, control->found + step % 3);
        const auto write = [=](Letter& letter) { letter.words[0] = now(control->found + step % 3); };
        const auto read = [=](const Letter* letters, int count) {
            unsigned long long found = 0;
            for (int p = 0; p < count; ++p) found += letters[p].words[0];
            control->vertices = found;
        };
        meet(meetings, team, ++number, write, read);
        ++pulls;
        after = 2;
        const unsigned long long found = now(&control->vertices);
        done = found == 0;
        if (done) break;
        pulling = choice == PULL || found * beta > (double)n;
    }
    if (thread_number() == 0) {
        control->done = done;
        control->steps = step;
        control->pulls = pulls;
        control->pushes = pushes;
        control->after = after;
        control->looked_at += looked_at;
        control->unexplored = unexplored;
        control->pulling = pulling;
        meetings->number = number;
        control->lost = now(&meetings->lost);
    }
}
