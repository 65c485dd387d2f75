// The minimum spanning forest of strips of rows on several GPUs: forest.cu on each, which meet between its parts.
//
// first     each GPU finds the lightest edges of its own vertices, whose rows it has as a whole. All read whom the others
//           have chosen, and make the same trees: whoever follows the choices comes to two that have chosen each other, of
//           which the smaller names the tree. The same look lists the light edges.
// list      of an edge's two entries one is looked at, on one GPU: by whether the ends' difference is odd. Edges between
//           different trees are listed, light ones first, as in forest.cu.
// locally   each GPU makes the forest of its list.
// together  all read these forests, and make the same forest of them: F(E₁ ∪ E₂) = F(F(E₁) ∪ F(E₂)). Whoever owns an edge's
//           smaller end chooses its entry there.
//
// Edges compare as (weight, smaller end, larger end). A tree is offered the first two, and then, of edges that are equal
// in these, the third. Over the link: the ends that were chosen first, and 12 bytes for an edge of a local forest.

enum Arrays { MEETINGS, CHOICES, FORESTS };  // the rows of a team's table; of forests there is one of light edges, and one of heavy

__device__ __forceinline__ unsigned long long key_of(const StripEdge& edge) {
    return (unsigned long long)edge.weight << 32 | edge.u;
}

// Trees are offered edges: the best (weight, smaller end), and of that the best larger end.
struct BestEdges {
    static constexpr bool HAS_ENDS = true;
    unsigned long long* key;
    unsigned int* end;

    __device__ __forceinline__ void clear(long long tree) const {
        key[tree] = ~0ull;
        end[tree] = ~0u;
    }
    __device__ __forceinline__ void offer_end(I tree, const StripEdge& edge) const {
        if (key[tree] == key_of(edge) && edge.x < now(end + tree)) atomicMin(end + tree, edge.x);
    }
    __device__ __forceinline__ bool is(I tree, const StripEdge& edge) const {
        return key[tree] == key_of(edge) && end[tree] == edge.x;
    }
};

// True if an edge's entry (u, x) is the one of two that is looked at.
__device__ __forceinline__ bool looked_at(I u, I x) { return x != u && (u < x) == (((u ^ x) & 1) != 0); }

// A list of edges between different trees, and what these are offered.
struct Listing {
    static constexpr int PER_LANE = 4;
    StripEdge* list;
    unsigned long long* counter;
    Offers offers;

    // Edges u - x of trees a and b. All of the warp take part.
    __device__ __forceinline__ void add(const bool (&wanted)[PER_LANE], const I* u, const I* x, const I* a, const I* b,
                                        const unsigned int* w) {
        append(wanted, counter, [&](int j, unsigned long long place) {
            const StripEdge edge{a[j], b[j], w[j], (unsigned int)min(u[j], x[j]), (unsigned int)max(u[j], x[j])};
            list[place] = edge;
            offers.make(a[j], key_of(edge));
            offers.make(b[j], key_of(edge));
        });
    }
};

// The first look at all entries: each is offered to its row's vertex, and a warp lists the light ones that are looked at,
// where it has its entries. So it needs no counter.
struct FirstLook {
    static constexpr int PER_LANE = 4;
    Lightest<Indices> rows;
    unsigned int threshold;  // the first weight that is heavy; 0: list none
    I *from, *to;
    unsigned int* weight;
    long long base;  // where the warp's entries begin; -1 before the first
    unsigned int count;

    __device__ __forceinline__ void row(I v, bool has) { rows.row(v, has); }
    __device__ __forceinline__ void edges(const int* owner, const I* place, const bool* inside) {
        I x[PER_LANE];
        int w[PER_LANE];
        rows.load(place, inside, x, w);
        rows.offer_all(owner, place, inside, x, w);
        if (threshold == 0) return;
        if (base < 0) base = from_lane(place[0], 0);
        UNROLLED(j, PER_LANE) {
            const I u = from_lane(rows.u, owner[j]);
            const unsigned int own_weight = ordinal(w[j], rows.real);
            const bool wanted = inside[j] && own_weight < threshold && looked_at(u, x[j]);
            const unsigned int all = __ballot_sync(WARP, wanted);
            const long long at = base + count + __popc(all & lanes_below());
            if (wanted) {
                from[at] = u;
                to[at] = x[j];
                weight[at] = own_weight;
            }
            count += __popc(all);
        }
    }

