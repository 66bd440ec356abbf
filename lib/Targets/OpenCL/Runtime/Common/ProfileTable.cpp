//===- ProfileTable.cpp - Times and work of kernels -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProfileTable.h"
#include <algorithm>
#include <cstdio>
#include <vector>

using namespace mlir::layout;

Work mlir::layout::countWork(const LayoutClKernelMetadata &facts,
                             const int64_t *grid) {
  double count = 1;
  for (int d = 0; d < 3; ++d) {
    double groups = grid[d], all = groups * grid[d + 3];
    count *= !facts.any_groups    ? groups
             : facts.items[d] < 0 ? all
                                  : std::min(double(facts.items[d]), all);
  }
  auto times = [&](int64_t each) { return each < 0 ? -1 : each * count; };
  return {times(facts.bytes), times(facts.operations)};
}

/// Unknown work makes the sum unknown.
static void addWork(double &sum, double work) {
  sum = sum < 0 || work < 0 ? -1 : sum + work;
}

void ProfileTable::Row::add(uint64_t count, double time, Work other) {
  launches += count;
  seconds += time;
  addWork(work.bytes, other.bytes);
  addWork(work.operations, other.operations);
}

void ProfileTable::add(const std::string &name, double seconds, Work work) {
  rows[name].add(1, seconds, work);
}

/// Returns 10^9 per second, or "-" if that is unknown.
static std::string getRate(double count, double seconds) {
  char text[32] = "-";
  if (count >= 0 && seconds > 0)
    std::snprintf(text, sizeof(text), "%.2f", count * 1e-9 / seconds);
  return text;
}

static std::string getCount(double count) {
  char text[32] = "an unknown number of";
  if (count >= 0)
    std::snprintf(text, sizeof(text), "%.0f", count);
  return text;
}

void ProfileTable::print(const std::string &memory) const {
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return a.second.seconds > b.second.seconds;
  });
  std::fprintf(stderr, "%12s %10s %12s %9s %9s  kernel\n", "total ms",
               "launches", "us each", "GB/s", "GFLOP/s");
  Row kernels;
  for (const auto &[name, row] : sorted) {
    std::fprintf(
        stderr, "%12.3f %10llu %12.2f %9s %9s  %s\n", row.seconds * 1e3,
        static_cast<unsigned long long>(row.launches),
        row.seconds * 1e6 / row.launches,
        getRate(row.work.bytes, row.seconds).c_str(),
        getRate(row.work.operations, row.seconds).c_str(), name.c_str());
    // The names of copies start with a parenthesis.
    if (name[0] != '(')
      kernels.add(row.launches, row.seconds, row.work);
  }
  std::fprintf(stderr,
               "%llu launches of kernels, %s bytes read and written, "
               "%s operations\n%s\n",
               static_cast<unsigned long long>(kernels.launches),
               getCount(kernels.work.bytes).c_str(),
               getCount(kernels.work.operations).c_str(), memory.c_str());
}
