//===- sim_compute.h - Kernels on simulated local tensors -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs computations for which OKKernel (okk.h) has no function as kernels:
// plain C++ on dense images of the operands. The program declares the boxes of
// local memory of each operand; they are gathered and scattered with all checks
// of a command. The cost of the checks depends on the size of the data, not on
// the computation.
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
// C++ only.
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
#include <limits>
#include <utility>

extern "C" {

/// Flags of an operand of a kernel: it is read, it is written, it may be read
/// from other cores, and its rows of elements are divided among the lanes (for
/// the count of steps).
enum {
  OKK_SIM_READ = 1,
  OKK_SIM_WRITE = 2,
  OKK_SIM_BROADCAST = 4,
  OKK_SIM_LANES = 8
};

/// Begins a kernel. `name` is for reports, and `points` is the number of
/// executions of its body.
void okk_sim_compute_begin(const char *name, long long points);
/// Adds an operand to the kernel. Its image, a dense copy, has `bytes` bytes;
/// `access` has OKK_SIM_READ and the other flags.
void okk_sim_operand(long long bytes, int access);
/// Requires that each element of the operand that was added last is in the core
/// that computes with it: in that of all elements of other operands with the
/// same key (byte in the image / inner_bytes) % count, e.g. the channel.
void okk_sim_own(long long inner_bytes, long long count);
/// Adds a box of local memory to the operand that was added last. Its first
/// element, at `addr`, is copied to byte `image_byte` of the image. `stride` is
/// between elements in local memory and `image_stride` in the image; both count
/// elements.
void okk_sim_box(local_addr_t addr, long long image_byte, int element_bytes,
                 const dim4 *shape, const dim4 *stride,
                 const dim4 *image_stride);
/// Returns the images of all operands in the order in which they were added,
/// with the data of local memory, or a null pointer if a rule is broken.
void *const *okk_sim_compute_images(void);
/// Ends the kernel: copies its results from their images, the dense copies that
/// okk_sim_compute_images returned, to local memory.
void okk_sim_compute_end(void);

} // extern "C"

template <typename... Images, std::size_t... Numbers>
void okk_sim_call(void (*kernel)(Images...), void *const *images,
                  std::index_sequence<Numbers...>) {
  kernel(static_cast<Images>(images[Numbers])...);
}

/// Calls `kernel` with the images of all operands added since
/// okk_sim_compute_begin, and writes its results back. Has no effect if a rule
/// is broken.
template <typename... Images>
void okk_sim_compute_run(void (*kernel)(Images...)) {
  void *const *images = okk_sim_compute_images();
  if (!images)
    return;
  okk_sim_call(kernel, images, std::index_sequence_for<Images...>());
  okk_sim_compute_end();
}

/// Returns the bits of `from` as another type of equal size.
template <typename To, typename From> To okk_sim_bitcast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bits are kept");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

#endif // LAYOUT_TARGETS_NPU_SIMULATOR_OKK_SIM_COMPUTE_H