    // Of what the warp has listed, list what lies between different trees.
    __device__ __forceinline__ void list_between(const I* tree, Listing& listing) const {
        for (unsigned int first = 0; first < count; first += 32 * PER_LANE) {
            I u[PER_LANE], x[PER_LANE], a[PER_LANE], b[PER_LANE];
            unsigned int w[PER_LANE];
            bool wanted[PER_LANE];
            UNROLLED(j, PER_LANE) {
                const unsigned int i = first + 32 * j + lane_number();
                wanted[j] = i < count;
                u[j] = wanted[j] ? from[base + i] : 0;
                x[j] = wanted[j] ? to[base + i] : 0;
                w[j] = wanted[j] ? weight[base + i] : 0;
            }
            UNROLLED(j, PER_LANE) {
                a[j] = tree[u[j]];
                b[j] = tree[x[j]];
            }
            UNROLLED(j, PER_LANE) wanted[j] = wanted[j] && a[j] != b[j];
            listing.add(wanted, u, x, a, b, w);
        }
    }
};

// List heavy entries between different trees. Most vertices are of one large tree, and what leaves that is found in the
// rows of the others, which alone are looked at. Of an edge between two others one entry is.
struct ListHeavy {
    static constexpr int PER_LANE = 4;
    const J* indices;
    const int* weights;
    I step, first;
    bool real;
    unsigned int threshold;  // the first weight that is heavy
    const I* tree;
    I largest;
    Listing listing;
    I u, of_u;

    __device__ __forceinline__ void row(I v, bool) {
        u = first + v;
        of_u = tree[u];
    }
    __device__ __forceinline__ void edges(const int* owner, const I* place, const bool* inside) {
        I x[PER_LANE], a[PER_LANE], b[PER_LANE], own[PER_LANE];
        unsigned int w[PER_LANE];
        bool wanted[PER_LANE];
        UNROLLED(j, PER_LANE) {
            own[j] = from_lane(u, owner[j]);
            a[j] = from_lane(of_u, owner[j]);
            x[j] = inside[j] ? __ldcs(indices + place[j]) : own[j];
        }
        UNROLLED(j, PER_LANE) b[j] = tree[x[j]];
        UNROLLED(j, PER_LANE) {
            wanted[j] = inside[j] && a[j] != b[j] && (b[j] == largest || looked_at(own[j], x[j]));
            w[j] = wanted[j] ? ordinal(weights[place[j] * step], real) : 0;
            wanted[j] = wanted[j] && w[j] >= threshold;
        }
        listing.add(wanted, own, x, a, b, w);
    }
};

// The root of what is probably the largest tree, by a sample: the same in all warps.
__device__ __forceinline__ I largest_of(const I* parent, long long n) {
    const I root = root_of(parent, (I)(lane_number() * n / 32));
    unsigned int others = 32;
    for (int lane = 0; lane < 32; ++lane) others -= from_lane(root, lane) == root;
    return (I)(unsigned int)least_of_warp((unsigned long long)others << 32 | (unsigned int)root);
}

// An edge that its larger end has chosen: the own row of the smaller one.
struct Sought {
    I row, end;
};

