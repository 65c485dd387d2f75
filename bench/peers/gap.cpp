// The methods of the GAP benchmark suite, written anew for one thread, behind a C interface.
//
//   S. Beamer, K. Asanovic, D. Patterson, The GAP benchmark suite, arXiv:1508.03619, 2015
//   U. Meyer, P. Sanders, Delta-stepping, J. Algorithms 49(1), 2003; bucket fusion: Y. Zhang et al., CGO 2020
//   S. Beamer et al., Direction-optimizing breadth-first search, SC 2012
//   M. Sutton, T. Ben-Nun, A. Barak, Optimizing parallel graph connectivity (Afforest), IPDPS 2018
//
// and strong components, which the suite has not, by trimming, a giant between two searches, and Tarjan for the rest:
//
//   L. Fleischer, B. Hendrickson, A. Pinar, On identifying strongly connected components in parallel, IPDPS 2000
//   R. E. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Computing 1(2), 1972
//
// A graph is two compressed adjacency lists, of edges out and in; the weights lie beside the heads of the edges out.
// Every function but `release` returns a status, since no C++ exception may cross the interface.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <unordered_map>
#include <vector>

using Vertex = std::int32_t;
using Length = std::int32_t;

struct Arc {
    Vertex head;
    Length length;
};

struct Graph {
    Vertex n;
    std::vector<std::int64_t> out_start, in_start;
    std::vector<Vertex> out, in;
    std::vector<Arc> arcs;
};

enum Status : int { DONE = 0, FAILED = 1 };
constexpr Length FAR = std::numeric_limits<Length>::max() / 2;
constexpr std::size_t FUSED_BIN = 1000;  // a bin of fewer vertices is expanded at once
constexpr int PULL_SHARE = 15, PUSH_SHARE = 18;  // Beamer's alpha and beta
constexpr int SAMPLED_EDGES = 2, SAMPLED_VERTICES = 1024;  // Afforest's

template <class Work>
static int guarded(Work work) noexcept {
    try {
        work();
        return DONE;
    } catch (const std::exception&) {
        return FAILED;
    }
}

