// What survives a launch of a search, which components look at, too.

struct SearchControl {
    unsigned int arrived, done;
    unsigned long long steps, pulls, unexplored, pulling;
    unsigned long long queue[3];
    unsigned long long found[3];
};
