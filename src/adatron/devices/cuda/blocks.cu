// Dense blocks of many programs, each solved by one thread block: the steps of ``solvers.dense`` with one variable, or a
// pair of them, at a time. NVRTC compiles this file for a GPU, a C++ compiler for the tests of machines without one.
// Both define REAL, the type of kernel values.
//
// The variables of an equality with signs stand for their opposites where the sign is -1: all entries of A are then 1.

typedef long long i64;

constexpr double FORBIDDEN = 1e30;  // stands for "not allowed": finite, so that sums stay finite
constexpr int CHECK = 8;      // steps between looks at the stopping rule
constexpr double ROUNDING_UNIT = 7.105427357601002e-15;
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

__device__ __forceinline__ float most_of(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double most_of(double a, double b) { return fmax(a, b); }
__device__ __forceinline__ float least_of(float a, float b) { return fminf(a, b); }
__device__ __forceinline__ double least_of(double a, double b) { return fmin(a, b); }

// How far to go, and what tells the larger of two gains: a rounding more or less leads to a point that is as good.
__device__ __forceinline__ float quotient(float a, float b) { return __fdividef(a, b); }
__device__ __forceinline__ double quotient(double a, double b) { return a / b; }
__device__ __forceinline__ REAL gained(REAL slope, REAL curve) { return quotient(slope * slope, curve); }

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

// What growth and shrinkage of a variable add to -g and to g.
__device__ __forceinline__ REAL of_growth(double beta, double upper, double epsilon) {
  return (REAL)(beta >= upper ? -FORBIDDEN : beta >= 0. ? -epsilon : epsilon);
}
__device__ __forceinline__ REAL of_shrinkage(double beta, double lower, double epsilon) {
  return (REAL)(beta <= lower ? -FORBIDDEN : beta > 0. ? epsilon : -epsilon);
}

// What each warp has found: its best variable with its sign, what that gains by itself, the curvature of a step with it,
// and the largest gain of any variable.
struct Found { REAL value[32], gain[32], curve[32], sign[32], worst[32]; int index[32]; };

// How far a variable may grow or shrink: to a bound, or to the kink at 0.
__device__ __forceinline__ double room_above(double beta, double upper, double epsilon) {
  return (epsilon > 0. && beta < 0. ? 0. : upper) - beta;
}
__device__ __forceinline__ double room_below(double beta, double lower, double epsilon) {
  return beta - (epsilon > 0. && beta > 0. ? 0. : lower);
}

// A variable after a step, which ends at its bound or kink if it is as long as the room. A sum that differs from a bound,
// or from 0, by rounding is set to it.
__device__ __forceinline__ double moved(double old, double change, bool ends, double lower, double upper, double epsilon) {
  if (ends && epsilon > 0. && (change > 0. ? old < 0. : old > 0.)) return 0.;
  if (ends) return change > 0. ? upper : lower;
  double value = old + change, crumb = ROUNDING_UNIT * fmax(fabs(old), fabs(change));
  if (value - lower <= crumb) return lower;
  if (upper - value <= crumb) return upper;
  return fabs(value) <= crumb ? 0. : value;
}

// The warp that has found the best one, for every thread alike.
template <int WARPS> __device__ __forceinline__ int best_warp(const REAL* value, int lane) {
  return best_lane(lane < WARPS ? value[lane] : (REAL)(-FORBIDDEN * 8));
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
  REAL *above = (REAL*)(memory + 3 * q), *below = above + q;  // rooms
  __shared__ Found first, second;
  __shared__ REAL peaks[32];
  __shared__ int sums[32];
  const REAL* K = a.K + (i64)b * q * q;
  double e = a.epsilon;
  REAL g[V], grow[V], shrink[V], own_k[V], own_sign[V], ki[V], kj[V], largest = REAL(0);
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
    above[at] = (REAL)room_above(x, u, e);
    below[at] = (REAL)room_below(x, l, e);
    own_k[v] = K[(i64)at * q + at];
    own_sign[v] = (REAL)s;
    largest = most_of(largest, own_k[v] < REAL(0) ? -own_k[v] : own_k[v]);
    g[v] = (REAL)(s * a.g[w]);
    grow[v] = of_growth(x, u, e);
    shrink[v] = of_shrinkage(x, l, e);
    group[v] = a.group ? a.group[w] : 0;
    ki[v] = kj[v] = REAL(0);
  }
  int leader = best_lane(largest);
  if (lane == leader) peaks[warp] = largest;
  __syncthreads();
  REAL floor = largest_of<WARPS>(peaks, lane) * (REAL)ROUNDING + (REAL)1e-37;
  REAL tol = (REAL)a.tolerance[b], none = (REAL)(-FORBIDDEN / 2), least = (REAL)(-FORBIDDEN * 4);
  REAL of_i = REAL(0), of_j = REAL(0);  // what the last step adds to g for each value of the rows i and j
  int i = 0, j = 0, last_i = -1, last_j = -1, step = 0, most = a.most[b], round = 0, turn = 0, calm = 0;
  int groups = a.groups > 1 ? a.groups : 1;
  double new_i = 0., new_j = 0.;  // known to the threads of these variables alone, as all else about them
  for (; step < most; step++) {
    // the variable i of this turn's equality that grows with most gain; without one, that gains most by its own step
    bool look = round % CHECK == 0, grows = true;
    REAL best = least, worst = least, gain = least, curve = REAL(1), sign = REAL(1);
    int at = 0;
    if (a.groups == 0) {
#pragma unroll
      for (int v = 0; v < V; v++) {
        g[v] += own_sign[v] * (of_i * ki[v] + of_j * kj[v]);
        REAL up = grow[v] - g[v], down = shrink[v] + g[v];
        bool rises = up >= down;
        REAL slope = most_of(rises ? up : down, REAL(0)), score = gained(slope, most_of(own_k[v], floor));
        worst = most_of(worst, slope);
        // the sign of the gain tells the direction
        if (score > best) { best = score; at = v; gain = rises ? up : -down; curve = own_k[v]; sign = own_sign[v]; }
      }
    } else {
#pragma unroll
      for (int v = 0; v < V; v++) {
        g[v] += own_sign[v] * (of_i * ki[v] + of_j * kj[v]);
        REAL score = group[v] == turn ? grow[v] - g[v] : least;
        if (score > best) { best = score; at = v; curve = own_k[v]; sign = own_sign[v]; }
      }
      gain = best;
    }
    leader = best_lane(best);
    if (lane == leader) {
      first.value[warp] = best;
      first.gain[warp] = gain;
      first.curve[warp] = curve;
      first.sign[warp] = sign;
      first.index[warp] = tid * V + at;
    }
    if (a.groups == 0 && look) {
      leader = best_lane(worst);
      if (lane == leader) first.worst[warp] = worst;
    }
    __syncthreads();
    // all have read what the last step changes
    if (last_i >= 0 && tid == last_i / V) {
      beta[last_i] = new_i;
      above[last_i] = (REAL)room_above(new_i, upper[last_i], e);
      below[last_i] = (REAL)room_below(new_i, lower[last_i], e);
    }
    if (last_j >= 0 && tid == last_j / V) {
      beta[last_j] = new_j;
      above[last_j] = (REAL)room_above(new_j, upper[last_j], e);
      below[last_j] = (REAL)room_below(new_j, lower[last_j], e);
    }
    int from = best_warp<WARPS>(first.value, lane);
    REAL m = first.gain[from], kii = first.curve[from], si = first.sign[from];
    best = first.value[from];
    i = first.index[from];
    if (a.groups == 0) {
      grows = m >= REAL(0);
      m = grows ? m : -m;
      if (!(best > REAL(0)) || (look && largest_of<WARPS>(first.worst, lane) <= tol)) break;
    } else if (m < none) {  // no variable of this equality can grow
      last_i = last_j = -1;
      of_i = of_j = REAL(0);
      if (++calm >= groups) break;
      if (++turn == groups) { turn = 0; round++; }
      __syncthreads();  // all have read what the next step writes
      continue;
    }
    loaded<V>(K + (i64)i * q + tid * V, ki);
    // its partner j, which moves against it
    REAL top = REAL(-1);
    worst = gain = least;
    curve = sign = REAL(1);
    at = 0;
#pragma unroll
    for (int v = 0; v < V; v++) {
      REAL up = grow[v] - g[v], down = shrink[v] + g[v], against = grows ? down : up;  // no branches
      if (group[v] != turn) against = least;
      worst = most_of(worst, against);
      REAL far = most_of(m + against, REAL(0));
      REAL bend = most_of((kii + own_k[v]) - REAL(2) * (si * own_sign[v] * ki[v]), floor), score = gained(far, bend);
      if (score > top) { top = score; at = v; gain = against; curve = bend; sign = own_sign[v]; }
    }
    leader = best_lane(top);
    if (lane == leader) {
      second.value[warp] = top;
      second.gain[warp] = gain;
      second.curve[warp] = curve;
      second.sign[warp] = sign;
      second.index[warp] = tid * V + at;
    }
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
        last_i = last_j = -1;
        of_i = of_j = REAL(0);
        if (++calm >= groups) break;
        if (++turn == groups) { turn = 0; round++; }
        continue;
      }
      calm = 0;
    }
    loaded<V>(K + (i64)j * q + tid * V, kj);  // on its way while the step is found
    // the step; the threads of its variables alone need more of it than REAL has
    bool alone = a.groups == 0 && (j == i || !(top > best));
    REAL d = alone ? quotient(m, most_of(kii, floor)) : quotient(m + second.gain[from], second.curve[from]);
    d = least_of(d, grows ? above[i] : below[i]);
    if (!alone) d = least_of(d, grows ? below[j] : above[j]);
    of_i = si * (grows ? d : -d);
    of_j = alone ? REAL(0) : second.sign[from] * (grows ? -d : d);
    last_i = i;
    last_j = alone ? -1 : j;
    if (tid == i / V || tid == last_j / V) {
      double xi = beta[i], room_i = grows ? room_above(xi, upper[i], e) : room_below(xi, lower[i], e), room = room_i;
      double xj = beta[j], room_j = grows ? room_below(xj, lower[j], e) : room_above(xj, upper[j], e);
      if (!alone) room = fmin(room, room_j);
      double exact = d >= (REAL)room ? room : (double)d;
      new_i = moved(xi, grows ? exact : -exact, exact == room_i, lower[i], upper[i], e);
      new_j = moved(xj, grows ? -exact : exact, exact == room_j, lower[j], upper[j], e);
#pragma unroll
      for (int v = 0; v < V; v++) {
        if (tid * V + v == i) { grow[v] = of_growth(new_i, upper[i], e); shrink[v] = of_shrinkage(new_i, lower[i], e); }
        if (tid * V + v == last_j) { grow[v] = of_growth(new_j, upper[j], e); shrink[v] = of_shrinkage(new_j, lower[j], e); }
      }
    }
    if (++turn == groups) { turn = 0; round++; }
  }
  if (last_i >= 0 && tid == last_i / V) beta[last_i] = new_i;
  if (last_j >= 0 && tid == last_j / V) beta[last_j] = new_j;
  __syncthreads();
  // the variables that have changed, in the order of their places
  double change[V];
  int count = 0;
#pragma unroll
  for (int v = 0; v < V; v++) {
    int at = tid * V + v;
    change[v] = (double)own_sign[v] * beta[at] - a.beta[own + a.places[mine + v]];
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
    a.beta[w] = (double)own_sign[v] * beta[tid * V + v];
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
BLOCK(128, 2)
BLOCK(256, 2)
BLOCK(512, 2)
BLOCK(512, 4)