namespace {

class Bits {
  public:
    explicit Bits(Vertex n) : words(static_cast<std::size_t>(n) / 64 + 1) {}
    bool has(Vertex v) const { return words[static_cast<std::size_t>(v) >> 6] >> (v & 63) & 1; }
    void add(Vertex v) { words[static_cast<std::size_t>(v) >> 6] |= std::uint64_t{1} << (v & 63); }
    void clear() { std::fill(words.begin(), words.end(), 0); }
    std::vector<std::uint64_t> words;
};

void relax(const Graph& G, Vertex u, Length width, Length* d, std::vector<std::vector<Vertex>>& bins) {
    for (std::int64_t e = G.out_start[u]; e < G.out_start[u + 1]; ++e) {
        const Arc arc = G.arcs[e];
        const Length longer = d[u] + arc.length;
        if (longer >= d[arc.head]) continue;
        d[arc.head] = longer;
        const std::size_t bin = static_cast<std::size_t>(longer / width);
        if (bin >= bins.size()) bins.resize(bin + 1);
        bins[bin].push_back(arc.head);
    }
}

Vertex root(std::vector<Vertex>& parent, Vertex v) {
    while (parent[v] != parent[parent[v]]) parent[v] = parent[parent[v]];
    return parent[v];
}

void link(std::vector<Vertex>& parent, Vertex u, Vertex v) {
    Vertex a = parent[u], b = parent[v];
    while (a != b) {
        const Vertex high = std::max(a, b), low = std::min(a, b), above = parent[high];
        if (above == low) return;
        if (above == high) {
            parent[high] = low;
            return;
        }
        a = parent[parent[high]];
        b = parent[low];
    }
}

// Marks with `mark` what a vertex leads to along the lists, within the vertices that have no component yet.
void reach(const std::vector<std::int64_t>& start, const std::vector<Vertex>& heads, Vertex from, std::uint8_t mark,
           const std::int32_t* component, std::vector<std::uint8_t>& marks, std::vector<Vertex>& queue) {
    queue.assign(1, from);
    marks[from] |= mark;
    for (std::size_t at = 0; at < queue.size(); ++at)
        for (std::int64_t e = start[queue[at]]; e < start[queue[at] + 1]; ++e) {
            const Vertex v = heads[e];
            if (component[v] >= 0 || (marks[v] & mark)) continue;
            marks[v] |= mark;
            queue.push_back(v);
        }
}

// Gives a component of its own to every vertex that, of those without one, no edge leaves or none enters.
void trim(const Graph& G, std::int32_t* component) {
    std::vector<Vertex> out(G.n), in(G.n), alone;
    for (Vertex v = 0; v < G.n; ++v) {
        out[v] = static_cast<Vertex>(G.out_start[v + 1] - G.out_start[v]);
        in[v] = static_cast<Vertex>(G.in_start[v + 1] - G.in_start[v]);
        if (out[v] == 0 || in[v] == 0) alone.push_back(v), component[v] = v;
    }
    for (std::size_t at = 0; at < alone.size(); ++at) {
        const Vertex u = alone[at];
        for (std::int64_t e = G.out_start[u]; e < G.out_start[u + 1]; ++e)
            if (component[G.out[e]] < 0 && --in[G.out[e]] == 0) alone.push_back(G.out[e]), component[G.out[e]] = G.out[e];
        for (std::int64_t e = G.in_start[u]; e < G.in_start[u + 1]; ++e)
            if (component[G.in[e]] < 0 && --out[G.in[e]] == 0) alone.push_back(G.in[e]), component[G.in[e]] = G.in[e];
    }
}

// Tarjan's search, without recursion, of the vertices that have no component yet.
void search_depth_first(const Graph& G, std::int32_t* component) {
    std::vector<Vertex> number(G.n, -1), low(G.n), stack, path;
    std::vector<std::int64_t> next(G.n);
    Vertex count = 0;
    for (Vertex root = 0; root < G.n; ++root) {
        if (component[root] >= 0) continue;
        path.assign(1, root);
        while (!path.empty()) {
            const Vertex u = path.back();
            if (number[u] < 0) {
                number[u] = low[u] = count++;
                next[u] = G.out_start[u];
                stack.push_back(u);
            }
            bool down = false;
            while (next[u] < G.out_start[u + 1]) {
                const Vertex v = G.out[next[u]];
                if (component[v] < 0) {
                    if (number[v] < 0) {
                        path.push_back(v);
                        down = true;
                        break;
                    }
                    low[u] = std::min(low[u], low[v]);
                }
                ++next[u];
            }
            if (down) continue;
            path.pop_back();
            if (low[u] != number[u]) continue;
            for (Vertex v = -1; v != u;) {
                v = stack.back();
                stack.pop_back();
                component[v] = u;
            }
        }
    }
}

}  // namespace

