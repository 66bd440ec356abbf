// usage: peaks THREADS BYTES
// Prints the GFLOP/s of multiply-adds in registers, and the GB/s of a STREAM
// triad on arrays of BYTES.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#if defined(__AVX512F__)
constexpr int width = 16, chains = 24;
#elif defined(__AVX__)
constexpr int width = 8, chains = 12;
#else
constexpr int width = 4, chains = 12;
#endif
typedef float Vector __attribute__((vector_size(4 * width)));

static double seconds(int threads, const std::function<void(int)> &work) {
  double best = 1e9;
  for (int round = 0; round < 10; ++round) {
    auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i)
      others.emplace_back(work, i);
    work(0);
    for (std::thread &other : others)
      other.join();
    std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

int main(int, char **argv) {
  int threads = std::atoi(argv[1]);
  size_t size = std::atoll(argv[2]) / sizeof(float);

  // Much longer than starting a thread.
  constexpr int rounds = 20000000;
  std::vector<Vector> sums(threads);
  double time = seconds(threads, [&](int id) {
    Vector sum[chains], x = Vector{} + 0.5f, y = Vector{} + float(id);
    for (int i = 0; i < chains; ++i)
      sum[i] = Vector{} + float(i);
    for (int i = 0; i < rounds; ++i) {
      // Prevents hoisting and constant folding.
      asm volatile("" : "+x"(x), "+x"(y));
#pragma GCC unroll 24
      for (Vector &each : sum)
        each = each * x + y;
    }
    for (Vector each : sum)
      sums[id] += each;
  });
  std::printf("%g ", 2.0 * width * chains * rounds * threads / time / 1e9);

  std::vector<float> a(size), b(size, 1), c(size, 2);
  time = seconds(threads, [&](int id) {
    size_t end = size * (id + 1) / threads;
    for (size_t i = size * id / threads; i < end; ++i)
      a[i] = b[i] + 3.0f * c[i];
  });
  std::printf("%g\n", 3.0 * sizeof(float) * size / time / 1e9);
}
