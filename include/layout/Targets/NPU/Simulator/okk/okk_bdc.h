//===- okk_bdc.h - OKKernel's execution units -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares OKKernel's functions (okk.h) for the execution units. Functions with
// one signature are declared by a macro:
//
//     OKK_BDC_BINARY(add)     okk_bdc_add(dst, src0, src1, shape, strides ..)
//     OKK_BDC_CONSTANT(sub_C, float)
//                             okk_bdc_sub_C(dst, src, C, shape, ..)
//
// A command has n, h and w in 1 .. 65535 and c in 1 .. 4095. All operands start
// at the same core, except for the input of a convolution and the left matrix
// of a product, which go to all cores. A stride of 0 repeats an element.
// Functions without strides require the aligned layout.
//
// exp, sigmoid, tanh, quotients and roots are approximations on a chip; the
// simulator rounds correctly. exp is right on [-128, 88.7228], sigmoid on
// [-88.7, 128) and tanh on [-86.6, 88.7]. Their result is not in work memory,
// and that of exp and tanh not in the source. Series have `num_series` + 1
// terms. lookup_exp takes integers of -103 to 88, lookup_int32_to_fp32 of -128
// to 127; fp32_to_int32 truncates.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_SIMULATOR_OKK_OKK_BDC_H
#define LAYOUT_TARGETS_NPU_SIMULATOR_OKK_OKK_BDC_H

#include "okk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  bool is_addr;
  union {
    float val;
    local_addr_t addr;
  } context;
} fp32_or_addr_t;
typedef struct {
  bool is_addr;
  union {
    x32 val;
    local_addr_t addr;
  } context;
} x32_or_addr_t;

#define OKK_BDC_UNARY(name)                                                    \
  void okk_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr,            \
                      const dim4 *shape, const dim4 *dst_stride,               \
                      const dim4 *src_stride);
#define OKK_BDC_CONSTANT(name, type)                                           \
  void okk_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr, type C,    \
                      const dim4 *shape, const dim4 *dst_stride,               \
                      const dim4 *src_stride);
#define OKK_BDC_BINARY(name)                                                   \
  void okk_bdc_##name(local_addr_t dst_addr, local_addr_t src0_addr,           \
                      local_addr_t src1_addr, const dim4 *shape,               \
                      const dim4 *dst_stride, const dim4 *src0_stride,         \
                      const dim4 *src1_stride);
#define OKK_BDC_ALIGNED(name)                                                  \
  void okk_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr,            \
                      const dim4 *shape);
#define OKK_BDC_WITH_WORK(name)                                                \
  void okk_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr,            \
                      local_addr_t work_addr, const dim4 *shape);              \
  void okk_bdc_##name##_tunable(local_addr_t dst_addr, local_addr_t src_addr,  \
                                local_addr_t work_addr, const dim4 *shape,     \
                                int num_series);

void okk_bdc_32bit_set_C(local_addr_t dst_addr, x32 C, const dim4 *shape,
                         const dim4 *dst_stride);
OKK_BDC_UNARY(32bit_cpy)
OKK_BDC_UNARY(relu)
OKK_BDC_UNARY(reciprocal)
OKK_BDC_UNARY(neg)

// Elementwise arithmetic on f32 tensors; mac computes dst += src0 * src1.
OKK_BDC_BINARY(add)
OKK_BDC_BINARY(sub)
OKK_BDC_BINARY(mul)
OKK_BDC_BINARY(div)
OKK_BDC_BINARY(mac)
OKK_BDC_BINARY(max)
OKK_BDC_BINARY(min)
OKK_BDC_CONSTANT(add_C, float)
OKK_BDC_CONSTANT(sub_C, float)
OKK_BDC_CONSTANT(C_sub, float)
OKK_BDC_CONSTANT(mul_C, float)
OKK_BDC_CONSTANT(div_C, float)
OKK_BDC_CONSTANT(C_div, float)
OKK_BDC_CONSTANT(mac_C, float)
OKK_BDC_CONSTANT(max_C, float)
OKK_BDC_CONSTANT(min_C, float)

// Bitwise functions and shifts on 32-bit words. Shifts by positive numbers are
// to the left, by negative ones to the right, for -31 to 31.
OKK_BDC_BINARY(32bit_and)
OKK_BDC_BINARY(32bit_or)
OKK_BDC_BINARY(32bit_xor)
OKK_BDC_BINARY(32bit_arithmetic_shift)
OKK_BDC_BINARY(32bit_logical_shift)
OKK_BDC_CONSTANT(32bit_and_C, x32)
OKK_BDC_CONSTANT(32bit_or_C, x32)
OKK_BDC_CONSTANT(32bit_xor_C, x32)
OKK_BDC_CONSTANT(32bit_arithmetic_shift_C, int)
OKK_BDC_CONSTANT(32bit_logical_shift_C, int)
OKK_BDC_CONSTANT(32bit_C_arithmetic_shift, int)
OKK_BDC_CONSTANT(32bit_C_logical_shift, unsigned int)

OKK_BDC_ALIGNED(rsqrt)
OKK_BDC_ALIGNED(sqrt)
OKK_BDC_ALIGNED(lookup_exp)
OKK_BDC_ALIGNED(fp32_to_int32)
OKK_BDC_ALIGNED(lookup_int32_to_fp32)
OKK_BDC_WITH_WORK(exp)
OKK_BDC_WITH_WORK(sigmoid)
OKK_BDC_WITH_WORK(tanh)
/// Converts 8-bit integers, one per element and not packed, to f32. Source,
/// work buffer and destination are all aligned or all compact; a compact
/// channel begins at a multiple of 4 bytes. The size of the work buffer is not
/// published; the simulator assumes that of the destination.
void okk_bdc_int8_to_fp32(local_addr_t dst_addr, local_addr_t src_addr,
                          local_addr_t work_addr, const dim4 *shape,
                          bool is_signed, bool is_aligned_layout);
