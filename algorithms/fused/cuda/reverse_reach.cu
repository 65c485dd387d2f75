// Which vertices lead back to where `leads` is set, by rows alone: a vertex does if one of its successors does.
//
// A pass is over those that wait. What one finds, others see in the same pass. A row is read as far as the first hit.

extern "C" __global__ void look_ahead(const I* indptr, const J* indices, const I* waiting, long long count, bool* leads) {
    for (long long first = thread_number() - lane_number(); first < count; first += thread_count()) {
        const bool has = first + lane_number() < count;
        const I v = has ? waiting[first + lane_number()] : 0;
        if (first_in_row(indptr, indices, v, has, [=](I, I u) { return now(leads + u); }) >= 0) leads[v] = true;
    }
}
