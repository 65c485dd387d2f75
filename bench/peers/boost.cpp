// The Boost Graph Library behind a C interface: a graph is built once, and each algorithm fills the caller's array.
//
// Graphs are compressed sparse rows with a double on each edge, the form in which Boost's algorithms are fastest.
// Every function but `release` returns a status, since no C++ exception may cross the interface.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/kruskal_min_spanning_tree.hpp>
#include <boost/graph/strong_components.hpp>

struct Edge {
    double weight;
};

using Vertex = std::uint32_t;
using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Edge, boost::no_property, Vertex,
                                                 std::uint32_t>;
using EdgeOf = boost::graph_traits<Graph>::edge_descriptor;

enum Status : int { DONE = 0, FAILED = 1 };

template <class Work>
static int guarded(Work work) noexcept {
    try {
        work();
        return DONE;
    } catch (const std::exception&) {
        return FAILED;
    }
}

extern "C" {

// indptr: n + 1 places.  indices, weights: of the edges, row by row.
int make(std::int64_t n, const std::int64_t* indptr, const std::int64_t* indices, const double* weights, void** made) {
    return guarded([&] {
        std::vector<std::pair<Vertex, Vertex>> edges;
        edges.reserve(indptr[n]);
        for (std::int64_t u = 0; u < n; ++u)
            for (std::int64_t e = indptr[u]; e < indptr[u + 1]; ++e) edges.emplace_back(u, indices[e]);
        const Edge* lengths = reinterpret_cast<const Edge*>(weights);
        *made = new Graph(boost::edges_are_sorted, edges.begin(), edges.end(), lengths, n);
    });
}

void release(void* graph) { delete static_cast<Graph*>(graph); }

// Dijkstra's algorithm with Boost's default queue, a heap of four children.
int sssp(void* graph, std::int64_t source, double* distance) {
    return guarded([&] {
        const Graph& G = *static_cast<Graph*>(graph);
        boost::dijkstra_shortest_paths(
            G, static_cast<Vertex>(source),
            boost::weight_map(boost::get(&Edge::weight, G))
                .distance_map(boost::make_iterator_property_map(distance, boost::get(boost::vertex_index, G)))
                .distance_inf(std::numeric_limits<double>::infinity()));
    });
}

int bfs(void* graph, std::int64_t source, std::int64_t* level) {
    return guarded([&] {
        const Graph& G = *static_cast<Graph*>(graph);
        std::fill(level, level + boost::num_vertices(G), -1);
        level[source] = 0;
        auto levels = boost::make_iterator_property_map(level, boost::get(boost::vertex_index, G));
        boost::breadth_first_search(
            G, static_cast<Vertex>(source),
            boost::visitor(boost::make_bfs_visitor(boost::record_distances(levels, boost::on_tree_edge()))));
    });
}

// Tarjan's algorithm.
int scc(void* graph, std::int64_t* component) {
    return guarded([&] {
        const Graph& G = *static_cast<Graph*>(graph);
        boost::strong_components(
            G, boost::make_iterator_property_map(component, boost::get(boost::vertex_index, G)));
    });
}

// Kruskal's algorithm; each edge is in the graph once.
int mst(void* graph, double* weight) {
    return guarded([&] {
        const Graph& G = *static_cast<Graph*>(graph);
        std::vector<EdgeOf> forest;
        boost::kruskal_minimum_spanning_tree(G, std::back_inserter(forest),
                                             boost::weight_map(boost::get(&Edge::weight, G))
                                                 .vertex_index_map(boost::get(boost::vertex_index, G)));
        *weight = 0;
        for (const EdgeOf& e : forest) *weight += G[e].weight;
    });
}
}
