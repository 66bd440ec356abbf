//===- run-compute.cpp - Runs a generated program and compares ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sim.h"
#include <cstdio>
#include <vector>

void npu_program(system_addr_t x, system_addr_t b, system_addr_t y,
                 system_addr_t z);

int main() {
  const int n = 2, c = 70, hw = 12, size = n * c * hw;
  std::vector<float> x(size), b(c), y(size), z(size);
  for (int i = 0; i < size; ++i)
    x[i] = float(i % 97) - 40;
  for (int i = 0; i < c; ++i)
    b[i] = float(i) / 2;
  okk_sim_open(64, 512 << 10, 128);
  system_addr_t at[4];
  for (int i = 0; i < 4; ++i)
    at[i] = okk_sim_alloc(4 * (i == 1 ? c : size));
  okk_sim_write(at[0], x.data(), 4 * size);
  okk_sim_write(at[1], b.data(), 4 * c);
  npu_program(at[0], at[1], at[2], at[3]);
  okk_sim_read(at[2], y.data(), 4 * size);
  okk_sim_read(at[3], z.data(), 4 * size);
  int wrong = 0;
  for (int i = 0; i < size; ++i)
    wrong += y[i] != (x[i] + x[i]) * b[i / hw % c] || z[i] != -x[i];
  for (int i = 0; i < okk_sim_num_errors(); ++i)
    std::printf("%s\n", okk_sim_error(i));
  std::printf("%d errors, %d wrong\n", okk_sim_num_errors(), wrong);
  return okk_sim_num_errors() || wrong;
}
