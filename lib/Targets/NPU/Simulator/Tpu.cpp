//===- Tpu.cpp - TPU-KERNEL's API on the simulator ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most functions compute what a function of OKKernel does and are calls of it.
// The types that a function takes here are those of emitted programs; any other
// type is an error.
//
//===----------------------------------------------------------------------===//

#include "OkkNumbers.h"
#include "OkkOperands.h"
#include "layout/Targets/NPU/Simulator/okk/tpu_kernel.h"
#include <cmath>
#include <cstring>

using namespace mlir::npu;

/// Returns the bytes of an element, or 0 if the simulator does not have `type`.
static int getBytes(data_type_t type) {
  switch (type) {
  case DT_UINT8:
  case DT_INT8:
    return 1;
  case DT_UINT16:
  case DT_INT16:
    return 2;
  case DT_FP32:
  case DT_UINT32:
  case DT_INT32:
    return 4;
  }
  return 0;
}

/// Returns true if `type` is `wanted`, and otherwise reports an error of the
/// function tpu_`name`.
static bool isType(const char *name, data_type_t type, data_type_t wanted) {
  if (type == wanted)
    return true;
  okkSimulator().report("tpu_" + std::string(name) +
                        ": the simulator does not have the element type " +
                        std::to_string(int(type)));
  return false;
}

static x32 toWord(scalar_t value) {
  x32 word;
  word.u32 = value.u32;
  return word;
}

//===----------------------------------------------------------------------===//
// The chip
//===----------------------------------------------------------------------===//

void tpu_register_kernel_func(const char *name, void *func, func_type_t) {
  registerKernel(name, reinterpret_cast<Kernel>(func));
}

void tpu_initialize(void) { okk_initialize(); }
void tpu_poll(void) { okk_poll(); }
void tpu_parallel_start(void) { okk_parallel_start(); }
void tpu_parallel_end(void) { okk_parallel_end(); }

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

#define TPU_ADDR_S system_addr_t
#define TPU_ADDR_L local_addr_t
#define TPU_COPY(S, D)                                                         \
  void tpu_gdma_cpy_##S##2##D(TPU_ADDR_##D dst_addr, TPU_ADDR_##S src_addr,    \
                              const dim4 *shape, const dim4 *dst_stride,       \
                              const dim4 *src_stride, data_type_t dtype) {     \
    auto copy = getBytes(dtype) == 4   ? okk_gdma_32bit_cpy_##S##2##D          \
                : getBytes(dtype) == 2 ? okk_gdma_16bit_cpy_##S##2##D          \
                                       : okk_gdma_8bit_cpy_##S##2##D;          \
    copy(dst_addr, src_addr, shape, dst_stride, src_stride);                   \
  }
TPU_COPY(S, L)
TPU_COPY(L, S)
TPU_COPY(L, L)
TPU_COPY(S, S)

static void fill(const Operand &dest, scalar_t C, const dim4 *shape,
                 data_type_t dtype) {
  okkSimulator().fill(dest, &C, toBox(*shape), getBytes(dtype), Engine::DMA,
                      "set_C");
}

void tpu_gdma_set_C_system(system_addr_t dst_addr, scalar_t C,
                           const dim4 *shape, const dim4 *dst_stride,
                           data_type_t dtype) {
  dim4 continuous;
  okk_continuous_stride(&continuous, shape);
  fill({false, dst_addr, toBox(dst_stride ? *dst_stride : continuous)}, C,
       shape, dtype);
}
void tpu_gdma_set_C_local(local_addr_t dst_addr, scalar_t C, const dim4 *shape,
                          const dim4 *dst_stride, data_type_t dtype) {
  fill(okkLocal(dst_addr, shape, dst_stride, getBytes(dtype)), C, shape, dtype);
}

//===----------------------------------------------------------------------===//
// Elementwise functions
//===----------------------------------------------------------------------===//

void tpu_bdc_set_C(local_addr_t dst_addr, scalar_t C, const dim4 *shape,
                   const dim4 *dst_stride, data_type_t dtype) {
  if (isType("bdc_set_C", dtype, DT_UINT32))
    okk_bdc_32bit_set_C(dst_addr, toWord(C), shape, dst_stride);
}

