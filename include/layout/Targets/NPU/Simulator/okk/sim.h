//===- sim.h - The simulated NPU of both kernel APIs ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host's interface to the simulated NPU behind okk.h and tpu_kernel.h: chip
// parameters, system memory, counters and errors. A process has one simulated
// NPU.
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

#include "layout/Targets/NPU/Simulator/okk/npu_types.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Starts the simulation of a chip with unwritten memories: `npus` cores of
/// `bytes_per_npu` bytes, with channels aligned to `eu_bytes`.
void okk_sim_open(int npus, unsigned int bytes_per_npu, int eu_bytes);
/// Sets the alignment of DMA addresses in bytes. Also sets, for transfers and
/// for commands of the execution units, the maximum iterations of each loop and
/// the maximum stride in elements. 0 is no limit, except that OKKernel limits
/// the iterations. Call it before any access, because it clears the memories
/// and the counters.
void okk_sim_limit_dma(int alignment, dim4 max_shape, int max_stride);
/// Sets the largest N and C strides, in elements, of commands of the execution
/// units; 0 is no limit. Call it before any access, because it clears the
/// memories and the counters.
void okk_sim_limit_compute(int max_stride);
/// Sets the number of banks, all of equal size, that the local memory of a core
/// has. If it is 0, bank conflicts are not counted. Call it before any access,
/// because it clears the memories and the counters.
void okk_sim_set_banks(int banks);
/// Sets a parameter of the clock, which has one of the names of ChipClock.h.
/// Returns false, and sets nothing, for another name or a negative value. Has
/// no effect on commands that ran.
bool okk_sim_set_clock(const char *param, long long value);
void okk_sim_close(void);
/// Runs a registered kernel. Returns false only if no kernel has this name.
/// Reports an error, but returns true, if the kernel does not initialize the
/// chip and wait for its end (poll), or leaves a parallel region open.
bool okk_sim_run_kernel(const char *name, const void *parameters);

system_addr_t okk_sim_alloc(unsigned long long bytes);
void okk_sim_free(system_addr_t addr);
void okk_sim_write(system_addr_t addr, const void *data,
                   unsigned long long bytes);
void okk_sim_read(system_addr_t addr, void *data, unsigned long long bytes);

/// Returns byte number `byte` of core `core`, or -1 if it has not been written
/// or is undefined again, e.g. after the release of its tensor.
int okk_sim_local_byte(int core, unsigned int byte);
/// Returns the number of bytes, summed over all cores, that have been written
/// and are not undefined again.
long long okk_sim_written_bytes(void);

typedef struct {
  long long transfers, computes;
  long long bytes_s2l, bytes_l2s, bytes_l2l, bytes_s2s;
  long long peak_bytes;      // highest end of a declared tensor in a core
  long long live_bytes;      // maximum of all live tensors, at most peak_bytes
  long long broadcast_bytes; // of operands read from other cores
  // Element operations (Counters in NpuSimulator.h): executions of bodies, and
  // those issued, idle lanes included.
  long long useful_ops, issued_ops;
  long long parallel_regions;
  long long overlapped_bytes; // moved by DMA while execution units computed
  // The number of commands with two operands in one bank, and of parallel
  // regions in which both engines use one bank.
  long long bank_conflicts, region_conflicts;
  // The cycles until the last command ends, and the cycles in which the DMA
  // engine or the execution units are busy.
  long long cycles, dma_cycles, compute_cycles;
} okk_sim_counters;
okk_sim_counters okk_sim_count(void);

/// A command that ran; times are in cycles since the program began. The name is
/// valid until the next command runs or the chip is closed.
typedef struct {
  int is_compute;
  long long begin, end;
  const char *name;
} okk_sim_event;
int okk_sim_num_events(void);
okk_sim_event okk_sim_get_event(int index);

int okk_sim_num_errors(void);
const char *okk_sim_error(int index);

/// Makes tensors that are declared from here on own only their declared
/// elements, so that other tensors may be in the holes between them.
void okk_sim_share_holes(void);
/// Declare a tensor that owns `bytes` of every core from its local address on,
/// elements of it, and the end of its life. After the first declaration, every
/// local access must be inside a tensor, and inside its elements if these are
/// declared.
void okk_sim_declare_tensor(local_addr_t addr, unsigned int bytes,
                            unsigned int alignment);
void okk_sim_declare_elements(local_addr_t addr, int element_bytes,
                              const dim4 *shape, const dim4 *stride);
/// Declares elements, and numbers their bytes: byte b of element i of the box
/// gets first_byte + sum of i_d * byte_stride_d + b. Checks of moved bytes
/// (okk_sim_expect) use these numbers.
void okk_sim_number_elements(local_addr_t addr, int element_bytes,
                             const dim4 *shape, const dim4 *stride,
                             long long first_byte, const dim4 *byte_stride);
void okk_sim_release_tensor(local_addr_t addr);

/// One side of a check of moved bytes, the destination or a source, whose bytes
/// have numbers. In a tensor at the local `address`, the numbers are those that
/// okk_sim_number_elements assigned. In system memory, the number of a byte is
/// its distance from `address`. The byte at index i of the moved box has number
/// first + sum of i_d * strides[d].
typedef struct {
  int is_local;
  unsigned long long address;
  long long first;
  const long long *strides;
} okk_sim_side;
/// Requires that the commands until okk_sim_expect_end move every byte of a box
/// of `sizes` once, and no other bytes; otherwise an error is reported. `sides`
/// has the numbers of the bytes, first in the destination and then in each
/// source. For an operand of a kernel (sim_compute.h) give one side; its dense
/// copy counts as the destination.
void okk_sim_expect(int rank, const long long *sizes, int operands,
                    const okk_sim_side *sides);
void okk_sim_expect_end(void);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_TARGETS_NPU_SIMULATOR_OKK_SIM_H
