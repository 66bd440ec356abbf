//===- run-mutants.cpp - Counts the mutants that the simulator misses -----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sim.h"
#include <algorithm>
#include <cstdio>
#include <vector>

using Program = void (*)(system_addr_t, system_addr_t, system_addr_t,
                         system_addr_t, system_addr_t, system_addr_t);
struct Mutant {
  const char *what;
  Program run;
};
void npu_program(system_addr_t, system_addr_t, system_addr_t, system_addr_t,
                 system_addr_t, system_addr_t);
extern const Mutant mutants[];
extern const int numMutants;

struct Outcome {
  int errors;
  bool isRight; // every tensor was copied back correctly
};

/// Runs a program on a new chip.
static Outcome run(Program program, bool print) {
  okk_sim_open(4, 2048, 128);
  const unsigned long long sizes[] = {480, 600, 320};
  std::vector<unsigned char> data(600), back(600);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = (unsigned char)(i * 7 + i / 256);
  system_addr_t from[3], to[3];
  for (int i = 0; i < 3; ++i) {
    from[i] = okk_sim_alloc(sizes[i]);
    to[i] = okk_sim_alloc(sizes[i]);
    okk_sim_write(from[i], data.data(), sizes[i]);
  }
  program(from[0], to[0], from[1], to[1], from[2], to[2]);
  Outcome outcome = {0, true};
  for (int i = 0; i < 3; ++i) {
    okk_sim_read(to[i], back.data(), sizes[i]);
    outcome.isRight &=
        std::equal(back.begin(), back.begin() + sizes[i], data.begin());
  }
  // Includes errors of the host, which must not read unwritten bytes.
  outcome.errors = okk_sim_num_errors();
  for (int i = 0; print && i < outcome.errors; ++i)
    std::printf("  %s\n", okk_sim_error(i));
  okk_sim_close();
  return outcome;
}

int main() {
  Outcome good = run(npu_program, true);
  std::printf("the program itself: %d errors, %s\n", good.errors,
              good.isRight ? "right" : "wrong");
  int reported = 0, wrong = 0, missed = 0;
  for (int i = 0; i < numMutants; ++i) {
    Outcome outcome = run(mutants[i].run, false);
    if (outcome.errors)
      ++reported;
    else if (!outcome.isRight)
      ++wrong;
    else
      std::printf("missed: %s\n", mutants[i].what), ++missed;
  }
  std::printf("%d mutants: %d break a rule, %d move elements to other places, "
              "%d missed\n",
              numMutants, reported, wrong, missed);
  return missed != 0;
}
