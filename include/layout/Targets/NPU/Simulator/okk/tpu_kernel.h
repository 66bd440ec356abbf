//===- tpu_kernel.h - TPU-KERNEL's API on the simulator ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the functions of TPU-KERNEL, the vendor's kernel API of BM1684X,
// BM1688 and BM1690, that emitted programs call, with its names and argument
// orders. They are implemented on the simulator of the process
// (NpuSimulator.h). C and C++.
//
// The functions compute what those of OKKernel (okk.h) do. They differ in this:
// element types are arguments; constants of any type are a `scalar_t`; weights
// of convolutions are [1, O, I, KH * KW] without gaps; conversions have strides
// and no work memory; exp, sigmoid and tanh have two work tensors and read
// coefficients and a table, which the program loads. Shapes, strides, null
// strides and the cores of operands follow the rules of okk.h.
//
//     dim4 shape = {2, 3, 4, 5};
//     tpu_bdc_fp_add(y, a, b, &shape, nullptr, nullptr, nullptr, DT_FP32);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_SIMULATOR_OKK_TPU_KERNEL_H
#define LAYOUT_TARGETS_NPU_SIMULATOR_OKK_TPU_KERNEL_H

#include "layout/Targets/NPU/Simulator/okk/npu_types.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The types of elements, and how conversions and shifts round.
typedef enum {
  DT_UINT8 = 0,
  DT_INT8 = 1,
  DT_FP32 = 5,
  DT_UINT16 = 6,
  DT_INT16 = 7,
  DT_UINT32 = 8,
  DT_INT32 = 9
} data_type_t;
typedef enum { RM_HALF_TO_EVEN = 0, RM_DOWN = 3 } rounding_mode_t;

typedef struct {
  int top, bottom, left, right;
} padding_t;

/// A constant of any element type.
typedef union {
  signed char s8;
  unsigned char u8;
  short s16;
  unsigned short u16;
  int s32;
  unsigned int u32;
  float f32;
} scalar_t;

/// An operand that is a tensor or a constant.
typedef enum { TENSOR = 0, SCALAR = 1 } var_type_t;
typedef struct {
  var_type_t type;
  union {
    local_addr_t addr;
    scalar_t scalar;
  } context;
} variable_t;

/// The type of a kernel, which gets the address of its parameters, and the
/// function that registers a kernel by name.
typedef enum { FUNC_TYPE_1 = 0 } func_type_t;
void tpu_register_kernel_func(const char *name, void *func, func_type_t type);
#define TPUKERNEL_FUNC_REGISTER(func)                                          \
  __attribute__((constructor)) void tpu_kernel_register_##func(void) {         \
    tpu_register_kernel_func(#func, (void *)(func), FUNC_TYPE_1);              \
  }

// Initialize the chip, wait for the end of all commands (poll), and begin and
// end parallel regions.
void tpu_initialize(void);
void tpu_poll(void);
void tpu_parallel_start(void);
void tpu_parallel_end(void);

// Transfers: S is system memory, L local memory.
void tpu_gdma_cpy_S2L(local_addr_t dst_addr, system_addr_t src_addr,
                      const dim4 *shape, const dim4 *dst_stride,
                      const dim4 *src_stride, data_type_t dtype);
void tpu_gdma_cpy_L2S(system_addr_t dst_addr, local_addr_t src_addr,
                      const dim4 *shape, const dim4 *dst_stride,
                      const dim4 *src_stride, data_type_t dtype);
void tpu_gdma_cpy_L2L(local_addr_t dst_addr, local_addr_t src_addr,
                      const dim4 *shape, const dim4 *dst_stride,
                      const dim4 *src_stride, data_type_t dtype);
void tpu_gdma_cpy_S2S(system_addr_t dst_addr, system_addr_t src_addr,
                      const dim4 *shape, const dim4 *dst_stride,
                      const dim4 *src_stride, data_type_t dtype);
void tpu_gdma_set_C_system(system_addr_t dst_addr, scalar_t C,
                           const dim4 *shape, const dim4 *dst_stride,
                           data_type_t dtype);
void tpu_gdma_set_C_local(local_addr_t dst_addr, scalar_t C, const dim4 *shape,
                          const dim4 *dst_stride, data_type_t dtype);