// Choose the entries of edges, each thread several at once: a search waits for memory at every step.
__device__ __forceinline__ void choose_sought(const Sought* sought, unsigned long long count, const I* indptr,
                                              const Indices& columns, unsigned int* chosen) {
    constexpr int PER_LANE = 4;
    for (unsigned long long from = thread_number(); from < count; from += PER_LANE * thread_count()) {
        I low[PER_LANE], high[PER_LANE], end[PER_LANE], middle[PER_LANE], there[PER_LANE];
        UNROLLED(j, PER_LANE) {
            const unsigned long long i = from + j * thread_count();
            const Sought edge = i < count ? sought[i] : Sought{0, 0};
            end[j] = edge.end;
            low[j] = i < count ? indptr[edge.row] : 0;
            high[j] = i < count ? indptr[edge.row + 1] : 0;
        }
        for (bool open = true; open;) {
            open = false;
            UNROLLED(j, PER_LANE) {
                middle[j] = low[j] + (high[j] - low[j]) / 2;
                there[j] = high[j] - low[j] > 1 ? columns[middle[j]] : 0;
            }
            UNROLLED(j, PER_LANE) {
                if (high[j] - low[j] <= 1) continue;
                (there[j] <= end[j] ? low[j] : high[j]) = middle[j];
                open = true;
            }
        }
        UNROLLED(j, PER_LANE)
            if (from + j * thread_count() < count) choose(chosen, low[j]);
    }
}

// Name the trees of all vertices, which at first point at whom they have chosen, or at themselves. One that has
// its tree's name already leads the others there, too.  parent, best: made ready where a vertex names its tree.
__device__ __forceinline__ void name_trees(I* tree, long long n, I* parent, const BestEdges& best) {
    constexpr int PER_LANE = 4;
    for (long long from = thread_number(); from < n; from += PER_LANE * thread_count()) {
        I before[PER_LANE], at[PER_LANE], next[PER_LANE];
        bool open[PER_LANE], alone[PER_LANE], some = true;
        UNROLLED(j, PER_LANE) {
            const long long v = from + j * thread_count();
            open[j] = v < n;
            before[j] = (I)v;
            at[j] = open[j] ? tree[v] : 0;
            alone[j] = at[j] == v;
        }
        while (some) {
            some = false;
            UNROLLED(j, PER_LANE) next[j] = open[j] ? tree[at[j]] : 0;
            UNROLLED(j, PER_LANE) {
                if (!open[j]) continue;
                open[j] = next[j] != at[j] && next[j] != before[j];
                some = some || open[j];
                if (next[j] == before[j]) at[j] = min(at[j], before[j]);
                if (!open[j]) continue;
                before[j] = at[j];
                at[j] = next[j];
            }
        }
        UNROLLED(j, PER_LANE) {
            const long long v = from + j * thread_count();
            if (v >= n) continue;
            tree[v] = at[j];
            if (at[j] != v) continue;
            parent[v] = (I)v;
            if (!alone[j]) best.clear(v);  // who has no edge is offered none
        }
    }
}

// Name trees by their smallest vertices. An old value lets an atomic through that changes nothing.
__device__ __forceinline__ void name_by_smallest(unsigned int* arrived, I* tree, long long n, I* smallest) {
    for (long long v = thread_number(); v < n; v += thread_count())
        if (v < smallest[tree[v]]) take_smaller(smallest + tree[v], (I)v);
    grid_barrier(arrived);
    for (long long v = thread_number(); v < n; v += thread_count()) tree[v] = smallest[tree[v]];
    grid_barrier(arrived);
}

// Writes what the forest starts from.
extern "C" __global__ void start_strip_forest(StripForest* control, long long own_n, long long nnz,
                                              unsigned long long* lightest, unsigned int* chosen) {
    for (long long v = thread_number(); v < own_n; v += thread_count()) lightest[v] = ~0ull;
    for (long long w = thread_number(); w * 32 < nnz; w += thread_count()) chosen[w] = 0;
    if (thread_number() == 0) *control = StripForest{};
}

