// Tiles of kernel values, and what is summed of them. NVRTC compiles this file for a GPU; a C++ compiler compiles it
// for the tests of machines without one. Both define before it
//   REAL        float or double, the type of kernel values
//   PARAMETERS  how many numbers the kernel has
//   MAP         statements that turn s = x.z and the squared norms x, z into s = k(x, z), with the numbers p[...]
//
// A value is one chain of fused multiply-adds over the features, cut every PASS of them as on a CPU, and then the map:
// it depends on its two rows and on nothing else. Values are summed in float64, in an order that the arguments fix.

typedef long long i64;

constexpr int WIDE = 16 / sizeof(REAL);  // numbers of one load
constexpr int EACH = 2 * WIDE;           // rows, and points, of a thread
constexpr int SIDE = 16 * EACH;          // rows, and points, of a tile: 16 x 16 threads
constexpr int DEEP = 8;                  // features in shared memory at a time
constexpr int PASS = 128;                // features of a chain
constexpr int LOADS = DEEP / WIDE;       // threads that load one row

struct __align__(16) Several { REAL v[WIDE]; };
struct Numbers { double p[PARAMETERS]; };

__device__ __forceinline__ float fused(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double fused(double a, double b, double c) { return fma(a, b, c); }
__device__ __forceinline__ float power_of_two(float x) { return exp2f(x); }
__device__ __forceinline__ double power_of_two(double x) { return exp2(x); }
__device__ __forceinline__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double larger(double a, double b) { return fmax(a, b); }

// exp(-gamma |x - z|^2); c = gamma log2(e). The distance of equal rows is 0, to the bit.
__device__ __forceinline__ REAL gaussian(REAL s, REAL x, REAL z, REAL c) {
  return power_of_two(-c * larger(fused(REAL(-2), s, x + z), REAL(0)));
}

// (gamma s + coef0)^degree, squared and multiplied from the highest bit of the degree down
__device__ __forceinline__ REAL polynomial(REAL s, REAL gamma, int degree, REAL coef0) {
  REAL base = gamma * s + coef0, value = REAL(1);
  for (int bit = degree > 0 ? 1 << (31 - __clz(degree)) : 0; bit > 0; bit >>= 1) {
    value = value * value;
    if (degree & bit) value = value * base;
  }
  return value;
}

// tanh(gamma s + coef0) = (1 - e) / (1 + e) with the sign of the argument, e = exp(-2 |gamma s + coef0|)
__device__ __forceinline__ REAL hyperbolic(REAL s, REAL gamma, REAL coef0, REAL c) {
  REAL t = gamma * s + coef0, e = power_of_two(-c * (t < REAL(0) ? -t : t));
  REAL value = (REAL(1) - e) / (REAL(1) + e);
  return t >= REAL(0) ? value : -value;
}

__device__ __forceinline__ REAL mapped(REAL s, REAL x, REAL z, const double* p) {
  MAP
  return s;
}

// The place of a thread's i-th row, or point, in its tile.
__device__ __forceinline__ int place(int i, int t) { return (i / WIDE) * (16 * WIDE) + t * WIDE + i % WIDE; }

struct __align__(16) Panels { REAL a[2][DEEP][SIDE + WIDE], b[2][DEEP][SIDE + WIDE]; };

// acc = x.z of a tile. This thread loads pa and pb, the feature `at` of one row and of one point.
template <bool LONG>
__device__ __forceinline__ void products(const REAL* pa, const REAL* pb, int d, Panels& m, int row, int at, int ty, int tx,
                                         REAL (&acc)[EACH][EACH]) {
  REAL total[LONG ? EACH : 1][LONG ? EACH : 1];
#pragma unroll
  for (int i = 0; i < EACH; i++)
#pragma unroll
    for (int j = 0; j < EACH; j++) acc[i][j] = REAL(0);
  Several a = *(const Several*)pa, b = *(const Several*)pb;
  int now = 0;
  __syncthreads();  // the panels of the products before are read
#pragma unroll
  for (int k = 0; k < WIDE; k++) { m.a[0][at + k][row] = a.v[k]; m.b[0][at + k][row] = b.v[k]; }
  __syncthreads();
  for (int k = DEEP;; k += DEEP) {
    bool more = k < d;
    if (more) { a = *(const Several*)(pa + k); b = *(const Several*)(pb + k); }
#pragma unroll
    for (int f = 0; f < DEEP; f++) {
      REAL x[EACH], z[EACH];
#pragma unroll
      for (int half = 0; half < 2; half++) {
        *(Several*)&x[half * WIDE] = *(const Several*)&m.a[now][f][half * 16 * WIDE + ty * WIDE];
        *(Several*)&z[half * WIDE] = *(const Several*)&m.b[now][f][half * 16 * WIDE + tx * WIDE];
      }
#pragma unroll
      for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) acc[i][j] = fused(x[i], z[j], acc[i][j]);
    }
    if (LONG && (k % PASS == 0 || !more)) {
#pragma unroll
      for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) {
          int u = LONG ? i : 0, v = LONG ? j : 0;
          total[u][v] = k <= PASS ? acc[i][j] : total[u][v] + acc[i][j];
          acc[i][j] = more ? REAL(0) : total[u][v];
        }
    }
    if (!more) break;
    now ^= 1;
#pragma unroll
    for (int f = 0; f < WIDE; f++) { m.a[now][at + f][row] = a.v[f]; m.b[now][at + f][row] = b.v[f]; }
    __syncthreads();
  }
}

