// Dense blocks of many programs, each solved by one thread block: the steps of ``solvers.dense`` with one variable, or a
// pair of them, at a time. NVRTC compiles this file for a GPU, a C++ compiler for the tests of machines without one.
// Both define REAL, the type of kernel values.
//
// The variables of an equality with signs stand for their opposites where the sign is -1: all entries of A are then 1.

typedef long long i64;

constexpr double FAR = 1e30;  // stands for "not allowed": finite, so that sums stay finite
constexpr int CHECK = 8;      // steps between looks at the stopping rule
constexpr double CRUMB = 7.105427357601002e-15;
constexpr double ROUNDING = sizeof(REAL) == 4 ? 4.8e-7 : 9.2e-16;  // curvature, as a fraction of the diagonal, that is none

struct Blocks {
  const REAL* K;                // (B, q, q), with lambda^2
  const i64* places;            // (B, q) the variable at each place of the block
  const unsigned char* valid;   // (B, q) whether it may move
  double* beta;                 // (B, N)
  const double *g, *lower, *upper;  // (B, N)
  const signed char *sign, *group;  // (B, N), or null for 1 and 0
  const int* rows;              // (B, N) the row of X behind each variable
  const double* tolerance;      // (B,)
  const int *active, *most;     // (B,) whether to solve a block, and the most steps
  int* points;                  // (B, q) rows of the variables that have changed
  double* changes;              // (B, q) what is added to them
  int *counts, *steps;          // (B,)
  double epsilon;
  int N, groups;                // groups: equalities; 0: single variables may move
};

__device__ __forceinline__ REAL most_of(REAL a, REAL b) { return a > b ? a : b; }

// The lane of a warp that has the largest value; of equal ones the first.
__device__ __forceinline__ int best_lane(float value) {
  unsigned bits = __float_as_uint(value), key = bits ^ ((unsigned)((int)bits >> 31) | 0x80000000u);  // in order, unsigned
  return __ffs(__ballot_sync(~0u, key == __reduce_max_sync(~0u, key))) - 1;
}
__device__ __forceinline__ int best_lane(double value) {
  double best = value;
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) best = most_of(best, __shfl_xor_sync(~0u, best, o));
  unsigned have = __ballot_sync(~0u, value == best);
  return have ? __ffs(have) - 1 : 0;  // NaN is equal to nothing
}

// The sum between its bounds; a sum that differs from a bound, or from 0, by rounding is set to it.
__device__ __forceinline__ double settled(double old, double change, double lower, double upper) {
  double value = old + change, crumb = CRUMB * fmax(fabs(old), fabs(change));
  if (value - lower <= crumb) return lower;
  if (upper - value <= crumb) return upper;
  return fabs(value) <= crumb ? 0. : value;
}

// What growth and shrinkage of a variable add to -g and to g.
__device__ __forceinline__ REAL of_growth(double beta, double upper, double epsilon) {
  return (REAL)(beta >= upper ? -FAR : beta >= 0. ? -epsilon : epsilon);
}
__device__ __forceinline__ REAL of_shrinkage(double beta, double lower, double epsilon) {
  return (REAL)(beta <= lower ? -FAR : beta > 0. ? epsilon : -epsilon);
}

// What each warp has found: its best variable, what that gains by itself, and the largest gain of any variable.
struct Found { REAL value[32], gain[32], worst[32]; int index[32]; };

// The warp that has found the best one, for every thread alike.
template <int WARPS> __device__ __forceinline__ int best_warp(const REAL* value, int lane) {
  return best_lane(lane < WARPS ? value[lane] : (REAL)(-FAR * 8));
}
template <int WARPS> __device__ __forceinline__ REAL largest_of(const REAL* value, int lane) {
  return value[best_warp<WARPS>(value, lane)];
}

// A thread's part of a row of K, in as wide loads as its place allows.
template <int V> __device__ __forceinline__ void loaded(const REAL* from, REAL (&to)[V]) {
  constexpr int WIDE = 16 / sizeof(REAL) < V ? 16 / sizeof(REAL) : V;
  struct __align__(WIDE * sizeof(REAL)) Several { REAL v[WIDE]; };
#pragma unroll
  for (int v = 0; v < V; v += WIDE) {
    Several some = *(const Several*)(from + v);
#pragma unroll
    for (int k = 0; k < WIDE; k++) to[v + k] = some.v[k];
  }
}