#define TPU_UNARY(name, okk, wanted)                                           \
  void tpu_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr,            \
                      const dim4 *shape, const dim4 *dst_stride,               \
                      const dim4 *src_stride, data_type_t dtype) {             \
    if (isType("bdc_" #name, dtype, wanted))                                   \
      okk_bdc_##okk(dst_addr, src_addr, shape, dst_stride, src_stride);        \
  }
TPU_UNARY(cpy, 32bit_cpy, DT_UINT32)
TPU_UNARY(relu, relu, DT_FP32)
TPU_UNARY(neg, neg, DT_FP32)

void tpu_bdc_fp32_reciprocal(local_addr_t dst_addr, local_addr_t src_addr,
                             const dim4 *shape, const dim4 *dst_stride,
                             const dim4 *src_stride) {
  okk_bdc_reciprocal(dst_addr, src_addr, shape, dst_stride, src_stride);
}

#define TPU_BINARY(name, okk, wanted)                                          \
  void tpu_bdc_##name(local_addr_t dst_addr, local_addr_t src0_addr,           \
                      local_addr_t src1_addr, const dim4 *shape,               \
                      const dim4 *dst_stride, const dim4 *src0_stride,         \
                      const dim4 *src1_stride, data_type_t dtype) {            \
    if (isType("bdc_" #name, dtype, wanted))                                   \
      okk_bdc_##okk(dst_addr, src0_addr, src1_addr, shape, dst_stride,         \
                    src0_stride, src1_stride);                                 \
  }                                                                            \
  void tpu_bdc_##name##_C(local_addr_t dst_addr, local_addr_t src_addr,        \
                          scalar_t C, const dim4 *shape,                       \
                          const dim4 *dst_stride, const dim4 *src_stride,      \
                          data_type_t dtype) {                                 \
    if (isType("bdc_" #name "_C", dtype, wanted))                              \
      okk_bdc_##okk##_C(dst_addr, src_addr, TPU_CONSTANT_##wanted, shape,      \
                        dst_stride, src_stride);                               \
  }
#define TPU_CONSTANT_DT_FP32 C.f32
#define TPU_CONSTANT_DT_UINT32 toWord(C)
TPU_BINARY(fp_add, add, DT_FP32)
TPU_BINARY(fp_sub, sub, DT_FP32)
TPU_BINARY(fp_mul, mul, DT_FP32)
TPU_BINARY(max, max, DT_FP32)
TPU_BINARY(min, min, DT_FP32)
TPU_BINARY(and, 32bit_and, DT_UINT32)
TPU_BINARY(or, 32bit_or, DT_UINT32)
TPU_BINARY(xor, 32bit_xor, DT_UINT32)

void tpu_bdc_fp_C_sub(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C,
                      const dim4 *shape, const dim4 *dst_stride,
                      const dim4 *src_stride, data_type_t dtype) {
  if (isType("bdc_fp_C_sub", dtype, DT_FP32))
    okk_bdc_C_sub(dst_addr, src_addr, C.f32, shape, dst_stride, src_stride);
}

#define TPU_FLOAT(name)                                                        \
  void tpu_bdc_fp32_##name(local_addr_t dst_addr, local_addr_t src0_addr,      \
                           local_addr_t src1_addr, const dim4 *shape,          \
                           const dim4 *dst_stride, const dim4 *src0_stride,    \
                           const dim4 *src1_stride) {                          \
    okk_bdc_##name(dst_addr, src0_addr, src1_addr, shape, dst_stride,          \
                   src0_stride, src1_stride);                                  \
  }
#define TPU_FLOAT_C(name)                                                      \
  void tpu_bdc_fp32_##name(local_addr_t dst_addr, local_addr_t src_addr,       \
                           float C, const dim4 *shape, const dim4 *dst_stride, \
                           const dim4 *src_stride) {                           \
    okk_bdc_##name(dst_addr, src_addr, C, shape, dst_stride, src_stride);      \
  }
TPU_FLOAT(div)
TPU_FLOAT(mac)
TPU_FLOAT_C(div_C)
TPU_FLOAT_C(C_div)
TPU_FLOAT_C(mac_C)

