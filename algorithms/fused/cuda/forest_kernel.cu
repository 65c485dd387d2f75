// The kernel of forest.cu for one GPU, whose columns are an array or packed, as COLUMNS reads them.

// tree: 0, 1, … at first, and at the end the smallest vertex of each vertex's tree.  best_a,
// best_b: all ones at first.  chosen: a bit for each entry, 0 at first; 1 where an edge u < v of the forest lies.  light:
// edges below this ordinal go first.  of_block: for each block, how many edges lie in its part of the matrix.  places,
// rows, ends, taken: where the forest's edges lie, their ends, and the 32 bits of their weights.
extern "C" __global__ void __launch_bounds__(FOREST_THREADS, FOREST_BLOCKS)
    forest(ForestControl* control, const I* indptr, COLUMN_ARRAYS, const int* weights, I step, bool real, I n, I nnz,
           unsigned int light, I* tree, unsigned long long* best_a, unsigned long long* best_b, ForestEdge* list,
           ForestEdge* other, unsigned int* chosen, unsigned int* of_block, I* places, I* rows, I* ends, int* taken) {
    const Columns columns = COLUMNS;
    Lightest<Columns> lightest{columns, weights, step, real, best_a, 0, 0};
    deal_all_edges(indptr, n, nnz, lightest);
    grid_barrier(&control->arrived);
    for (long long v = thread_number(); v < n; v += thread_count()) {
        const unsigned long long key = best_a[v];
        if (key == ~0ull) continue;
        const I place = (I)(unsigned int)key, x = columns[place];
        const unsigned long long there = best_a[x];
        if (v > x && there >> 32 == key >> 32 && columns[(I)(unsigned int)there] == v) continue;  // x chose it, too
        choose(chosen, v < x ? place : place_of(indptr, columns, x, (I)v));
        join(tree, (I)v, x);
    }
    grid_barrier(&control->arrived);
    for (long long v = thread_number(); v < n; v += thread_count()) {
        best_a[v] = ~0ull;
        tree[v] = root_of(tree, (I)v);
    }
    grid_barrier(&control->arrived);
    unsigned long long *best = best_a, *best_then = best_b, rounds = 0;
    unsigned int slot = 0;
    for (int heavy = light == 0; heavy < 2; ++heavy) {
        ListBetween<Columns> between{columns, weights, step, real, heavy != 0, light, tree, list,
                                     control->queue + slot, {best, 0, (I)-1}, 0, 0};
        deal_all_edges(indptr, n, nnz, between);
        if (thread_number() == 0) control->queue[(slot + 1) % 3] = 0;
        grid_barrier(&control->arrived);
        unsigned long long count = now(control->queue + slot);
        if (thread_number() == 0) control->listed += count, control->light += heavy == 0 ? count : 0;
        while (count > 0) {
            ++rounds;
            // Take the lightest edge of every tree.
            for (unsigned long long i = thread_number(); i < count; i += thread_count()) {
                const ForestEdge edge = list[i];
                best_then[edge.a] = best_then[edge.b] = ~0ull;
                if (best[edge.a] != edge.key && best[edge.b] != edge.key) continue;
                choose(chosen, (I)(unsigned int)edge.key);
                join(tree, edge.a, edge.b);
            }
            slot = (slot + 1) % 3;
            if (thread_number() == 0) control->queue[(slot + 1) % 3] = 0;
            grid_barrier(&control->arrived);
            // What is left of the list, by the new trees, is offered to them.
            Offers offers{best_then, 0, (I)-1};
            for (unsigned long long first = thread_number() - lane_number(); first < count; first += thread_count()) {
                ForestEdge edge{0, 0, 0};
                if (first + lane_number() < count) {
                    edge = list[first + lane_number()];
                    edge.a = root_of(tree, edge.a);
                    edge.b = root_of(tree, edge.b);
                }
                const bool left[] = {edge.a != edge.b};
                append(left, control->queue + slot, [&](int, unsigned long long place) {
                    other[place] = edge;
                    offers.make(edge.a, edge.key);
                    offers.make(edge.b, edge.key);
                });
            }
            grid_barrier(&control->arrived);
            count = now(control->queue + slot);
            exchange(best, best_then);
            exchange(list, other);
        }
        // Trees as they are now, and nothing offered to any, for the heavy edges.
        for (long long v = thread_number(); v < n; v += thread_count()) {
            tree[v] = root_of(tree, (I)v);
            best[v] = ~0ull;
        }
        slot = (slot + 1) % 3;
        if (thread_number() == 0) control->queue[slot] = 0;
        grid_barrier(&control->arrived);
    }
    const unsigned long long all = write_chosen(&control->arrived, indptr, columns, weights, step, (I)0, n, nnz, chosen,
                                                of_block, places, rows, ends, taken);
    if (thread_number() == 0) {
        control->rounds = rounds + 1;
        control->chosen = all;
    }
}

// What the forest starts from.
extern "C" __global__ void start_forest(ForestControl* control, long long n, long long nnz, I* tree,
                                        unsigned long long* best_a, unsigned long long* best_b, unsigned int* chosen) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        tree[v] = (I)v;
        best_a[v] = best_b[v] = ~0ull;
    }
    for (long long w = thread_number(); w * 32 < nnz; w += thread_count()) chosen[w] = 0;
    if (thread_number() == 0) *control = ForestControl{};
}