template <int T, int V> __device__ __forceinline__ void ascended(const Blocks& a) {
  constexpr int q = T * V, WARPS = T / 32;
  int b = blockIdx.x, tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  i64 own = (i64)b * a.N, mine = (i64)b * q + (i64)tid * V;
  if (!a.active[b]) {
#pragma unroll
    for (int v = 0; v < V; v++) a.changes[mine + v] = 0.;
    if (tid == 0) { a.counts[b] = 0; a.steps[b] = 0; }
    return;
  }
  extern __shared__ double memory[];
  double *beta = memory, *lower = memory + q, *upper = memory + 2 * q;
  REAL *diagonal = (REAL*)(memory + 3 * q), *signs = diagonal + q;
  __shared__ Found first, second;
  __shared__ REAL peaks[32];
  __shared__ int sums[32];
  const REAL* K = a.K + (i64)b * q * q;
  REAL g[V], grow[V], shrink[V], own_k[V], ki[V], kj[V], largest = REAL(0);
  int group[V];
#pragma unroll
  for (int v = 0; v < V; v++) {
    int at = tid * V + v;
    i64 w = own + a.places[mine + v];
    double s = a.sign ? a.sign[w] : 1., x = s * a.beta[w], l = s > 0. ? a.lower[w] : -a.upper[w];
    double u = s > 0. ? a.upper[w] : -a.lower[w];
    bool moves = a.valid[mine + v];
    beta[at] = x;
    lower[at] = l = moves ? l : x;
    upper[at] = u = moves ? u : x;
    own_k[v] = K[(i64)at * q + at];
    diagonal[at] = own_k[v];
    signs[at] = (REAL)s;
    largest = most_of(largest, own_k[v] < REAL(0) ? -own_k[v] : own_k[v]);
    g[v] = (REAL)(s * a.g[w]);
    grow[v] = of_growth(x, u, a.epsilon);
    shrink[v] = of_shrinkage(x, l, a.epsilon);
    group[v] = a.group ? a.group[w] : 0;
    ki[v] = kj[v] = REAL(0);
  }
  int leader = best_lane(largest);
  if (lane == leader) peaks[warp] = largest;
  __syncthreads();
  REAL floor = largest_of<WARPS>(peaks, lane) * (REAL)ROUNDING + (REAL)1e-37;
  REAL tol = (REAL)a.tolerance[b], none = (REAL)(-FAR / 2), least = (REAL)(-FAR * 4);
  REAL of_i = REAL(0), of_j = REAL(0);  // what the last step adds to g for each value of the rows i and j
  int i = 0, j = 0, last_i = -1, last_j = -1, step = 0, turn = 0, calm = 0, groups = a.groups > 1 ? a.groups : 1;
  double new_i = 0., new_j = 0.;
  for (; step < a.most[b]; step++) {
    // the variable i of this turn's equality that grows with most gain; without one, that gains most by its own step
    bool look = (step / groups) % CHECK == 0, grows = true;
    REAL best = least, worst = least, gain = least;
    int at = 0;
#pragma unroll
    for (int v = 0; v < V; v++) {
      g[v] += signs[tid * V + v] * (of_i * ki[v] + of_j * kj[v]);
      REAL up = grow[v] - g[v], down = shrink[v] + g[v], score = group[v] == turn ? up : least;
      if (a.groups == 0) {
        bool rises = up >= down;
        REAL slope = most_of(rises ? up : down, REAL(0));
        worst = most_of(worst, slope);
        score = slope * slope / most_of(own_k[v], floor);
        up = rises ? up : -down;  // the sign tells the direction
      }
      if (score > best) { best = score; at = v; gain = up; }
    }
    leader = best_lane(best);
    if (lane == leader) { first.value[warp] = best; first.gain[warp] = gain; first.index[warp] = tid * V + at; }
    if (a.groups == 0 && look) {
      leader = best_lane(worst);
      if (lane == leader) first.worst[warp] = worst;
    }
    __syncthreads();
    if (tid == 0 && last_i >= 0) {
      beta[last_i] = new_i;
      if (last_j != last_i) beta[last_j] = new_j;
    }
    int from = best_warp<WARPS>(first.value, lane);
    REAL m = first.gain[from];
    best = first.value[from];
    i = first.index[from];
    if (a.groups == 0) {
      grows = m >= REAL(0);
      m = grows ? m : -m;
      if (!(best > REAL(0)) || (look && largest_of<WARPS>(first.worst, lane) <= tol)) break;
    } else if (m < none) {  // no variable of this equality can grow
      last_i = -1;
      of_i = of_j = REAL(0);
      if (++calm >= groups) break;
      turn = (turn + 1) % groups;
      __syncthreads();  // all have read what the next step writes
      continue;
    }
    loaded<V>(K + (i64)i * q + tid * V, ki);
    // its partner j, which moves against it
    REAL kii = diagonal[i], si = signs[i], top = REAL(-1);
    worst = gain = least;
    at = 0;
#pragma unroll
    for (int v = 0; v < V; v++) {
      REAL against = group[v] != turn ? least : grows ? g[v] + shrink[v] : grow[v] - g[v];
      worst = most_of(worst, against);
      REAL far = most_of(m + against, REAL(0)), curve = (kii + own_k[v]) - REAL(2) * (si * signs[tid * V + v] * ki[v]);
      REAL score = far * far / most_of(curve, floor);
      if (score > top) { top = score; at = v; gain = against; }
    }
    leader = best_lane(top);
    if (lane == leader) { second.value[warp] = top; second.gain[warp] = gain; second.index[warp] = tid * V + at; }
    if (a.groups > 0 && look) {
      leader = best_lane(worst);
      if (lane == leader) second.worst[warp] = worst;
    }
    __syncthreads();
    from = best_warp<WARPS>(second.value, lane);
    top = second.value[from];
    j = second.index[from];
    if (a.groups > 0) {
      if (!(top > REAL(0)) || (look && m + largest_of<WARPS>(second.worst, lane) <= tol)) {
        last_i = -1;
        of_i = of_j = REAL(0);
        if (++calm >= groups) break;
        turn = (turn + 1) % groups;
        continue;
      }
      calm = 0;
    }
    // the step, by every thread alike: up to a bound, or to the kink at 0
    double xi = beta[i], xj = beta[j], e = a.epsilon, d;
    double high_i = e > 0. && xi < 0. ? 0. : upper[i], low_i = e > 0. && xi > 0. ? 0. : lower[i];
    double high_j = e > 0. && xj < 0. ? 0. : upper[j], low_j = e > 0. && xj > 0. ? 0. : lower[j];
    double end_i = grows ? high_i : low_i, end_j = grows ? low_j : high_j;
    double room_i = grows ? end_i - xi : xi - end_i, room_j = grows ? xj - end_j : end_j - xj;
    bool alone = a.groups == 0 && (j == i || !(top > best));
    if (alone) {
      j = i;
      d = fmin((double)m / (double)most_of(kii, floor), room_i);
    } else {
      REAL curve = (kii + diagonal[j]) - REAL(2) * (si * signs[j] * K[(i64)i * q + j]);
      d = fmin(((double)m + (double)second.gain[from]) / (double)most_of(curve, floor), fmin(room_i, room_j));
    }
    new_i = d == room_i ? end_i : settled(xi, grows ? d : -d, lower[i], upper[i]);
    new_j = alone ? new_i : d == room_j ? end_j : settled(xj, grows ? -d : d, lower[j], upper[j]);
    loaded<V>(K + (i64)j * q + tid * V, kj);
#pragma unroll
    for (int v = 0; v < V; v++) {
      if (tid * V + v == i) { grow[v] = of_growth(new_i, upper[i], e); shrink[v] = of_shrinkage(new_i, lower[i], e); }
      else if (tid * V + v == j) { grow[v] = of_growth(new_j, upper[j], e); shrink[v] = of_shrinkage(new_j, lower[j], e); }
    }
    REAL length = (REAL)(grows ? d : -d);
    of_i = si * length;
    of_j = alone ? REAL(0) : -(signs[j] * length);
    last_i = i;
    last_j = j;
    turn = (turn + 1) % groups;
  }
  __syncthreads();
  if (tid == 0 && last_i >= 0) {
    beta[last_i] = new_i;
    if (last_j != last_i) beta[last_j] = new_j;
  }
  __syncthreads();
  // the variables that have changed, in the order of their places
  double change[V];
  int count = 0;
#pragma unroll
  for (int v = 0; v < V; v++) {
    int at = tid * V + v;
    change[v] = (double)signs[at] * beta[at] - a.beta[own + a.places[mine + v]];
    count += change[v] != 0.;
  }
  int upto = count;
  for (int o = 1; o < 32; o <<= 1) {
    int other = __shfl_up_sync(~0u, upto, o);
    if (lane >= o) upto += other;
  }
  if (lane == 31) sums[warp] = upto;
  __syncthreads();
  int to = upto - count, all = 0;
  for (int k = 0; k < WARPS; k++) {
    if (k < warp) to += sums[k];
    all += sums[k];
  }
#pragma unroll
  for (int v = 0; v < V; v++) {
    if (change[v] == 0.) continue;
    i64 w = own + a.places[mine + v];
    a.beta[w] = (double)signs[tid * V + v] * beta[tid * V + v];
    a.points[(i64)b * q + to] = a.rows[w];
    a.changes[(i64)b * q + to] = change[v];
    to++;
  }
#pragma unroll
  for (int v = 0; v < V; v++)
    if (tid * V + v >= all) a.changes[mine + v] = 0.;
  if (tid == 0) { a.counts[b] = all; a.steps[b] = step; }
}

#define BLOCK(T, V) \
  extern "C" __global__ void __launch_bounds__(T, 1) ascend_##T##_##V(Blocks a) { ascended<T, V>(a); }
BLOCK(32, 2)
BLOCK(64, 4)
BLOCK(128, 4)
BLOCK(256, 4)
BLOCK(256, 8)
