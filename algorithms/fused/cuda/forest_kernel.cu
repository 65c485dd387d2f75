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
    Rounds<ForestEdge, BestKeys> work{&control->arrived, control->queue, 0, 1, tree, {best_a}, {best_b}, list, other};
    for (int heavy = light == 0; heavy < 2; ++heavy) {
        ListBetween<Columns> between{columns, weights, step, real, heavy != 0, light, tree, work.list,
                                     control->queue + work.slot, {work.best.key, 0, (I)-1}, 0, 0};
        deal_all_edges(indptr, n, nnz, between);
        grid_barrier(&control->arrived);
        const unsigned long long count = now(control->queue + work.slot);
        if (thread_number() == 0) control->listed += count, control->light += heavy == 0 ? count : 0;
        work.run([=](const ForestEdge& edge) { choose(chosen, (I)(unsigned int)edge.key); });
        // Trees as they are now, and nothing offered to any, for the heavy edges.
        for (long long v = thread_number(); v < n; v += thread_count()) {
            tree[v] = root_of(tree, (I)v);
            work.best.clear(v);
        }
        work.turn();
        grid_barrier(&control->arrived);
    }
    const unsigned long long all = write_chosen(&control->arrived, indptr, columns, weights, step, (I)0, n, nnz, chosen,
                                                of_block, places, rows, ends, taken);
    if (thread_number() == 0) {
        control->rounds = work.rounds;
        control->chosen = all;
    }
}

// Writes what the forest starts from.
extern "C" __global__ void start_forest(ForestControl* control, long long n, long long nnz, I* tree,
                                        unsigned long long* best_a, unsigned long long* best_b, unsigned int* chosen) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        tree[v] = (I)v;
        best_a[v] = best_b[v] = ~0ull;
    }
    for (long long w = thread_number(); w * 32 < nnz; w += thread_count()) chosen[w] = 0;
    if (thread_number() == 0) *control = ForestControl{};
}
