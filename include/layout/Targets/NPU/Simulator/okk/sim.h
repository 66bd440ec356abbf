//===- sim.h - The simulated NPU behind okk.h -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host's interface to the simulated NPU behind okk.h: chip parameters,
// system memory, counters and errors. A process has one simulated NPU.
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

/// Opens a chip with empty memories: `npus` cores of `bytes_per_npu` bytes,
/// channels aligned to `eu_bytes`.
void okk_sim_open(int npus, unsigned int bytes_per_npu, int eu_bytes);
/// Sets the alignment of DMA addresses, and the maximum iterations of each loop
/// and the maximum stride of any command; 0 is no limit of the chip.
void okk_sim_limit_dma(int alignment, dim4 max_shape, int max_stride);
/// Sets the largest N and C stride of commands of the execution units; 0 is no
/// limit.
void okk_sim_limit_compute(int max_stride);
/// Sets the number of equal banks of a core. If it is 0, conflicts are not
/// counted.
void okk_sim_set_banks(int banks);
/// Sets the bytes per cycle of the DMA engine, and the cycles to start a
/// transfer and a command of the execution units.
void okk_sim_set_clock(int dma_bytes_per_cycle, int dma_start,
                       int compute_start);
void okk_sim_close(void);
/// Runs a registered kernel, which must initialize the chip, close its parallel
/// regions and poll. Returns false if there is none of this name.
bool okk_sim_run_kernel(const char *name, const void *parameters);

system_addr_t okk_sim_alloc(unsigned long long bytes);
void okk_sim_free(system_addr_t addr);
void okk_sim_write(system_addr_t addr, const void *data,
                   unsigned long long bytes);
void okk_sim_read(system_addr_t addr, void *data, unsigned long long bytes);

/// Returns one byte of a core, or -1 if it was not written.
int okk_sim_local_byte(int core, unsigned int byte);
/// Returns the number of bytes of local memory that have been written.
long long okk_sim_written_bytes(void);

typedef struct {
  long long transfers, computes;
  long long bytes_s2l, bytes_l2s, bytes_l2l, bytes_s2s;
  long long peak_bytes;      // of declared tensors, in a core
  long long live_bytes;      // maximum live at one time: its lower bound
  long long broadcast_bytes; // of operands from other cores
  // Element operations (NpuSimulator.h).
  long long useful_ops, issued_ops;
  long long parallel_regions;
  long long overlapped_bytes; // moved by DMA while execution units computed
  // Commands with two operands in one bank, regions with both engines in one.
  long long bank_conflicts, region_conflicts;
  // Cycles until the last command ends, and those in which an engine is busy.
  long long cycles, dma_cycles, compute_cycles;
} okk_sim_counters;
okk_sim_counters okk_sim_count(void);

/// A command that ran; times are in cycles since the program began. The name is
/// valid until the chip is closed.
typedef struct {
  int is_compute;
  long long begin, end;
  const char *name;
} okk_sim_event;
int okk_sim_num_events(void);
okk_sim_event okk_sim_get_event(int index);

int okk_sim_num_errors(void);
const char *okk_sim_error(int index);

/// Makes tensors that are declared from here on own only their elements.
void okk_sim_share_holes(void);
/// Declare a tensor that owns `bytes` of every core from its address on,
/// elements of it, and its end. After the first declaration, every local access
/// must be inside a tensor, and inside its elements if these are declared.
void okk_sim_declare_tensor(local_addr_t addr, unsigned int bytes,
                            unsigned int alignment);
void okk_sim_declare_elements(local_addr_t addr, int element_bytes,
                              const dim4 *shape, const dim4 *stride);
/// Declares elements, and numbers their bytes.
void okk_sim_number_elements(local_addr_t addr, int element_bytes,
                             const dim4 *shape, const dim4 *stride,
                             long long first_byte, const dim4 *byte_stride);
void okk_sim_release_tensor(local_addr_t addr);

/// An operand of the commands before okk_sim_expect_end: a numbered tensor at
/// `address`, or system memory with number 0 there. The byte at index i of a
/// box has number first + sum of i_d * strides[d].
typedef struct {
  int is_local;
  unsigned long long address;
  long long first;
  const long long *strides;
} okk_sim_side;
/// Requires that the commands move every byte of the box once, between these
/// numbers; the destination is first. For an operand of a kernel
/// (sim_compute.h), the other side is its image.
void okk_sim_expect(int rank, const long long *sizes, int operands,
                    const okk_sim_side *sides);
void okk_sim_expect_end(void);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_TARGETS_NPU_SIMULATOR_OKK_SIM_H
