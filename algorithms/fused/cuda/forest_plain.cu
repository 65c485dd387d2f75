// The forest of a graph whose columns are an array: forest.cu with their reader.

extern "C" __global__ void __launch_bounds__(FOREST_THREADS, FOREST_BLOCKS)
forest(ForestControl* control, const I* indptr, const J* indices, const int* weights, I step, bool real, I n, I nnz,
       unsigned int light, I* tree, unsigned long long* best_a, unsigned long long* best_b, ForestEdge* list, ForestEdge* other,
       unsigned int* chosen, unsigned int* of_block, I* places, I* rows, I* ends, int* taken) {
    grow_forest(control, indptr, Indices{indices}, weights, step, real, n, nnz, light, tree, best_a, best_b, list, other,
                chosen, of_block, places, rows, ends, taken);
}
