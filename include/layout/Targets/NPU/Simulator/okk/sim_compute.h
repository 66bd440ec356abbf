//===- sim_compute.h - Kernels on simulated local tensors -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computations of the execution units that OKKernel has no function for: a
// kernel is plain C++ on dense images of its operands. The program says which
// boxes of local memory an operand is made of; they are gathered and scattered
// with all checks of a command, and checks cost what data takes, not what is
// computed from it.
//
//     static void negate(float x[2][3], float y[2][3]);
//
//     okk_sim_compute_begin("negate", 6);
//     okk_sim_operand(24, OKK_SIM_READ);
//     okk_sim_box(x, 0, 4, &shape, &stride, &image_stride);
//     okk_sim_operand(24, OKK_SIM_WRITE);
//     okk_sim_box(y, 0, 4, &shape, &stride, &image_stride);
//     okk_sim_compute_run(negate);
//
// C++ alone.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_SIMULATOR_OKK_SIM_COMPUTE_H
#define LAYOUT_TARGETS_NPU_SIMULATOR_OKK_SIM_COMPUTE_H

#include "layout/Targets/NPU/Simulator/okk/sim.h"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <utility>

extern "C" {

/// What a kernel does with an operand: it reads it, writes it, gets it from
/// other cores, has it along its lanes.
enum {
  OKK_SIM_READ = 1,
  OKK_SIM_WRITE = 2,
  OKK_SIM_BROADCAST = 4,
  OKK_SIM_LANES = 8
};

/// Starts to describe one computation: its name for reports, and how often its
/// body runs.
void okk_sim_compute_begin(const char *name, long long points);
/// The next operand, of which the kernel has an image of so many bytes.
void okk_sim_operand(long long bytes, int access);
/// Elements of the last operand are in the core that computes with them:
/// elements of one key, (byte in the image / inner_bytes) % count, are for each
/// other.
void okk_sim_own(long long inner_bytes, long long count);
/// Elements of the last operand: where they lie in local memory, and from which
/// byte on in its image. Strides count elements.
void okk_sim_box(local_addr_t addr, long long image_byte, int element_bytes,
                 const dim4 *shape, const dim4 *stride,
                 const dim4 *image_stride);
/// The images with what was read, or null where a rule is broken; ..
void *const *okk_sim_compute_images(void);
/// .. and what the kernel made of them goes to local memory.
void okk_sim_compute_end(void);

} // extern "C"

template <typename... Images, std::size_t... Numbers>
void okk_sim_call(void (*kernel)(Images...), void *const *images,
                  std::index_sequence<Numbers...>) {
  kernel(static_cast<Images>(images[Numbers])...);
}

/// Runs a kernel whose parameters are the images of all operands.
template <typename... Images>
void okk_sim_compute_run(void (*kernel)(Images...)) {
  void *const *images = okk_sim_compute_images();
  if (!images)
    return;
  okk_sim_call(kernel, images, std::index_sequence_for<Images...>());
  okk_sim_compute_end();
}

/// An operand for okk_sim_expect that holds its strides.
struct OkkSimSide {
  bool isLocal;
  unsigned long long address;
  long long first;
  long long strides[16]; // plain memory: programs have thousands
};
inline OkkSimSide okk_sim_local(local_addr_t tensor, long long first,
                                std::initializer_list<long long> strides) {
  OkkSimSide side = {true, tensor, first, {}};
  std::copy(strides.begin(), strides.end(), side.strides);
  return side;
}
inline OkkSimSide okk_sim_system(system_addr_t addr,
                                 std::initializer_list<long long> strides) {
  OkkSimSide side = {false, addr, 0, {}};
  std::copy(strides.begin(), strides.end(), side.strides);
  return side;
}
template <typename... Sides>
void okk_sim_expect(std::initializer_list<long long> sizes,
                    const Sides &...sides) {
  okk_sim_side plain[] = {
      {sides.isLocal, sides.address, sides.first, sides.strides}...};
  okk_sim_expect(int(sizes.size()), sizes.begin(), int(sizeof...(sides)),
                 plain);
}

/// The same bits as another type of the same size.
template <typename To, typename From> To okk_sim_bitcast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bits are kept");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

#endif // LAYOUT_TARGETS_NPU_SIMULATOR_OKK_SIM_COMPUTE_H