extern "C" {

// Edges out (indptr, indices, lengths) and in (in_indptr, in_indices), row by row.
int make(std::int64_t n, const std::int64_t* indptr, const Vertex* indices, const Length* lengths,
         const std::int64_t* in_indptr, const Vertex* in_indices, void** made) {
    return guarded([&] {
        auto* G = new Graph;
        *made = G;
        G->n = static_cast<Vertex>(n);
        G->out_start.assign(indptr, indptr + n + 1);
        G->in_start.assign(in_indptr, in_indptr + n + 1);
        G->out.assign(indices, indices + indptr[n]);
        G->in.assign(in_indices, in_indices + in_indptr[n]);
        G->arcs.resize(indptr[n]);
        for (std::int64_t e = 0; e < indptr[n]; ++e) G->arcs[e] = {indices[e], lengths[e]};
    });
}

void release(void* graph) { delete static_cast<Graph*>(graph); }

// Delta-stepping with bins of a width. Vertices are never taken out of a bin; one that has improved since is passed over.
int sssp(void* graph, std::int64_t source, Length width, Length* d) {
    return guarded([&] {
        const Graph& G = *static_cast<Graph*>(graph);
        std::fill(d, d + G.n, FAR);
        d[source] = 0;
        std::vector<std::vector<Vertex>> bins(1, {static_cast<Vertex>(source)});
        std::vector<Vertex> frontier;
        for (std::size_t bin = 0; bin < bins.size(); ++bin) {
            while (!bins[bin].empty()) {
                frontier.clear();
                std::swap(frontier, bins[bin]);
                const bool small = frontier.size() < FUSED_BIN;
                const std::int64_t least = static_cast<std::int64_t>(bin) * width;
                for (Vertex u : frontier)
                    if (small || d[u] >= least) relax(G, u, width, d, bins);
            }
        }
    });
}

// Levels; top-down, and, if edges in are there to be used, bottom-up while the frontier has many edges.
int bfs(void* graph, std::int64_t source, std::int32_t both_ways, std::int32_t* level) {
    return guarded([&] {
        const Graph& G = *static_cast<Graph*>(graph);
        std::fill(level, level + G.n, -1);
        level[source] = 0;
        std::vector<Vertex> queue(1, static_cast<Vertex>(source)), next;
        Bits front(G.n), after(G.n);
        std::int64_t unexplored = G.out_start[G.n], edges = G.out_start[source + 1] - G.out_start[source];
        for (std::int32_t depth = 1; !queue.empty();) {
            if (both_ways && edges > unexplored / PULL_SHARE) {
                front.clear();
                for (Vertex v : queue) front.add(v);
                std::int64_t awake = static_cast<std::int64_t>(queue.size()), before;
                do {
                    before = awake;
                    awake = 0;
                    after.clear();
                    for (Vertex v = 0; v < G.n; ++v) {
                        if (level[v] >= 0) continue;
                        for (std::int64_t e = G.in_start[v]; e < G.in_start[v + 1]; ++e)
                            if (front.has(G.in[e])) {
                                level[v] = depth;
                                after.add(v);
                                ++awake;
                                break;
                            }
                    }
                    std::swap(front, after);
                    ++depth;
                } while (awake >= before || awake > G.n / PUSH_SHARE);
                queue.clear();
                for (Vertex v = 0; v < G.n; ++v)
                    if (front.has(v)) queue.push_back(v);
                edges = 1;
            } else {
                unexplored -= edges;
                edges = 0;
                next.clear();
                for (Vertex u : queue)
                    for (std::int64_t e = G.out_start[u]; e < G.out_start[u + 1]; ++e) {
                        const Vertex v = G.out[e];
                        if (level[v] >= 0) continue;
                        level[v] = depth;
                        next.push_back(v);
                        edges += G.out_start[v + 1] - G.out_start[v];
                    }
                std::swap(queue, next);
                ++depth;
            }
        }
    });
}

// Weak components by Afforest: two edges of each vertex first; then the largest tree's edges need not be looked at.
int wcc(void* graph, std::int32_t* label) {
    return guarded([&] {
        const Graph& G = *static_cast<Graph*>(graph);
        std::vector<Vertex> parent(G.n);
        for (Vertex v = 0; v < G.n; ++v) parent[v] = v;
        for (int k = 0; k < SAMPLED_EDGES; ++k) {
            for (Vertex v = 0; v < G.n; ++v)
                if (G.out_start[v] + k < G.out_start[v + 1]) link(parent, v, G.out[G.out_start[v] + k]);
            for (Vertex v = 0; v < G.n; ++v) root(parent, v);
        }
        std::unordered_map<Vertex, int> seen;
        Vertex giant = 0;
        std::uint64_t state = 1;
        for (int k = 0; k < SAMPLED_VERTICES && G.n > 0; ++k) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const Vertex tree = parent[static_cast<Vertex>((state >> 33) % static_cast<std::uint64_t>(G.n))];
            if (++seen[tree] > seen[giant]) giant = tree;
        }
        for (Vertex v = 0; v < G.n; ++v) {
            if (parent[v] == giant) continue;
            for (std::int64_t e = G.out_start[v] + SAMPLED_EDGES; e < G.out_start[v + 1]; ++e)
                link(parent, v, G.out[e]);
            for (std::int64_t e = G.in_start[v]; e < G.in_start[v + 1]; ++e) link(parent, v, G.in[e]);
        }
        for (Vertex v = 0; v < G.n; ++v) label[v] = root(parent, v);
    });
}

int scc(void* graph, std::int32_t* component) {
    return guarded([&] {
        const Graph& G = *static_cast<Graph*>(graph);
        std::fill(component, component + G.n, -1);
        trim(G, component);
        Vertex pivot = -1;
        double most = -1;
        for (Vertex v = 0; v < G.n; ++v) {
            const double degrees = static_cast<double>(G.out_start[v + 1] - G.out_start[v]) *
                                   static_cast<double>(G.in_start[v + 1] - G.in_start[v]);
            if (component[v] < 0 && degrees > most) most = degrees, pivot = v;
        }
        if (pivot < 0) return;
        std::vector<std::uint8_t> marks(G.n, 0);
        std::vector<Vertex> queue;
        reach(G.out_start, G.out, pivot, 1, component, marks, queue);
        reach(G.in_start, G.in, pivot, 2, component, marks, queue);
        for (Vertex v = 0; v < G.n; ++v)
            if (marks[v] == 3) component[v] = pivot;
        search_depth_first(G, component);
    });
}
}