// Functions with one signature are declared by a macro. `types` has the type
// parameters, each after a comma; functions of f32 alone have none.
#define TPU_NO_TYPE
#define TPU_TYPE , data_type_t dtype
#define TPU_TYPES , data_type_t dst_dtype, data_type_t src_dtype
#define TPU_ROUNDED TPU_TYPES, rounding_mode_t mode
#define TPU_BDC_UNARY(name, types)                                             \
  void tpu_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr,            \
                      const dim4 *shape, const dim4 *dst_stride,               \
                      const dim4 *src_stride types);
#define TPU_BDC_CONSTANT(name, constant, types)                                \
  void tpu_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr,            \
                      constant C, const dim4 *shape, const dim4 *dst_stride,   \
                      const dim4 *src_stride types);
#define TPU_BDC_BINARY(name, types)                                            \
  void tpu_bdc_##name(local_addr_t dst_addr, local_addr_t src0_addr,           \
                      local_addr_t src1_addr, const dim4 *shape,               \
                      const dim4 *dst_stride, const dim4 *src0_stride,         \
                      const dim4 *src1_stride types);

void tpu_bdc_set_C(local_addr_t dst_addr, scalar_t C, const dim4 *shape,
                   const dim4 *dst_stride, data_type_t dtype);
TPU_BDC_UNARY(cpy, TPU_TYPE)
TPU_BDC_UNARY(relu, TPU_TYPE)
TPU_BDC_UNARY(neg, TPU_TYPE)
TPU_BDC_UNARY(fp32_reciprocal, TPU_NO_TYPE)
/// Converts between i8, i32 and f32.
TPU_BDC_UNARY(cast, TPU_ROUNDED)

// Elementwise arithmetic; mac computes dst += src0 * src1.
TPU_BDC_BINARY(fp_add, TPU_TYPE)
TPU_BDC_BINARY(fp_sub, TPU_TYPE)
TPU_BDC_BINARY(fp_mul, TPU_TYPE)
TPU_BDC_BINARY(fp32_div, TPU_NO_TYPE)
TPU_BDC_BINARY(fp32_mac, TPU_NO_TYPE)
TPU_BDC_BINARY(max, TPU_TYPE)
TPU_BDC_BINARY(min, TPU_TYPE)
TPU_BDC_CONSTANT(fp_add_C, scalar_t, TPU_TYPE)
TPU_BDC_CONSTANT(fp_sub_C, scalar_t, TPU_TYPE)
TPU_BDC_CONSTANT(fp_C_sub, scalar_t, TPU_TYPE)
TPU_BDC_CONSTANT(fp_mul_C, scalar_t, TPU_TYPE)
TPU_BDC_CONSTANT(fp32_div_C, float, TPU_NO_TYPE)
TPU_BDC_CONSTANT(fp32_C_div, float, TPU_NO_TYPE)
TPU_BDC_CONSTANT(fp32_mac_C, float, TPU_NO_TYPE)
TPU_BDC_CONSTANT(max_C, scalar_t, TPU_TYPE)
TPU_BDC_CONSTANT(min_C, scalar_t, TPU_TYPE)

// Bitwise functions and shifts on 32-bit words. Shifts by positive numbers are
// to the left, by negative ones to the right, for -31 to 31.
TPU_BDC_BINARY(and, TPU_TYPE)
TPU_BDC_BINARY(or, TPU_TYPE)
TPU_BDC_BINARY(xor, TPU_TYPE)
TPU_BDC_CONSTANT(and_C, scalar_t, TPU_TYPE)
TPU_BDC_CONSTANT(or_C, scalar_t, TPU_TYPE)
TPU_BDC_CONSTANT(xor_C, scalar_t, TPU_TYPE)
TPU_BDC_CONSTANT(arithmetic_shift_C, char, TPU_ROUNDED)
TPU_BDC_CONSTANT(logical_shift_C, char, TPU_ROUNDED)

void tpu_bdc_fp32_rsqrt(local_addr_t dst_addr, local_addr_t src_addr,
                        const dim4 *shape);
void tpu_bdc_fp32_sqrt(local_addr_t dst_addr, local_addr_t src_addr,
                       const dim4 *shape);
// Functions of the exponential. The coefficients are 32 words and the table 192
// words of each core, from the same byte on in all cores; their addresses are
// those of core 0. exp(NaN) is 0, sigmoid(NaN) 1 and tanh(NaN) -1; exp is right
// up to 88.7228.
void tpu_bdc_load_fp32_exp_coeff(local_addr_t coeff_addr);
void tpu_bdc_load_fp32_exp_table(local_addr_t table_addr);
#define TPU_BDC_WITH_WORK(name)                                                \
  void tpu_bdc_fp32_##name(local_addr_t dst_addr, local_addr_t src_addr,       \
                           local_addr_t work0_addr, local_addr_t work1_addr,   \
                           local_addr_t coeff_addr, local_addr_t table_addr,   \
                           const dim4 *shape);