void okk_bdc_taylor_exp(local_addr_t dst_addr, local_addr_t src_addr,
                        const dim4 *shape, int num_series);

// dst = src0 > src1 ? select_val : 0, and the same for equality, which compares
// the bits of words: 0 differs from -0.
void okk_bdc_greater_select_value(local_addr_t dst_addr, local_addr_t src0_addr,
                                  local_addr_t src1_addr, x32 select_val,
                                  const dim4 *shape, const dim4 *dst_stride,
                                  const dim4 *src0_stride,
                                  const dim4 *src1_stride);
void okk_bdc_equal_select_value(local_addr_t dst_addr, local_addr_t src0_addr,
                                local_addr_t src1_addr, x32 select_val,
                                const dim4 *shape, const dim4 *dst_stride,
                                const dim4 *src0_stride,
                                const dim4 *src1_stride);
#define OKK_BDC_SELECT_C(name)                                                 \
  void okk_bdc_##name##_select_value(                                          \
      local_addr_t dst_addr, local_addr_t src_addr, float C, x32 select_val,   \
      const dim4 *shape, const dim4 *dst_stride, const dim4 *src_stride);
OKK_BDC_SELECT_C(greater_C)
OKK_BDC_SELECT_C(C_greater)
OKK_BDC_SELECT_C(equal_C)
// dst = src0 > src1 ? select0 : select1, or the same for equality. Each operand
// is a tensor or a constant. equal_select treats NaN as equal to any number,
// and its src0 and src1 must be two tensors or two constants.
#define OKK_BDC_SELECT(name)                                                   \
  void okk_bdc_##name(local_addr_t dst_addr, const fp32_or_addr_t *src0,       \
                      const fp32_or_addr_t *src1,                              \
                      const x32_or_addr_t *select0,                            \
                      const x32_or_addr_t *select1, const dim4 *shape);
OKK_BDC_SELECT(greater_select)
OKK_BDC_SELECT(equal_select)

// bias adds, and scale multiplies by, one number per channel: the operand at
// channel_addr is [1, c, 1, 1] in the compact layout.
#define OKK_BDC_BY_CHANNEL(name)                                               \
  void okk_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr,            \
                      local_addr_t channel_addr, const dim4 *shape,            \
                      const dim4 *dst_stride, const dim4 *src_stride);
OKK_BDC_BY_CHANNEL(bias)
OKK_BDC_BY_CHANNEL(scale)
void okk_bdc_scale_bias(local_addr_t dst_addr, local_addr_t src_addr,
                        local_addr_t scale_addr, local_addr_t bias_addr,
                        const dim4 *shape, const dim4 *dst_stride,
                        const dim4 *src_stride);

/// A 2-D convolution. Weights [I, O, KH, KW] are compact in 2IC-mode: two input
/// channels share a storage unit, and `kernel_stride` counts such pairs. Input
/// and output are aligned; only the input may have other strides.
void okk_bdc_conv2d(local_addr_t output_addr, local_addr_t input_addr,
                    local_addr_t weight_addr, local_addr_t bias_addr,
                    const dim4 *input_shape, int output_c, int kernel_h,
                    int kernel_w, const dim4 *input_stride,
                    const dim4 *kernel_stride, bool using_bias, bool result_add,
                    const Padding *padding, const dim2 *stride,
                    const dim2 *dilation);
/// A depthwise 2-D convolution. Weights [1, C, KH, KW] and bias [1, C, 1, 1],
/// which is read only if `using_bias`, are compact; input and output are
/// aligned.
void okk_bdc_depthwise2d(local_addr_t output_addr, local_addr_t input_addr,
                         local_addr_t weight_addr, local_addr_t bias_addr,
                         const dim4 *input_shape, int kernel_h, int kernel_w,
                         bool using_bias, const Padding *padding,
                         const dim2 *stride, const dim2 *dilation);
void okk_bdc_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr,
                        const dim4 *input_shape, int kernel_h, int kernel_w,
                        const Padding *padding, const dim2 *stride);
void okk_bdc_max_pool2d(local_addr_t output_addr, local_addr_t input_addr,
                        const dim4 *input_shape, int kernel_h, int kernel_w,
                        const Padding *padding, const dim2 *stride);
/// output = left * right, plus the bias row and plus the previous output if
/// requested. All matrices are in the matrix layout; bias and output have the
/// columns per channel of `right`.
void okk_bdc_matmul(local_addr_t output_addr, local_addr_t left_addr,
                    local_addr_t right_addr, local_addr_t bias_addr,
                    int left_rows, int left_cols, int right_cols,
                    int left_cols_per_channel, int right_cols_per_channel,
                    bool using_bias, bool result_add);

#undef OKK_BDC_UNARY
#undef OKK_BDC_CONSTANT
#undef OKK_BDC_BINARY
#undef OKK_BDC_ALIGNED
#undef OKK_BDC_WITH_WORK
#undef OKK_BDC_SELECT_C
#undef OKK_BDC_SELECT
#undef OKK_BDC_BY_CHANNEL

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_TARGETS_NPU_SIMULATOR_OKK_OKK_BDC_H
