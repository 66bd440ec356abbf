//===- okk.h - OKKernel's API on the simulator ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the functions of OKKernel, the vendor's kernel API of the NPU, that
// move tensors and compute on them, with its names and argument orders. They
// are implemented on the simulator of the process (NpuSimulator.h). C and C++.
//
// A local address is core * bytes of a core + byte. Strides count elements and
// may be null, for the aligned layout in local memory and contiguous tensors in
// system memory. Alignment is to the bytes of an execution unit of the
// simulated chip, e.g. 128 on the chip after which the functions are named.
//
//     dim4 shape = {2, 3, 4, 5}, stride;
//     okk_128_byte_aligned_stride_for_32bit(&stride, 2, &shape); // 64 32 5 1
//     okk_gdma_32bit_cpy_S2L(2 * 1024, x, &shape, &stride, nullptr);
//
// sim.h declares the functions that only the simulator has.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_SIMULATOR_OKK_OKK_H
#define LAYOUT_TARGETS_NPU_SIMULATOR_OKK_OKK_H

#include "layout/Targets/NPU/Simulator/okk/npu_types.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int top, bottom, left, right;
} Padding;

/// The type of a kernel, which gets the address of its parameters, and the
/// function that registers a kernel by name.
typedef void (*okk_kernel_func_t)(const void *);
void okk_register_kernel_func(const char *name, okk_kernel_func_t func);
#define OKKERNEL_FUNC_REGISTER(func)                                           \
  __attribute__((constructor)) void okk_kernel_register_##func(void) {         \
    okk_register_kernel_func(#func, func);                                     \
  }

/// A 32-bit word as a float, an integer, or packed 8-bit or 16-bit elements.
typedef union {
  float fp32;
  int s32;
  unsigned int u32;
  char _4N_s8[4];
  unsigned char _4N_u8[4];
  short _2N_s16[2];
  unsigned short _2N_u16[2];
} x32;
typedef union {
  short s16;
  unsigned short u16;
} x16;
typedef union {
  char s8;
  unsigned char u8;
} x8;

// Initialize the chip, wait for the end of all commands (poll), begin and end
// parallel regions, and query the chip's parameters.
void okk_initialize(void);
void okk_poll(void);
void okk_parallel_start(void);
void okk_parallel_end(void);
bool okk_is_parallel_state(void);
int okk_npu_num(void);
unsigned int okk_eu_num(void);
unsigned int okk_local_mem_size_per_npu(void);

// Compute the start core of a local address, the channels per core, and the
// strides of the aligned, compact and row-major (continuous) layouts.
int okk_start_npu_index(local_addr_t addr);
int okk_channle_num_per_npu(int start_idx, int num_channels);
void okk_128_byte_aligned_stride_for_32bit(dim4 *stride, int start_idx,
                                           const dim4 *shape);
void okk_128_byte_aligned_stride_for_16bit(dim4 *stride, int start_idx,
                                           const dim4 *shape);
void okk_128_byte_aligned_stride_for_8bit(dim4 *stride, int start_idx,
                                          const dim4 *shape);
void okk_compact_stride(dim4 *stride, int start_idx, const dim4 *shape);
void okk_continuous_stride(dim4 *stride, const dim4 *shape);

// Transfers: S is system memory, L local memory.
void okk_gdma_32bit_cpy_S2L(local_addr_t dst_addr, system_addr_t src_addr,
                            const dim4 *shape, const dim4 *dst_stride,
                            const dim4 *src_stride);
void okk_gdma_32bit_cpy_L2S(system_addr_t dst_addr, local_addr_t src_addr,
                            const dim4 *shape, const dim4 *dst_stride,
                            const dim4 *src_stride);
void okk_gdma_32bit_cpy_L2L(local_addr_t dst_addr, local_addr_t src_addr,
                            const dim4 *shape, const dim4 *dst_stride,
                            const dim4 *src_stride);
void okk_gdma_32bit_cpy_S2S(system_addr_t dst_addr, system_addr_t src_addr,
                            const dim4 *shape, const dim4 *dst_stride,
                            const dim4 *src_stride);
void okk_gdma_32bit_set_C_system(system_addr_t dst_addr, x32 C,
                                 const dim4 *shape, const dim4 *dst_stride);
void okk_gdma_32bit_set_C_local(local_addr_t dst_addr, x32 C, const dim4 *shape,
                                const dim4 *dst_stride);
void okk_gdma_16bit_cpy_S2L(local_addr_t dst_addr, system_addr_t src_addr,
                            const dim4 *shape, const dim4 *dst_stride,
                            const dim4 *src_stride);
void okk_gdma_16bit_cpy_L2S(system_addr_t dst_addr, local_addr_t src_addr,
                            const dim4 *shape, const dim4 *dst_stride,
                            const dim4 *src_stride);
void okk_gdma_16bit_cpy_L2L(local_addr_t dst_addr, local_addr_t src_addr,
                            const dim4 *shape, const dim4 *dst_stride,
                            const dim4 *src_stride);
void okk_gdma_16bit_cpy_S2S(system_addr_t dst_addr, system_addr_t src_addr,
                            const dim4 *shape, const dim4 *dst_stride,
                            const dim4 *src_stride);
void okk_gdma_16bit_set_C_system(system_addr_t dst_addr, x16 C,
                                 const dim4 *shape, const dim4 *dst_stride);
void okk_gdma_16bit_set_C_local(local_addr_t dst_addr, x16 C, const dim4 *shape,
                                const dim4 *dst_stride);
void okk_gdma_8bit_cpy_S2L(local_addr_t dst_addr, system_addr_t src_addr,
                           const dim4 *shape, const dim4 *dst_stride,
                           const dim4 *src_stride);
void okk_gdma_8bit_cpy_L2S(system_addr_t dst_addr, local_addr_t src_addr,
                           const dim4 *shape, const dim4 *dst_stride,
                           const dim4 *src_stride);
void okk_gdma_8bit_cpy_L2L(local_addr_t dst_addr, local_addr_t src_addr,
                           const dim4 *shape, const dim4 *dst_stride,
                           const dim4 *src_stride);
void okk_gdma_8bit_cpy_S2S(system_addr_t dst_addr, system_addr_t src_addr,
                           const dim4 *shape, const dim4 *dst_stride,
                           const dim4 *src_stride);
void okk_gdma_8bit_set_C_system(system_addr_t dst_addr, x8 C, const dim4 *shape,
                                const dim4 *dst_stride);
void okk_gdma_8bit_set_C_local(local_addr_t dst_addr, x8 C, const dim4 *shape,
                               const dim4 *dst_stride);

/// Move a matrix of 32-bit elements between system memory and the matrix layout
/// of local memory, with `cols_per_channel` columns in each channel. Rows in
/// system memory are `row_stride` elements apart.
void okk_gdma_32bit_matrix_S2L(local_addr_t dst_addr, system_addr_t src_addr,
                               int rows, int cols, int cols_per_channel,
                               int row_stride);
void okk_gdma_32bit_matrix_L2S(system_addr_t dst_addr, local_addr_t src_addr,
                               int rows, int cols, int cols_per_channel,
                               int row_stride);

#ifdef __cplusplus
}
#endif

#include "okk_bdc.h"

#endif // LAYOUT_TARGETS_NPU_SIMULATOR_OKK_OKK_H