TPU_BDC_WITH_WORK(exp)
TPU_BDC_WITH_WORK(sigmoid)
TPU_BDC_WITH_WORK(tanh)

// dst = src0 > src1 ? true_val : 0, and the same for equality, which compares
// the bits of words.
#define TPU_BDC_COMPARE(name)                                                  \
  void tpu_bdc_##name(local_addr_t dst_addr, local_addr_t src0_addr,           \
                      local_addr_t src1_addr, scalar_t true_val,               \
                      const dim4 *shape, const dim4 *dst_stride,               \
                      const dim4 *src0_stride, const dim4 *src1_stride,        \
                      data_type_t dst_dtype, data_type_t src_dtype);
#define TPU_BDC_COMPARE_C(name)                                                \
  void tpu_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr,            \
                      scalar_t C, scalar_t true_val, const dim4 *shape,        \
                      const dim4 *dst_stride, const dim4 *src_stride,          \
                      data_type_t dst_dtype, data_type_t src_dtype);
TPU_BDC_COMPARE(greater)
TPU_BDC_COMPARE(equal)
TPU_BDC_COMPARE_C(greater_C)
TPU_BDC_COMPARE_C(equal_C)
/// dst = src0 > src1 ? src2 : src3.
void tpu_bdc_greater_select(local_addr_t dst_addr, const variable_t *src0,
                            const variable_t *src1, const variable_t *src2,
                            const variable_t *src3, const dim4 *shape,
                            data_type_t src0_src1_dtype, data_type_t dst_dtype);

/// A 2-D convolution. Weights are [1, O, I, KH * KW] without gaps; input and
/// output are aligned; only the input may have other strides.
void tpu_bdc_fp_conv2d(local_addr_t output_addr, local_addr_t input_addr,
                       local_addr_t weight_addr, local_addr_t bias_addr,
                       const dim4 *input_shape, const dim4 *input_stride,
                       int output_c, const dim2 *kernel,
                       const padding_t *padding, const dim2 *stride,
                       const dim2 *dilation, data_type_t output_dtype,
                       data_type_t input_dtype, bool has_bias, bool result_add);
/// A depthwise 2-D convolution. Weights [1, C, KH, KW] and bias [1, C, 1, 1],
/// which is read only if `has_bias`, are compact; input and output are aligned.
void tpu_bdc_fp_depthwise2d(local_addr_t output_addr, local_addr_t input_addr,
                            local_addr_t weight_addr, local_addr_t bias_addr,
                            const dim4 *input_shape, const dim2 *kernel,
                            const padding_t *padding, const dim2 *stride,
                            const dim2 *dilation, data_type_t dtype,
                            bool has_bias);
/// Sums windows and multiplies by `scale`.
void tpu_bdc_fp_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr,
                           const dim4 *input_shape, const dim2 *kernel,
                           const padding_t *padding, const dim2 *stride,
                           const dim2 *dilation, data_type_t dtype,
                           scalar_t scale);
void tpu_bdc_fp_max_pool2d(local_addr_t output_addr, local_addr_t input_addr,
                           const dim4 *input_shape, const dim2 *kernel,
                           const padding_t *padding, const dim2 *stride,
                           const dim2 *dilation, data_type_t dtype,
                           scalar_t pad_val);
/// output = left * right, plus the bias row and plus the previous output if
/// requested. All matrices are in the matrix layout; bias and output have the
/// columns per channel of `right`.
void tpu_bdc_fp32_mm(local_addr_t output_addr, local_addr_t left_addr,
                     local_addr_t right_addr, local_addr_t bias_addr,
                     int left_rows, int left_cols, int right_cols,
                     int left_cols_per_channel, int right_cols_per_channel,
                     bool has_bias, bool result_add);

#undef TPU_NO_TYPE
#undef TPU_TYPE
#undef TPU_TYPES
#undef TPU_ROUNDED
#undef TPU_BDC_UNARY
#undef TPU_BDC_CONSTANT
#undef TPU_BDC_BINARY
#undef TPU_BDC_WITH_WORK
#undef TPU_BDC_COMPARE
#undef TPU_BDC_COMPARE_C

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_TARGETS_NPU_SIMULATOR_OKK_TPU_KERNEL_H
