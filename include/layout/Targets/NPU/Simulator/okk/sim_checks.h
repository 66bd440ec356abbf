//===- sim_checks.h - Checks of the bytes that commands move ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes okk_sim_expect (sim.h) with lists in place of arrays:
//
//     okk_sim_expect({2, 3}, okk_sim_local(0, 0, {12, 4}),
//                    okk_sim_system(x, {12, 4}));
//     ... the commands that move these 2 x 3 bytes
//     okk_sim_expect_end();
//
// C++ only. Programs without kernels include no more of the library than this,
// because its headers take longer to compile than a list of commands.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_SIMULATOR_OKK_SIM_CHECKS_H
#define LAYOUT_TARGETS_NPU_SIMULATOR_OKK_SIM_CHECKS_H

#include "layout/Targets/NPU/Simulator/okk/sim.h"
#include <initializer_list>

/// One side of a check of moved bytes, the destination or a source, as
/// okk_sim_side. It has the address, and the number of the byte at each index
/// of the box, first + sum of i_d * strides[d].
struct OkkSimSide {
  bool isLocal;
  unsigned long long address;
  long long first;
  long long strides[16]; // not on the heap: programs create thousands
};
inline OkkSimSide okk_sim_make_side(bool isLocal, unsigned long long address,
                                    long long first,
                                    std::initializer_list<long long> strides) {
  OkkSimSide side = {isLocal, address, first, {}};
  long long *to = side.strides;
  for (long long stride : strides)
    *to++ = stride;
  return side;
}
inline OkkSimSide okk_sim_local(local_addr_t tensor, long long first,
                                std::initializer_list<long long> strides) {
  return okk_sim_make_side(true, tensor, first, strides);
}
inline OkkSimSide okk_sim_system(system_addr_t addr,
                                 std::initializer_list<long long> strides) {
  return okk_sim_make_side(false, addr, 0, strides);
}
template <typename... Sides>
void okk_sim_expect(std::initializer_list<long long> sizes,
                    const Sides &...sides) {
  okk_sim_side plain[] = {
      {sides.isLocal, sides.address, sides.first, sides.strides}...};
  okk_sim_expect(int(sizes.size()), sizes.begin(), int(sizeof...(sides)),
                 plain);
}

#endif // LAYOUT_TARGETS_NPU_SIMULATOR_OKK_SIM_CHECKS_H
