// The forest of a graph whose columns are packed, which are read as they are: forest.cu with another reader.

extern "C" __global__ void __launch_bounds__(FOREST_PACKED_THREADS, FOREST_PACKED_BLOCKS)
forest_packed(ForestControl* control, const I* indptr, const unsigned int* words, const I* bases, const I* starts,
              const int* weights, I step, bool real, I n, I nnz, unsigned int light, I* tree,
              unsigned long long* best_a, unsigned long long* best_b, ForestEdge* list, ForestEdge* other, unsigned int* chosen,
              unsigned int* of_block, I* places, I* rows, I* ends, int* taken) {
    grow_forest(control, indptr, Packed{words, bases, starts}, weights, step, real, n, nnz, light, tree, best_a, best_b,
                list, other, chosen, of_block, places, rows, ends, taken);
}
