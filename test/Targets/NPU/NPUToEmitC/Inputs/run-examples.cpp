//===- run-examples.cpp - Runs generated copies and compares bytes --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sim.h"
#include <cstdio>
#include <vector>

struct Point {
  int element, core;
  unsigned byte;
};
struct Example {
  void (*copy)(system_addr_t from, system_addr_t to);
  int npus;
  unsigned bytesPerNpu;
  int euBytes, elementBytes;
  unsigned reserved;
  std::vector<int> shape;
  std::vector<Point> points;
};

#include "cases.inc" // the examples; their functions are generated

static int wrong = 0;

static void expect(bool holds, int example, const char *what) {
  if (holds)
    return;
  ++wrong;
  std::printf("example %d: %s\n", example, what);
}

static void run(int number, const Example &example) {
  size_t elements = 1;
  for (int size : example.shape)
    elements *= size;
  std::vector<unsigned char> data(elements * example.elementBytes);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = (unsigned char)(i * 31 + i / 256 * 7 + 5);

  okk_sim_open(example.npus, example.bytesPerNpu, example.euBytes);
  system_addr_t from = okk_sim_alloc(data.size());
  system_addr_t to = okk_sim_alloc(data.size());
  okk_sim_write(from, data.data(), data.size());
  example.copy(from, to);

  for (const Point &point : example.points)
    for (int b = 0; b < example.elementBytes; ++b)
      expect(okk_sim_local_byte(point.core, point.byte + b) ==
                 data[point.element * example.elementBytes + b],
             number, "a byte is not where the vectors have it");
  expect(okk_sim_written_bytes() == (long long)data.size(), number,
         "other bytes than the elements' were written");
  std::vector<unsigned char> back(data.size());
  okk_sim_read(to, back.data(), back.size());
  expect(back == data, number, "the tensor did not come back");
  okk_sim_counters counters = okk_sim_count();
  expect(counters.bytes_s2l == (long long)data.size() &&
             counters.bytes_l2s == (long long)data.size(),
         number, "other bytes than the elements' were moved");
  expect(counters.peak_bytes == example.reserved, number,
         "it does not take the bytes of a core that the vectors say");
  for (int i = 0; i < okk_sim_num_errors(); ++i)
    expect(false, number, okk_sim_error(i));
  okk_sim_close();
}

int main() {
  int number = 0;
  for (const Example &example : examples)
    run(number++, example);
  std::printf("%d examples, %d wrong\n", number, wrong);
  return wrong != 0;
}
