// CUDA's threads on a processor: each thread of a block is a fiber, and fibers take turns where they wait for others.
// Which one goes on is drawn at random, so that a missing barrier shows as a result that depends on the seed.
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <cmath>
#include <functional>
#include <vector>
#include <ucontext.h>

#define __global__
#define __device__
#define __forceinline__ inline
#define __align__(n) alignas(n)
#define __launch_bounds__(...)
#define __shared__ static
using std::exp2; using std::exp2f; using std::fmax; using std::fmaxf; using std::fmin; using std::fminf; using std::fma; using std::fmaf;

struct Place { int x, y, z; };
static Place blockIdx, blockDim;
static inline int min(int a, int b) { return a < b ? a : b; }
static inline int __clz(int x) { return __builtin_clz(x); }
static inline float __fdividef(float a, float b) { return a / b; }
static inline int __ffs(unsigned x) { return __builtin_ffs(x); }
static inline unsigned __float_as_uint(float x) { unsigned u; memcpy(&u, &x, 4); return u; }

enum State { READY, WARP, BLOCK, DONE };
struct Fiber { jmp_buf here; State state; bool begun; Place thread; std::vector<char> stack; };
static std::vector<Fiber> fibers;
static int current, living;
static jmp_buf scheduler;
static ucontext_t first, made;
static uint64_t seed = 1;
static double exchanged[32][32];  // what the lanes of a warp give to each other
static std::function<void()> body;
static std::vector<double> shared_bytes;
static double* host_memory;

#define threadIdx (fibers[current].thread)

static void wait_for(State what) {
  fibers[current].state = what;
  int self = current;
  if (!_setjmp(fibers[self].here)) _longjmp(scheduler, 1);
}
static void __syncthreads() { wait_for(BLOCK); }

template <typename F> static auto among_warp(double value, F read) {
  int lane = current & 31, warp = current >> 5;
  exchanged[warp][lane] = value;
  wait_for(WARP);
  auto found = read(exchanged[warp]);
  wait_for(WARP);
  return found;
}
template <typename T> static T __shfl_xor_sync(unsigned, T value, int mask) {
  int lane = current & 31;
  return among_warp((double)value, [=](double* v) { return (T)v[lane ^ mask]; });
}
template <typename T> static T __shfl_up_sync(unsigned, T value, int by) {
  int lane = current & 31;
  return among_warp((double)value, [=](double* v) { return (T)v[lane >= by ? lane - by : lane]; });
}
static unsigned __ballot_sync(unsigned, bool value) {
  return among_warp(value ? 1. : 0., [](double* v) {
    unsigned bits = 0;
    for (int k = 0; k < 32; k++) bits |= (v[k] != 0. ? 1u : 0u) << k;
    return bits;
  });
}
static unsigned __reduce_max_sync(unsigned, unsigned value) {
  return among_warp((double)value, [](double* v) {
    double most = v[0];
    for (int k = 1; k < 32; k++) most = v[k] > most ? v[k] : most;
    return (unsigned)most;
  });
}

static void enter() {
  int self = current;
  body();
  fibers[self].state = DONE;
  living--;
  _longjmp(scheduler, 1);
}
static void go_on(int number) {
  current = number;
  if (_setjmp(scheduler)) return;
  Fiber& fiber = fibers[number];
  if (fiber.begun) _longjmp(fiber.here, 1);
  fiber.begun = true;
  getcontext(&made);
  made.uc_stack.ss_sp = fiber.stack.data();
  made.uc_stack.ss_size = fiber.stack.size();
  made.uc_link = &first;
  makecontext(&made, enter, 0);
  setcontext(&made);
}
static int drawn(int n) {
  seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17;
  return (int)(seed % (uint64_t)n);
}
// Let all go on that wait for each other and are all there. Threads that have ended are not waited for.
static void release(int from, int to, State what) {
  for (int k = from; k < to; k++)
    if (fibers[k].state != what && fibers[k].state != DONE) return;
  for (int k = from; k < to; k++)
    if (fibers[k].state == what) fibers[k].state = READY;
}
static int run_block(int threads) {
  if ((int)fibers.size() < threads) fibers.resize(threads);
  for (int k = 0; k < threads; k++) {
    Fiber& fiber = fibers[k];
    if (fiber.stack.empty()) fiber.stack.resize(1 << 17);
    fiber.state = READY;
    fiber.begun = false;
    fiber.thread = {k, 0, 0};
  }
  living = threads;
  std::vector<int> ready(threads);
  while (living) {
    int count = 0;
    for (int k = 0; k < threads; k++)
      if (fibers[k].state == READY) ready[count++] = k;
    if (!count) return 1;  // all wait for what never comes
    for (int k = count - 1; k > 0; k--) { int o = drawn(k + 1), held = ready[k]; ready[k] = ready[o]; ready[o] = held; }
    for (int k = 0; k < count; k++) go_on(ready[k]);
    for (int w = 0; w < threads; w += 32) release(w, min(threads, w + 32), WARP);
    release(0, threads, BLOCK);
  }
  return 0;
}
static int run_grid(const int* grid, int threads, int shared, uint64_t start, std::function<void()> work) {
  seed = start * 2654435761u + 88172645463325252ull;
  body = work;
  blockDim = {threads, 1, 1};
  int blocks = grid[0] * grid[1] * grid[2];
  std::vector<int> order(blocks);
  for (int k = 0; k < blocks; k++) order[k] = k;
  for (int k = blocks - 1; k > 0; k--) { int o = drawn(k + 1), held = order[k]; order[k] = order[o]; order[o] = held; }
  for (int b : order) {
    blockIdx = {b % grid[0], b / grid[0] % grid[1], b / (grid[0] * grid[1])};
    shared_bytes.assign(shared / 8 + 1, NAN);  // shared memory begins as anything
    host_memory = shared_bytes.data();
    if (run_block(threads)) return 1;
  }
  return 0;
}
