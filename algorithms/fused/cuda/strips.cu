// Strips of rows on several GPUs, and a persistent kernel on each: a barrier of all their grids.
//
// Every GPU holds the rows of its own vertices, and vectors of all vertices. A GPU reads the vectors of the others where
// they lie, over the link between them. What one of them writes in its own memory before a barrier all can read after.
//
// A barrier is one of the grid, whose last block then writes a letter to each other GPU, and waits for theirs in its own
// memory: a trip over the link. Letters go to two boxes in turns. Whoever waits for longer than it has patience gives up,
// and says for whom it has waited: a kernel that the host did not launch hangs nobody.

// The GPUs: how many, and which is this one.  table: the addresses of each array, a row of `count` of them.
struct Team {
    const unsigned long long* table;
    int count, own;

    template <class V> __device__ __forceinline__ V* of(int array, int gpu) const {
        return reinterpret_cast<V*>(table[array * count + gpu]);
    }
};

// Reads what is in another GPU's memory now.
template <class V> __device__ __forceinline__ V from_peer(const V* address) {
    return *const_cast<const volatile V*>(address);
}

__device__ __forceinline__ unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

__device__ __forceinline__ void send(Letter* to, const Letter& letter) {
    for (int i = 0; i < LETTER_WORDS; ++i) *(volatile unsigned long long*)(to->words + i) = letter.words[i];
}

// The barrier.  number: of this one, from 1 on.  write(letter): what this GPU tells.  read(letters, count): what all have
// told, in the order of the GPUs. One thread writes and reads.
template <class Write, class Read>
__device__ __forceinline__ void meet(Meetings* own, const Team& team, unsigned long long number, const Write& write,
                                     const Read& read) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_system();
        if (atomicAdd(&own->arrived, 1ull) != gridDim.x - 1) {
            unsigned long long seen;
            do {
                asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(&own->released) : "memory");
            } while (seen < number);
        } else {
            __threadfence_system();
            own->arrived = 0;
            Letter all[MAX_GPUS] = {};
            write(all[team.own]);
            for (int gpu = 0; gpu < team.count; ++gpu)
                if (gpu != team.own) send(&team.of<Meetings>(0, gpu)->box[number % 2][team.own], all[team.own]);
            __threadfence_system();
            for (int gpu = 0; gpu < team.count; ++gpu) {
                if (gpu == team.own) continue;
                const unsigned long long* const there = &team.of<Meetings>(0, gpu)->box[number % 2][team.own].number;
                asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(there), "l"(number) : "memory");
            }
            const unsigned long long begun = nanoseconds();
            for (int gpu = 0; gpu < team.count; ++gpu) {
                if (gpu == team.own) continue;
                const Letter* const letter = &own->box[number % 2][gpu];
                unsigned long long seen;
                do {
                    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(seen) : "l"(&letter->number) : "memory");
                } while (seen < number && nanoseconds() - begun < own->patience);
                if (seen < number) own->lost = gpu + 1;
                for (int i = 0; i < LETTER_WORDS; ++i) all[gpu].words[i] = from_peer(letter->words + i);
            }
            read(all, team.count);
            __threadfence();
            asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(&own->released), "l"(number) : "memory");
        }
        __threadfence();
    }
    __syncthreads();
}