// norms[i] = x_i.x_i by the chain of the products
struct Norms { const REAL* X; REAL* out; int d, n; };
extern "C" __global__ void norms(Norms a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.n) return;
  const REAL* x = a.X + (i64)i * a.d;
  REAL total = REAL(0);
  for (int start = 0; start < a.d; start += PASS) {
    REAL part = REAL(0);
    for (int k = start; k < min(a.d, start + PASS); k++) part = fused(x[k], x[k], part);
    total = start ? total + part : part;
  }
  a.out[i] = total;
}

// K[b][i][j] = k(x of row i, z of point j) + added, for b problems; rows and points are numbers of lines of X and Z, or
// null for lines one after the other. Problems that are not active are left out; active may be null.
struct Values {
  const REAL *X, *xn, *Z, *zn;
  const int *rows, *points, *active;
  REAL* K;
  double added;
  int d, m, n, stride;
  Numbers numbers;
};
template <bool LONG> __device__ __forceinline__ void values(const Values& a) {
  int b = blockIdx.z, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
  if (a.active && !a.active[b]) return;
  __shared__ Panels m;
  int tid = threadIdx.x, tx = tid & 15, ty = tid >> 4, mine = tid / LOADS, at = (tid % LOADS) * WIDE;
  const int *R = a.rows ? a.rows + (i64)b * a.m : 0, *C = a.points ? a.points + (i64)b * a.n : 0;
  int r = min(row0 + mine, a.m - 1), c = min(col0 + mine, a.n - 1);
  REAL acc[EACH][EACH];
  products<LONG>(a.X + (i64)(R ? R[r] : r) * a.d + at, a.Z + (i64)(C ? C[c] : c) * a.d + at, a.d, m, mine, at, ty, tx, acc);
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    int row = row0 + place(i, ty);
    if (row >= a.m) continue;
    REAL x = a.xn[R ? R[row] : row];
#pragma unroll
    for (int j = 0; j < EACH; j++) {
      int col = col0 + place(j, tx);
      if (col >= a.n) continue;
      a.K[((i64)b * a.m + row) * a.stride + col] = mapped(acc[i][j], x, a.zn[C ? C[col] : col], a.numbers.p) + (REAL)a.added;
    }
  }
}
extern "C" __global__ void __launch_bounds__(256, 2) values_short(Values a) { values<false>(a); }
extern "C" __global__ void __launch_bounds__(256, 1) values_long(Values a) { values<true>(a); }