// Arrays as for grow_forest.  starts: the first vertices of the GPUs, and n.  lightest: of each own vertex.  tree: of all
// vertices.  parent, and what is offered: where a vertex names a tree.  room: edges of a local forest that there is room
// for.  labels: make the last trees, too.  last_step: 0 to do nothing.
extern "C" __global__ void __launch_bounds__(STRIPS_FOREST_THREADS, STRIPS_FOREST_BLOCKS)
    strips_forest(StripForest* control, const unsigned long long* table, int gpus, int gpu, const long long* starts,
                  const I* indptr, const J* indices, const int* weights, I step, bool real, I nnz, unsigned int light,
                  long long room, bool labels, I* tree, I* parent, unsigned long long* lightest, unsigned long long* key_a,
                  unsigned long long* key_b, unsigned int* end_a, unsigned int* end_b, StripEdge* list, StripEdge* other,
                  unsigned int* chosen, unsigned int* of_block, I* places, I* rows, I* ends, int* taken,
                  unsigned long long last_step) {
    if (last_step == 0) return;
    const Team team{table, gpus, gpu};
    Meetings* const meetings = team.of<Meetings>(MEETINGS, gpu);
    unsigned long long number = now(&meetings->number);
    const I first = (I)starts[gpu], own_n = (I)(starts[gpu + 1] - starts[gpu]);
    const long long n = starts[gpus];
    I* const choices = team.of<I>(CHOICES, gpu);
    const Indices columns{indices};
    const auto is_own = [=](I v) { return v >= first && v - first < own_n; };
    const auto choose_entry = [=](I u, I x) { choose(chosen, place_of(indptr, columns, (I)(u - first), x)); };
    const auto tell = [=](Letter& letter) { letter.words[0] = now(&control->found); };
    const auto hear = [=](const Letter* letters, int count) {
        for (int p = 0; p < count; ++p) control->counts[p] = letters[p].words[0];
        control->found = 0;
    };

    I* const light_edges = reinterpret_cast<I*>(other);
    FirstLook look{{columns, weights, step, real, lightest, first, 0}, light, light_edges, light_edges + nnz,
                   reinterpret_cast<unsigned int*>(light_edges + 2ll * nnz), -1, 0};
    deal_all_edges(indptr, own_n, nnz, look);
    grid_barrier(&control->arrived);
    constexpr int PER_LANE = 4;
    for (long long from = thread_number(); from < own_n; from += PER_LANE * thread_count()) {
        unsigned long long key[PER_LANE];
        I x[PER_LANE];
        UNROLLED(j, PER_LANE) {
            const long long i = from + j * thread_count();
            key[j] = i < own_n ? lightest[i] : ~0ull;
        }
        UNROLLED(j, PER_LANE) x[j] = key[j] == ~0ull ? (I)-1 : columns[(I)(unsigned int)key[j]];
        UNROLLED(j, PER_LANE) {
            const long long i = from + j * thread_count();
            if (i < own_n) choices[i] = x[j];
            if (x[j] > first + i) choose(chosen, (I)(unsigned int)key[j]);
        }
    }
    meet(meetings, team, ++number, tell, hear);
    Sought* const sought = reinterpret_cast<Sought*>(list);
    const long long tile = (long long)blockDim.x * PER_LANE;
    for (int p = 0; p < gpus; ++p) {
        const I* const theirs = team.of<I>(CHOICES, p);
        const long long count = starts[p + 1] - starts[p];
        for (long long base = blockIdx.x * tile; base < count; base += gridDim.x * tile) {
            I x[PER_LANE], v[PER_LANE];
            bool wanted[PER_LANE];
            unsigned int all = 0;
            UNROLLED(j, PER_LANE) {
                const long long i = base + j * (long long)blockDim.x + threadIdx.x;
                v[j] = (I)(starts[p] + i);
                x[j] = i >= count ? v[j] : p == gpu ? choices[i] : from_peer(theirs + i);
                if (x[j] < 0) x[j] = v[j];
                if (i < count) tree[v[j]] = x[j];
            }
            UNROLLED(j, PER_LANE) {  // else x has chosen it, too
                wanted[j] = v[j] > x[j] && is_own(x[j]) && choices[x[j] - first] != v[j];
                all += wanted[j];
            }
            unsigned int place = reserve(all, 0, control->queue + 2).first;
            UNROLLED(j, PER_LANE)
                if (wanted[j]) sought[place++] = {(I)(x[j] - first), v[j]};
        }
    }
    grid_barrier(&control->arrived);
    choose_sought(sought, now(control->queue + 2), indptr, columns, chosen);  // which the rounds clear
    name_trees(tree, n, parent, {key_a, end_a});
    grid_barrier(&control->arrived);

    Rounds<StripEdge, BestEdges> work{&control->arrived, control->queue, 0, 1, parent, {key_a, end_a}, {key_b, end_b},
                                      list, other};
    for (int heavy = light == 0; heavy < 2 && now(&meetings->lost) == 0; ++heavy) {
        Listing listing{work.list, control->queue + work.slot, {work.best.key, 0, (I)-1}};
        if (heavy == 0) {
            look.list_between(tree, listing);
        } else {
            const I largest = largest_of(tree, n);
            const auto outside = [=](long long v) {  // the length of a row out of the largest tree
                return v < own_n && tree[first + v] != largest ? indptr[v + 1] - indptr[v] : 0;
            };
            list_vertices(own_n, outside, rows, ends, &control->outside);
            grid_barrier(&control->arrived);
            ListHeavy here{indices, weights, step, first, real, light, tree, largest, listing, 0, 0};
            deal_listed(rows, ends, now(&control->outside), indptr, here);
        }
        grid_barrier(&control->arrived);
        const unsigned long long listed = now(control->queue + work.slot);
        if (thread_number() == 0) control->listed += listed, control->light += heavy == 0 ? listed : 0;
        unsigned int* const mine = team.of<unsigned int>(FORESTS + heavy, gpu);
        work.run([=](const StripEdge& edge) {
            const unsigned long long place = atomicAdd(&control->found, 1ull);
            mine[place] = edge.weight;
            mine[room + place] = edge.u;
            mine[2 * room + place] = edge.x;
        });
        work.turn();
        meet(meetings, team, ++number, tell, hear);
        // Whatever has been joined or offered to here is an end of an edge of the own forest.
        const auto each_edge = [=](const auto& visit) {
            unsigned long long base = 0;
            for (int p = 0; p < gpus; ++p) {
                const unsigned int* const theirs = team.of<unsigned int>(FORESTS + heavy, p);
                const unsigned long long count = now(control->counts + p);
                for (unsigned long long i = thread_number(); i < count; i += thread_count()) {
                    const unsigned int u = from_peer(theirs + room + i), x = from_peer(theirs + 2 * room + i);
                    visit(base + i, StripEdge{tree[u], tree[x], from_peer(theirs + i), u, x});
                }
                base += count;
            }
            return base;
        };
        const unsigned long long joint = each_edge([=](unsigned long long place, const StripEdge& edge) {
            work.list[place] = edge;
            for (const I end : {edge.a, edge.b}) {
                parent[end] = end;
                work.best.clear(end);
            }
        });
        if (thread_number() == 0) control->queue[work.slot] = joint;
        grid_barrier(&control->arrived);
        Offers offers{work.best.key, 0, (I)-1};
        for (unsigned long long i = thread_number(); i < joint; i += thread_count()) {
            const StripEdge edge = work.list[i];
            offers.make(edge.a, key_of(edge));
            offers.make(edge.b, key_of(edge));
        }
        grid_barrier(&control->arrived);
        work.run([=](const StripEdge& edge) {
            if (is_own((I)edge.u)) choose_entry((I)edge.u, (I)edge.x);
        });
        if (heavy == 1 && !labels) break;
        work.best = {key_a, end_a};  // which is ready for all trees
        work.then = {key_b, end_b};
        each_edge([=](unsigned long long, const StripEdge& edge) {
            work.best.clear(edge.a);
            work.best.clear(edge.b);
        });
        for (long long v = thread_number(); v < n; v += thread_count()) {
            const I had = tree[v], name = root_of(parent, had);
            if (name != had) tree[v] = name;
        }
        work.turn();
        grid_barrier(&control->arrived);
    }
    if (labels) name_by_smallest(&control->arrived, tree, n, parent);
    const unsigned long long all = write_chosen(&control->arrived, indptr, columns, weights, step, first, own_n, nnz, chosen,
                                                of_block, places, rows, ends, taken);
    if (thread_number() == 0) {
        control->done = 1;
        control->chosen = all;
        control->rounds = work.rounds;
        meetings->number = number;
        control->lost = now(&meetings->lost);
    }
}
