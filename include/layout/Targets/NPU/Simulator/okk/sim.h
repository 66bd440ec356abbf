//===- sim.h - The simulated NPU behind okk.h -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The simulated NPU behind okk.h, for the host: which chip it is, system
// memory, what it did and what went wrong. One per process.
//
//     okk_sim_open(4, 1024, 128);
//     system_addr_t x = okk_sim_alloc(480);
//     okk_sim_write(x, data, 480);
//     load(x);                                      // a generated function
//     if (okk_sim_num_errors())
//       puts(okk_sim_error(0));
//     okk_sim_close();
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_SIMULATOR_OKK_SIM_H
#define LAYOUT_TARGETS_NPU_SIMULATOR_OKK_SIM_H

#include "layout/Targets/NPU/Simulator/okk/okk.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Starts with fresh memories: `npus` cores of `bytes_per_npu` bytes, channels
/// aligned to `eu_bytes`.
void okk_sim_open(int npus, unsigned int bytes_per_npu, int eu_bytes);
/// What addresses of transfers are a multiple of, the most iterations of each
/// loop and the largest stride; 0 is no limit.
void okk_sim_limit_dma(int alignment, dim4 max_shape, int max_stride);
/// Into how many banks the memory of a core is divided evenly; 0: not known,
/// and no conflicts are counted.
void okk_sim_set_banks(int banks);
/// What the DMA engine moves in a cycle, and the cycles that pass while a
/// transfer, or a command of the execution units, is started.
void okk_sim_set_clock(int dma_bytes_per_cycle, int dma_start,
                       int compute_start);
void okk_sim_close(void);
/// Runs a kernel that OKKERNEL_FUNC_REGISTER made known, which initializes the
/// chip, closes its parallel regions and polls; false where none is.
bool okk_sim_run_kernel(const char *name, const void *parameters);

system_addr_t okk_sim_alloc(unsigned long long bytes);
void okk_sim_free(system_addr_t addr);
void okk_sim_write(system_addr_t addr, const void *data,
                   unsigned long long bytes);
void okk_sim_read(system_addr_t addr, void *data, unsigned long long bytes);

/// One byte of a core, or -1 where none was written.
int okk_sim_local_byte(int core, unsigned int byte);
/// How many bytes of local memory have been written.
long long okk_sim_written_bytes(void);

typedef struct {
  long long transfers, computes;
  long long bytes_s2l, bytes_l2s, bytes_l2l, bytes_s2s;
  long long peak_bytes;      // of declared tensors, in a core
  long long live_bytes;      // the most that live at one time: a bound of it
  long long broadcast_bytes; // of operands that cores get from others
  // Element operations (NpuSimulator.h).
  long long useful_ops, issued_ops;
  long long parallel_regions;
  long long overlapped_bytes; // moved by DMA while execution units computed
  // One bank for two operands of a computation, for both engines in a region.
  long long bank_conflicts, region_conflicts;
  // Until the last command ends, and while an engine works.
  long long cycles, dma_cycles, compute_cycles;
} okk_sim_counters;
okk_sim_counters okk_sim_count(void);

/// A command that ran, in the cycles since the program began; the name lives as
/// long as the chip is open.
typedef struct {
  int is_compute;
  long long begin, end;
  const char *name;
} okk_sim_event;
int okk_sim_num_events(void);
okk_sim_event okk_sim_get_event(int index);

int okk_sim_num_errors(void);
const char *okk_sim_error(int index);

/// Tensors that are declared from here on own their elements alone.
void okk_sim_share_holes(void);
/// A tensor that owns `bytes` of every core from its address on, elements of
/// it, and its end. Once one was declared, every local access is checked to lie
/// in one, and where elements were, among them.
void okk_sim_declare_tensor(local_addr_t addr, unsigned int bytes,
                            unsigned int alignment);
void okk_sim_declare_elements(local_addr_t addr, int element_bytes,
                              const dim4 *shape, const dim4 *stride);
/// The same, and each byte of them gets a number.
void okk_sim_number_elements(local_addr_t addr, int element_bytes,
                             const dim4 *shape, const dim4 *stride,
                             long long first_byte, const dim4 *byte_stride);
void okk_sim_release_tensor(local_addr_t addr);

/// An operand of the commands up to okk_sim_expect_end: in a numbered tensor at
/// `address`, or in system memory with number 0 there. The byte of index i of a
/// box has the number first + sum of i_d * strides[d].
typedef struct {
  int is_local;
  unsigned long long address;
  long long first;
  const long long *strides;
} okk_sim_side;
/// The commands move every byte of the box once, from and to these numbers. The
/// destination comes first; what is expected of an operand of a kernel
/// (sim_compute.h) is between it and its image.
void okk_sim_expect(int rank, const long long *sizes, int operands,
                    const okk_sim_side *sides);
void okk_sim_expect_end(void);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_TARGETS_NPU_SIMULATOR_OKK_SIM_H