// partial[split][b][i] = sum over the points of a split of weight k(x of row i, z of point): each thread sums its own
// points, one after the other, and then the 16 threads of a row are summed. A split has `chunk` points, a multiple of
// SIDE; the first one begins at `first`. rows may be null for lines one after the other.
struct Sums {
  const REAL *X, *xn, *Z, *zn;
  const int *rows, *nrows, *points, *npoints;
  const double* weights;
  double* partial;
  int d, N, P, first, chunk, problems;
  Numbers numbers;
};
template <bool LONG> __device__ __forceinline__ void sums(const Sums& a) {
  int b = blockIdx.z, n = a.nrows[b], row0 = blockIdx.x * SIDE;
  if (row0 >= n) return;
  int begin = a.first + blockIdx.y * a.chunk, end = min(a.npoints[b], begin + a.chunk);
  if (begin >= end) return;
  __shared__ Panels m;
  __shared__ double w[SIDE], sum[SIDE][17];
  __shared__ REAL own[SIDE], norm[SIDE];  // of the rows, and of the points
  int tid = threadIdx.x, tx = tid & 15, ty = tid >> 4, mine = tid / LOADS, at = (tid % LOADS) * WIDE;
  const int *R = a.rows ? a.rows + (i64)b * a.N : 0, *C = a.points + (i64)b * a.P;
  int r = min(row0 + mine, n - 1);
  const REAL* pa = a.X + (i64)(R ? R[r] : r) * a.d + at;
  // norms and sums are in shared memory, so that the products have the registers
  if (at == 0) own[mine] = a.xn[R ? R[r] : r];
#pragma unroll
  for (int i = 0; i < EACH; i++) sum[place(i, ty)][tx] = 0.;
  for (int p0 = begin; p0 < end; p0 += SIDE) {
    int point = C[min(p0 + mine, end - 1)];
    __syncthreads();  // the weights of the points before are read
    if (tid < SIDE) {
      w[tid] = p0 + tid < end ? a.weights[(i64)b * a.P + p0 + tid] : 0.;
      norm[tid] = a.zn[C[min(p0 + tid, end - 1)]];
    }
    REAL acc[EACH][EACH];
    products<LONG>(pa, a.Z + (i64)point * a.d + at, a.d, m, mine, at, ty, tx, acc);
    double s[EACH];
    REAL x[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) { s[i] = sum[place(i, ty)][tx]; x[i] = own[place(i, ty)]; }
#pragma unroll
    for (int j = 0; j < EACH; j++) {
      int col = place(j, tx);
      REAL z = norm[col];
      double weight = w[col];
#pragma unroll
      for (int i = 0; i < EACH; i++) s[i] = fma((double)mapped(acc[i][j], x[i], z, a.numbers.p), weight, s[i]);
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) sum[place(i, ty)][tx] = s[i];
  }
  __syncthreads();
  if (tid < SIDE && row0 + tid < n) {
    double total = 0.;
#pragma unroll
    for (int k = 0; k < 16; k++) total += sum[tid][k];
    a.partial[((i64)blockIdx.y * a.problems + b) * a.N + row0 + tid] = total;
  }
}
extern "C" __global__ void __launch_bounds__(256, 2) sums_short(Sums a) { sums<false>(a); }
extern "C" __global__ void __launch_bounds__(256, 1) sums_long(Sums a) { sums<true>(a); }

// out + low += the splits, one after the other, with the rounding of each addition kept (D. E. Knuth's TwoSum)
struct Fold {
  double *out, *low;
  const double* partial;
  const int *nrows, *npoints;
  int N, first, splits, chunk, problems;
};
extern "C" __global__ void fold(Fold a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
  if (i >= a.nrows[b]) return;
  int left = a.npoints[b] - a.first, used = min(a.splits, left > 0 ? (left + a.chunk - 1) / a.chunk : 0);
  if (used <= 0) return;
  i64 at = (i64)b * a.N + i;
  double total = a.out[at], low = a.low[at];
  for (int y = 0; y < used; y++) {
    double part = a.partial[((i64)y * a.problems + b) * a.N + i], after = total + part, taken = after - total;
    low += (total - (after - taken)) + (part - taken);
    total = after;
  }
  a.out[at] = total;
  a.low[at] = low;
}

// out[i][c] += sum over the points p of K[i][p] W[p][c], one after the other
struct Weighed {
  const REAL* K;
  const double* W;
  double* out;
  int m, n, columns, stride;
};
extern "C" __global__ void __launch_bounds__(256) weighed(Weighed a) {
  __shared__ REAL k[64][33];
  __shared__ double w[32][17];
  int tid = threadIdx.x, row0 = blockIdx.x * 64, col0 = blockIdx.y * 16, mine = tid >> 2, first = (tid & 3) * 4;
  double s[4] = {0., 0., 0., 0.};
  for (int p0 = 0; p0 < a.n; p0 += 32) {
    __syncthreads();
    for (int e = tid; e < 64 * 32; e += 256) {
      int i = row0 + e / 32, p = p0 + e % 32;
      k[e / 32][e % 32] = i < a.m && p < a.n ? a.K[(i64)i * a.stride + p] : REAL(0);
    }
    for (int e = tid; e < 32 * 16; e += 256) {
      int p = p0 + e / 16, c = col0 + e % 16;
      w[e / 16][e % 16] = p < a.n && c < a.columns ? a.W[(i64)p * a.columns + c] : 0.;
    }
    __syncthreads();
#pragma unroll 8
    for (int p = 0; p < 32; p++)
#pragma unroll
      for (int c = 0; c < 4; c++) s[c] = fma((double)k[mine][p], w[p][first + c], s[c]);
  }
  for (int c = 0; c < 4; c++)
    if (row0 + mine < a.m && col0 + first + c < a.columns) a.out[(i64)(row0 + mine) * a.columns + col0 + first + c] += s[c];
}