#define TPU_SHIFT(name, wanted)                                                \
  void tpu_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr, char C,    \
                      const dim4 *shape, const dim4 *dst_stride,               \
                      const dim4 *src_stride, data_type_t dst_dtype,           \
                      data_type_t src_dtype, rounding_mode_t mode) {           \
    if (mode != RM_DOWN)                                                       \
      return okkSimulator().report("tpu_bdc_" #name                            \
                                   ": the simulator only rounds down");        \
    if (isType("bdc_" #name, dst_dtype, wanted) &&                             \
        isType("bdc_" #name, src_dtype, wanted))                               \
      okk_bdc_32bit_##name(dst_addr, src_addr, C, shape, dst_stride,           \
                           src_stride);                                        \
  }
TPU_SHIFT(arithmetic_shift_C, DT_INT32)
TPU_SHIFT(logical_shift_C, DT_UINT32)

/// Computes dst = fn(src) for f32 tensors, and other sources before it.
static void compute(const char *name, local_addr_t dst, const dim4 *dstStride,
                    std::initializer_list<Operand> sources, const dim4 *shape,
                    const std::function<float(float)> &fn,
                    const Simulator::ElementCheck &check = {}) {
  okkSimulator().compute(
      okkLocal(dst, shape, dstStride), sources, toBox(*shape), 4,
      [&](void *out, const void *const *in) {
        float value;
        std::memcpy(&value, in[0], sizeof(value));
        value = fn(value);
        std::memcpy(out, &value, sizeof(value));
      },
      name, check);
}

void tpu_bdc_cast(local_addr_t dst_addr, local_addr_t src_addr,
                  const dim4 *shape, const dim4 *dst_stride,
                  const dim4 *src_stride, data_type_t dst_dtype,
                  data_type_t src_dtype, rounding_mode_t) {
  bool isSigned = src_dtype == DT_INT8;
  if (!isType("bdc_cast", dst_dtype, DT_FP32) ||
      (!isSigned && !isType("bdc_cast", src_dtype, DT_UINT8)))
    return;
  Operand source = okkLocal(src_addr, shape, src_stride, 1);
  source.elementBytes = 1;
  okkSimulator().compute(
      okkLocal(dst_addr, shape, dst_stride), {source}, toBox(*shape), 4,
      [isSigned](void *out, const void *const *in) {
        uint8_t byte = *static_cast<const uint8_t *>(in[0]);
        float value = isSigned ? float(int8_t(byte)) : float(byte);
        std::memcpy(out, &value, sizeof(value));
      },
      "cast");
}

void tpu_bdc_fp32_rsqrt(local_addr_t dst_addr, local_addr_t src_addr,
                        const dim4 *shape) {
  okk_bdc_rsqrt(dst_addr, src_addr, shape);
}
void tpu_bdc_fp32_sqrt(local_addr_t dst_addr, local_addr_t src_addr,
                       const dim4 *shape) {
  compute("sqrt", dst_addr, nullptr, {okkLocal(src_addr, shape, nullptr)},
          shape,
          [](float a) { return std::isinf(a) ? -a : std::sqrt(flushed(a)); });
}

//===----------------------------------------------------------------------===//
// Functions of the exponential
//===----------------------------------------------------------------------===//

/// The coefficients that the library loads: those of a series of order 9.
static constexpr int kCoefficients = 10;
static float getCoefficient(int i) { return i ? getCoefficient(i - 1) / i : 1; }

void tpu_bdc_load_fp32_exp_coeff(local_addr_t coeff_addr) {
  int npus = int(okkSimulator().getChip().npus);
  dim4 one{1, npus, 1, 1}, stride{0, 0, 0, 0};
  for (int i = 0; i < kCoefficients; ++i) {
    float value = getCoefficient(i);
    okkSimulator().fill(okkLocal(coeff_addr + 4u * unsigned(i), &one, &stride),
                        &value, toBox(one), 4, Engine::Compute,
                        "load_fp32_exp_coeff");
  }
}

/// The library has the table in memory of its own.
void tpu_bdc_load_fp32_exp_table(local_addr_t) {}

/// Computes a function whose result may overwrite its source. Both work tensors
/// may be the source. Reports an error if the coefficients are not loaded, or
/// if an argument is above `most`.
static void computeByTable(const char *name, float most, local_addr_t dst,
                           local_addr_t src, local_addr_t work0,
                           local_addr_t work1, local_addr_t coeff,
                           const dim4 *shape,
                           const std::function<float(float)> &fn) {
  Box box = toBox(*shape);
  for (local_addr_t work : {work0, work1})
    if (dst == work)
      return okkSimulator().report("tpu_bdc_fp32_" + std::string(name) +
                                   " writes its result over its work memory, "
                                   "which it still reads");
  if (okk_start_npu_index(coeff) != 0)
    return okkSimulator().report(
        "tpu_bdc_fp32_" + std::string(name) +
        ": the coefficients must have an address of core 0");
  coeff += local_addr_t(okk_start_npu_index(dst) *
                        okkSimulator().getChip().bytesPerNpu);
  dim4 everywhere{0, 0, 0, 0};
  constexpr int kLast = kCoefficients - 1;
  size_t before = okkSimulator().getErrors().size();
  compute(
      name, dst, nullptr,
      {okkLocal(src, shape, nullptr),
       okkLocal(coeff + 4u * kLast, shape, &everywhere)},
      shape, [&](float x) { return flushed(fn(x)); },
      [&](const void *const *in) -> std::string {
        float x, last;
        std::memcpy(&x, in[0], sizeof(x));
        std::memcpy(&last, in[1], sizeof(last));
        if (last != getCoefficient(kLast))
          return std::string(name) + " reads coefficients that are not loaded";
        return x > most ? std::string(name) + " is wrong above " +
                              std::to_string(most) + ", its argument is " +
                              std::to_string(x) + ": clamp it first"
                        : std::string();
      });
  for (local_addr_t work : {work0, work1})
    if (okkSimulator().getErrors().size() == before)
      okkSimulator().spoil(okkLocal(work, shape, nullptr), box, 4);
}

#define TPU_WITH_WORK(name, most, ofNan, expression)                           \
  void tpu_bdc_fp32_##name(local_addr_t dst_addr, local_addr_t src_addr,       \
                           local_addr_t work0_addr, local_addr_t work1_addr,   \
                           local_addr_t coeff_addr, local_addr_t,              \
                           const dim4 *shape) {                                \
    computeByTable(#name, most, dst_addr, src_addr, work0_addr, work1_addr,    \
                   coeff_addr, shape, [](float a) -> float {                   \
                     return std::isnan(a) ? ofNan : expression;                \
                   });                                                         \
  }
TPU_WITH_WORK(exp, 88.7228f, 0.0f, std::exp(a))
TPU_WITH_WORK(sigmoid, HUGE_VALF, 1.0f, 1 / (1 + std::exp(-a)))
TPU_WITH_WORK(tanh, HUGE_VALF, -1.0f, std::tanh(a))

//===----------------------------------------------------------------------===//
// Selections
//===----------------------------------------------------------------------===//

#define TPU_COMPARE(name, wanted)                                              \
  void tpu_bdc_##name(local_addr_t dst_addr, local_addr_t src0_addr,           \
                      local_addr_t src1_addr, scalar_t true_val,               \
                      const dim4 *shape, const dim4 *dst_stride,               \
                      const dim4 *src0_stride, const dim4 *src1_stride,        \
                      data_type_t dst_dtype, data_type_t src_dtype) {          \
    if (isType("bdc_" #name, dst_dtype, wanted) &&                             \
        isType("bdc_" #name, src_dtype, wanted))                               \
      okk_bdc_##name##_select_value(dst_addr, src0_addr, src1_addr,            \
                                    toWord(true_val), shape, dst_stride,       \
                                    src0_stride, src1_stride);                 \
  }                                                                            \
  void tpu_bdc_##name##_C(local_addr_t dst_addr, local_addr_t src_addr,        \
                          scalar_t C, scalar_t true_val, const dim4 *shape,    \
                          const dim4 *dst_stride, const dim4 *src_stride,      \
                          data_type_t dst_dtype, data_type_t src_dtype) {      \
    if (isType("bdc_" #name "_C", dst_dtype, wanted) &&                        \
        isType("bdc_" #name "_C", src_dtype, wanted))                          \
      okk_bdc_##name##_C_select_value(dst_addr, src_addr, C.f32,               \
                                      toWord(true_val), shape, dst_stride,     \
                                      src_stride);                             \
  }
TPU_COMPARE(greater, DT_FP32)
TPU_COMPARE(equal, DT_UINT32)

void tpu_bdc_greater_select(local_addr_t dst_addr, const variable_t *src0,
                            const variable_t *src1, const variable_t *src2,
                            const variable_t *src3, const dim4 *shape,
                            data_type_t src0_src1_dtype,
                            data_type_t dst_dtype) {
  if (!isType("bdc_greater_select", src0_src1_dtype, DT_FP32) ||
      !isType("bdc_greater_select", dst_dtype, DT_FP32))
    return;
  auto take = [](const variable_t *from, auto &to) {
    to.is_addr = from->type == TENSOR;
    std::memcpy(&to.context, &from->context, sizeof(to.context));
  };
  fp32_or_addr_t compared[2];
  x32_or_addr_t selected[2];
  take(src0, compared[0]);
  take(src1, compared[1]);
  take(src2, selected[0]);
  take(src3, selected[1]);
  okk_bdc_greater_select(dst_addr, &compared[0], &compared[1], &selected[0],
                         &selected[1], shape);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

static Padding toPadding(const padding_t &given) {
  return {given.top, given.bottom, given.left, given.right};
}

void tpu_bdc_fp_conv2d(local_addr_t output_addr, local_addr_t input_addr,
                       local_addr_t weight_addr, local_addr_t bias_addr,
                       const dim4 *input_shape, const dim4 *input_stride,
                       int output_c, const dim2 *kernel,
                       const padding_t *padding, const dim2 *stride,
                       const dim2 *dilation, data_type_t output_dtype,
                       data_type_t input_dtype, bool has_bias,
                       bool result_add) {
  if (!isType("bdc_fp_conv2d", output_dtype, DT_FP32) ||
      !isType("bdc_fp_conv2d", input_dtype, DT_FP32))
    return;
  Padding around = toPadding(*padding);
  runConvolution({"tpu_bdc_fp_conv2d", output_addr, input_addr, weight_addr,
                  has_bias ? &bias_addr : nullptr, input_shape, input_stride,
                  nullptr, output_c, *kernel, result_add, &around, stride,
                  dilation});
}

void tpu_bdc_fp_depthwise2d(local_addr_t output_addr, local_addr_t input_addr,
                            local_addr_t weight_addr, local_addr_t bias_addr,
                            const dim4 *input_shape, const dim2 *kernel,
                            const padding_t *padding, const dim2 *stride,
                            const dim2 *dilation, data_type_t dtype,
                            bool has_bias) {
  if (!isType("bdc_fp_depthwise2d", dtype, DT_FP32))
    return;
  Padding around = toPadding(*padding);
  runWindows({"tpu_bdc_fp_depthwise2d",
              output_addr,
              input_addr,
              &weight_addr,
              has_bias ? &bias_addr : nullptr,
              input_shape,
              *kernel,
              &around,
              stride,
              dilation,
              {}});
}

void tpu_bdc_fp_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr,
                           const dim4 *input_shape, const dim2 *kernel,
                           const padding_t *padding, const dim2 *stride,
                           const dim2 *dilation, data_type_t dtype,
                           scalar_t scale) {
  if (!isType("bdc_fp_avg_pool2d", dtype, DT_FP32))
    return;
  Padding around = toPadding(*padding);
  runWindows({"tpu_bdc_fp_avg_pool2d", output_addr, input_addr, nullptr,
              nullptr, input_shape, *kernel, &around, stride, dilation,
              [by = scale.f32](float sum) { return sum * by; }});
}

void tpu_bdc_fp_max_pool2d(local_addr_t output_addr, local_addr_t input_addr,
                           const dim4 *input_shape, const dim2 *kernel,
                           const padding_t *padding, const dim2 *stride,
                           const dim2 *dilation, data_type_t dtype, scalar_t) {
  if (!isType("bdc_fp_max_pool2d", dtype, DT_FP32))
    return;
  Padding around = toPadding(*padding);
  runWindows({"tpu_bdc_fp_max_pool2d",
              output_addr,
              input_addr,
              nullptr,
              nullptr,
              input_shape,
              *kernel,
              &around,
              stride,
              dilation,
              {}});
}

void tpu_bdc_fp32_mm(local_addr_t output_addr, local_addr_t left_addr,
                     local_addr_t right_addr, local_addr_t bias_addr,
                     int left_rows, int left_cols, int right_cols,
                     int left_cols_per_channel, int right_cols_per_channel,
                     bool has_bias, bool result_add) {
  runMatmul("tpu_bdc_fp32_mm", output_addr, left_addr, right_addr, bias_addr,
            left_rows, left_cols, right_cols, left_cols_per_channel,
            right_cols_per_channel, has_bias, result_add);
}
