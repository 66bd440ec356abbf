//===- OkkCompute.cpp - Elementwise OKKernel functions --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OkkNumbers.h"
#include "OkkOperands.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mlir::npu;
using mlir::layout::ChipClock;

static float toFloat(const void *value) {
  float number;
  std::memcpy(&number, value, sizeof(number));
  return number;
}

static uint32_t toWord(const void *value) {
  uint32_t word;
  std::memcpy(&word, value, sizeof(word));
  return word;
}

static void put(void *out, float value) {
  std::memcpy(out, &value, sizeof(value));
}
static void put(void *out, uint32_t value) {
  std::memcpy(out, &value, sizeof(value));
}

/// Returns the work of a step of a function with a series of `terms`.
static ChipClock::Work ofTerms(int terms) {
  ChipClock::Work work;
  work.terms = terms;
  return work;
}

using Sources = const void *const *;

static void compute(const char *name, local_addr_t dst, const dim4 *dstStride,
                    std::initializer_list<Operand> sources, const dim4 *shape,
                    const Simulator::ElementFn &fn,
                    const ChipClock::Work &work = {}) {
  okkSimulator().compute(okkLocal(dst, shape, dstStride), sources,
                         toBox(*shape), 4, fn, name, /*check=*/{}, work);
}

//===----------------------------------------------------------------------===//
// Copies and fills
//===----------------------------------------------------------------------===//

void okk_bdc_32bit_cpy(local_addr_t dst_addr, local_addr_t src_addr,
                       const dim4 *shape, const dim4 *dst_stride,
                       const dim4 *src_stride) {
  if (okk_start_npu_index(dst_addr) != okk_start_npu_index(src_addr))
    return okkSimulator().report(
        "execution units access their own memory only: source and destination "
        "start at different cores");
  okkSimulator().copy(okkLocal(dst_addr, shape, dst_stride),
                      okkLocal(src_addr, shape, src_stride), toBox(*shape), 4,
                      Engine::Compute, "32bit_cpy");
}

void okk_bdc_32bit_set_C(local_addr_t dst_addr, x32 C, const dim4 *shape,
                         const dim4 *dst_stride) {
  okkSimulator().fill(okkLocal(dst_addr, shape, dst_stride), &C, toBox(*shape),
                      4, Engine::Compute, "32bit_set_C");
}

//===----------------------------------------------------------------------===//
// f32 arithmetic
//===----------------------------------------------------------------------===//

#define OKK_UNARY(name, expression)                                            \
  void okk_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr,            \
                      const dim4 *shape, const dim4 *dst_stride,               \
                      const dim4 *src_stride) {                                \
    compute(#name, dst_addr, dst_stride,                                       \
            {okkLocal(src_addr, shape, src_stride)}, shape,                    \
            [](void *out, Sources in) {                                        \
              float a = toFloat(in[0]);                                        \
              put(out, expression);                                            \
            });                                                                \
  }
OKK_UNARY(relu, positivePartOf(a))
OKK_UNARY(neg, negativeOf(a))
OKK_UNARY(reciprocal, quotientOf(1, a))

#define OKK_BINARY(name, read, expression)                                     \
  void okk_bdc_##name(local_addr_t dst_addr, local_addr_t src0_addr,           \
                      local_addr_t src1_addr, const dim4 *shape,               \
                      const dim4 *dst_stride, const dim4 *src0_stride,         \
                      const dim4 *src1_stride) {                               \
    compute(#name, dst_addr, dst_stride,                                       \
            {okkLocal(src0_addr, shape, src0_stride),                          \
             okkLocal(src1_addr, shape, src1_stride)},                         \
            shape, [](void *out, Sources in) {                                 \
              auto a = read(in[0]), b = read(in[1]);                           \
              put(out, expression);                                            \
            });                                                                \
  }
#define OKK_CONSTANT(name, type, read, constant, expression)                   \
  void okk_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr, type C,    \
                      const dim4 *shape, const dim4 *dst_stride,               \
                      const dim4 *src_stride) {                                \
    auto b = constant;                                                         \
    compute(#name, dst_addr, dst_stride,                                       \
            {okkLocal(src_addr, shape, src_stride)}, shape,                    \
            [b](void *out, Sources in) {                                       \
              auto a = read(in[0]);                                            \
              put(out, expression);                                            \
            });                                                                \
  }
#define OKK_NUMBERS(name, expression)                                          \
  OKK_BINARY(name, toFloat, expression)                                        \
  OKK_CONSTANT(name##_C, float, toFloat, C, expression)
OKK_NUMBERS(add, sumOf(a, b))
OKK_NUMBERS(sub, differenceOf(a, b))
OKK_NUMBERS(mul, productOf(a, b))
OKK_NUMBERS(div, quotientOf(a, b))
OKK_NUMBERS(max, greaterOf(a, b))
OKK_NUMBERS(min, lessOf(a, b))
OKK_CONSTANT(C_sub, float, toFloat, C, differenceOf(b, a))
OKK_CONSTANT(C_div, float, toFloat, C, quotientOf(b, a))

void okk_bdc_mac(local_addr_t dst_addr, local_addr_t src0_addr,
                 local_addr_t src1_addr, const dim4 *shape,
                 const dim4 *dst_stride, const dim4 *src0_stride,
                 const dim4 *src1_stride) {
  compute("mac", dst_addr, dst_stride,
          {okkLocal(src0_addr, shape, src0_stride),
           okkLocal(src1_addr, shape, src1_stride),
           okkLocal(dst_addr, shape, dst_stride)},
          shape, [](void *out, Sources in) {
            put(out, sumOf(toFloat(in[2]),
                           productOf(toFloat(in[0]), toFloat(in[1]))));
          });
}
void okk_bdc_mac_C(local_addr_t dst_addr, local_addr_t src_addr, float C,
                   const dim4 *shape, const dim4 *dst_stride,
                   const dim4 *src_stride) {
  compute("mac_C", dst_addr, dst_stride,
          {okkLocal(src_addr, shape, src_stride),
           okkLocal(dst_addr, shape, dst_stride)},
          shape, [C](void *out, Sources in) {
            put(out, sumOf(toFloat(in[1]), productOf(toFloat(in[0]), C)));
          });
}

//===----------------------------------------------------------------------===//
// 32-bit integers
//===----------------------------------------------------------------------===//

#define OKK_WORDS(name, expression)                                            \
  OKK_BINARY(name, toWord, expression)                                         \
  OKK_CONSTANT(name##_C, x32, toWord, C.u32, expression)
OKK_WORDS(32bit_and, a &b)
OKK_WORDS(32bit_or, a | b)
OKK_WORDS(32bit_xor, a ^ b)
OKK_BINARY(32bit_arithmetic_shift, toWord, shiftArithmetic(a, int32_t(b)))
OKK_BINARY(32bit_logical_shift, toWord, shiftLogical(a, int32_t(b)))
OKK_CONSTANT(32bit_arithmetic_shift_C, int, toWord, C, shiftArithmetic(a, b))
OKK_CONSTANT(32bit_logical_shift_C, int, toWord, C, shiftLogical(a, b))
OKK_CONSTANT(32bit_C_arithmetic_shift, int, toWord, C,
             shiftArithmetic(uint32_t(b), int32_t(a)))
OKK_CONSTANT(32bit_C_logical_shift, unsigned int, toWord, C,
             shiftLogical(b, int32_t(a)))

//===----------------------------------------------------------------------===//
// Functions of aligned tensors
//===----------------------------------------------------------------------===//

#define OKK_ALIGNED(name, expression)                                          \
  void okk_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr,            \
                      const dim4 *shape) {                                     \
    compute(#name, dst_addr, nullptr, {okkLocal(src_addr, shape, nullptr)},    \
            shape, [](void *out, Sources in) {                                 \
              float a = toFloat(in[0]);                                        \
              put(out, expression);                                            \
            });                                                                \
  }
OKK_ALIGNED(rsqrt, reciprocalRootOf(a))
OKK_ALIGNED(sqrt, rootOf(a))
OKK_ALIGNED(fp32_to_int32, truncated(a))

/// Computes a function of integers elementwise. If an element is not in the
/// table, `least` to `most`, reports an error and keeps the destination.
template <typename Fn>
static void lookUp(const char *name, local_addr_t dst, local_addr_t src,
                   const dim4 *shape, int32_t least, int32_t most, Fn fn) {
  okkSimulator().compute(
      okkLocal(dst, shape, nullptr), {okkLocal(src, shape, nullptr)},
      toBox(*shape), 4,
      [&](void *out, Sources in) { put(out, fn(int32_t(toWord(in[0])))); },
      name,
      [&](Sources in) {
        int32_t value = int32_t(toWord(in[0]));
        return value >= least && value <= most
                   ? std::string()
                   : "a table of " + std::to_string(least) + " to " +
                         std::to_string(most) + " is read at " +
                         std::to_string(value);
      });
}

void okk_bdc_lookup_int32_to_fp32(local_addr_t dst_addr, local_addr_t src_addr,
                                  const dim4 *shape) {
  lookUp("lookup_int32_to_fp32", dst_addr, src_addr, shape, -128, 127,
         [](int32_t value) { return float(value); });
}

void okk_bdc_lookup_exp(local_addr_t dst_addr, local_addr_t src_addr,
                        const dim4 *shape) {
  lookUp("lookup_exp", dst_addr, src_addr, shape, -103, 88,
         [](int32_t value) { return std::exp(float(value)); });
}

void okk_bdc_taylor_exp(local_addr_t dst_addr, local_addr_t src_addr,
                        const dim4 *shape, int num_series) {
  compute(
      "taylor_exp", dst_addr, nullptr, {okkLocal(src_addr, shape, nullptr)},
      shape,
      [num_series](void *out, Sources in) {
        put(out, flushed(expOfSeries(toFloat(in[0]), num_series)));
      },
      ofTerms(num_series));
}

namespace {
/// A function (exp, sigmoid or tanh) that the chip computes by a table of
/// powers of e. It is right on [least, most]; other arguments but NaN are an
/// error. The result may overwrite the source only if `mayOverwrite`.
struct TableFunction {
  const char *name;
  float least, most;
  bool mayOverwrite;
  int terms = 0; // that the caller states
};
} // namespace

/// Computes a function with a work buffer, whose contents are undefined
/// afterwards. The work buffer may be the source. Reports an error, and keeps
/// the destination, if the result overwrites the work buffer, or the source
/// although this is not allowed, or if an argument is out of range.
template <typename Fn>
static void computeByTable(const TableFunction &function, local_addr_t dst,
                           local_addr_t src, local_addr_t work,
                           const dim4 *shape, Fn fn) {
  std::string name = function.name;
  if (dst == work || (dst == src && !function.mayOverwrite))
    return okkSimulator().report(name + " writes its result over its " +
                                 (dst == work ? "work memory" : "source") +
                                 ", which it still reads");
  Operand scratch = okkLocal(work, shape, nullptr);
  Operand source = okkLocal(src, shape, nullptr);
  bool isShared = work == src;
  if (!isShared && !okkSimulator().spoil(scratch, toBox(*shape), 4))
    return;
  size_t before = okkSimulator().getErrors().size();
  okkSimulator().compute(
      okkLocal(dst, shape, nullptr), {source}, toBox(*shape), 4,
      [&](void *out, Sources in) { put(out, flushed(fn(toFloat(in[0])))); },
      function.name,
      [&](Sources in) {
        float x = toFloat(in[0]);
        return std::isnan(x) || (x >= function.least && x <= function.most)
                   ? std::string()
                   : name + " is wrong outside of " +
                         std::to_string(function.least) + " to " +
                         std::to_string(function.most) + ", its argument is " +
                         std::to_string(x) + ": clamp it first";
      },
      ofTerms(function.terms));
  if (isShared && okkSimulator().getErrors().size() == before)
    okkSimulator().spoil(scratch, toBox(*shape), 4);
}

#define OKK_WITH_WORK(name, least, most, mayOverwrite, expression, tunable)    \
  void okk_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr,            \
                      local_addr_t work_addr, const dim4 *shape) {             \
    computeByTable({#name, least, most, mayOverwrite}, dst_addr, src_addr,     \
                   work_addr, shape, [](float a) { return expression; });      \
  }                                                                            \
  void okk_bdc_##name##_tunable(local_addr_t dst_addr, local_addr_t src_addr,  \
                                local_addr_t work_addr, const dim4 *shape,     \
                                int num_series) {                              \
    if (num_series < 1)                                                        \
      return okkSimulator().report("a series must have at least one term");    \
    computeByTable({#name "_tunable", least, most, mayOverwrite, num_series},  \
                   dst_addr, src_addr, work_addr, shape,                       \
                   [num_series](float a) { return tunable; });                 \
  }
OKK_WITH_WORK(exp, -128.0f, 88.7228f, false, std::exp(a),
              expOfTable(a, num_series))
OKK_WITH_WORK(sigmoid, -88.7f, 127.0f, true, 1 / (1 + std::exp(-a)),
              1 / (1 + expOfTable(-a, num_series)))
OKK_WITH_WORK(tanh, -86.6f, 88.7f, false, std::tanh(a),
              tanhOfTable(a, num_series))

void okk_bdc_int8_to_fp32(local_addr_t dst_addr, local_addr_t src_addr,
                          local_addr_t work_addr, const dim4 *shape,
                          bool is_signed, bool is_aligned_layout) {
  // A compact channel begins at a multiple of 4 bytes.
  auto get = [&](local_addr_t addr, int elementBytes) {
    dim4 one{1, shape->c, 1, shape->h * shape->w}, compact;
    one.w = (one.w * elementBytes + 3) / 4 * 4 / elementBytes;
    okk_compact_stride(&compact, okk_start_npu_index(addr), &one);
    compact.h = shape->w;
    return okkLocal(addr, shape, is_aligned_layout ? nullptr : &compact,
                    elementBytes);
  };
  if (!okkSimulator().spoil(get(work_addr, 4), toBox(*shape), 4))
    return;
  Operand source = get(src_addr, 1);
  source.elementBytes = 1;
  ChipClock::Work work;
  work.isSigned = is_signed;
  okkSimulator().compute(
      get(dst_addr, 4), {source}, toBox(*shape), 4,
      [is_signed](void *out, Sources in) {
        uint8_t byte = *static_cast<const uint8_t *>(in[0]);
        put(out, is_signed ? float(int8_t(byte)) : float(byte));
      },
      "int8_to_fp32", /*check=*/{}, work);
}

//===----------------------------------------------------------------------===//
// Selections
//===----------------------------------------------------------------------===//

#define OKK_SELECT_VALUE(name, read, test)                                     \
  void okk_bdc_##name##_select_value(                                          \
      local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,   \
      x32 select_val, const dim4 *shape, const dim4 *dst_stride,               \
      const dim4 *src0_stride, const dim4 *src1_stride) {                      \
    compute(#name "_select_value", dst_addr, dst_stride,                       \
            {okkLocal(src0_addr, shape, src0_stride),                          \
             okkLocal(src1_addr, shape, src1_stride)},                         \
            shape, [select_val](void *out, Sources in) {                       \
              auto a = read(in[0]), b = read(in[1]);                           \
              put(out, (test) ? uint32_t(select_val.u32) : uint32_t(0));       \
            });                                                                \
  }
#define OKK_SELECT_VALUE_C(name, read, test)                                   \
  void okk_bdc_##name##_select_value(                                          \
      local_addr_t dst_addr, local_addr_t src_addr, float C, x32 select_val,   \
      const dim4 *shape, const dim4 *dst_stride, const dim4 *src_stride) {     \
    compute(#name "_select_value", dst_addr, dst_stride,                       \
            {okkLocal(src_addr, shape, src_stride)}, shape,                    \
            [select_val, b = read(&C)](void *out, Sources in) {                \
              auto a = read(in[0]);                                            \
              put(out, (test) ? uint32_t(select_val.u32) : uint32_t(0));       \
            });                                                                \
  }
// Equality compares the bits of words: 0 differs from -0, and NaN equals
// itself.
OKK_SELECT_VALUE(greater, toFloat, isGreater(a, b))
OKK_SELECT_VALUE(equal, toWord, a == b)
OKK_SELECT_VALUE_C(greater_C, toFloat, isGreater(a, b))
OKK_SELECT_VALUE_C(C_greater, toFloat, isGreater(b, a))
OKK_SELECT_VALUE_C(equal_C, toWord, a == b)

template <typename Test>
static void select(const char *name, bool isEqual, local_addr_t dst,
                   const fp32_or_addr_t *src0, const fp32_or_addr_t *src1,
                   const x32_or_addr_t *select0, const x32_or_addr_t *select1,
                   const dim4 *shape, Test test) {
  if (isEqual && src0->is_addr != src1->is_addr)
    return okkSimulator().report(
        std::string(name) +
        " is wrong if it compares a tensor with a constant: "
        "select twice by greater_select");
  std::vector<Operand> sources;
  std::array<int, 4> where;
  std::array<uint32_t, 4> values;
  int next = 0;
  auto add = [&](bool isAddress, local_addr_t address, const void *value) {
    where[next] = isAddress ? int(sources.size()) : -1;
    values[next++] = isAddress ? 0 : toWord(value);
    if (isAddress)
      sources.push_back(okkLocal(address, shape, nullptr));
  };
  for (const fp32_or_addr_t *side : {src0, src1})
    add(side->is_addr, side->context.addr, &side->context.val);
  for (const x32_or_addr_t *side : {select0, select1})
    add(side->is_addr, side->context.addr, &side->context.val);
  okkSimulator().compute(
      okkLocal(dst, shape, nullptr), sources, toBox(*shape), 4,
      [=](void *out, Sources in) {
        auto get = [&](int i) -> const void * {
          return where[i] < 0 ? &values[i] : in[where[i]];
        };
        put(out, toWord(get(test(toFloat(get(0)), toFloat(get(1))) ? 2 : 3)));
      },
      name);
}

#define OKK_SELECT(name, isEqual, test)                                        \
  void okk_bdc_##name(local_addr_t dst_addr, const fp32_or_addr_t *src0,       \
                      const fp32_or_addr_t *src1,                              \
                      const x32_or_addr_t *select0,                            \
                      const x32_or_addr_t *select1, const dim4 *shape) {       \
    select(#name, isEqual, dst_addr, src0, src1, select0, select1, shape,      \
           [](float a, float b) { return test; });                             \
  }
// equal_select makes two comparisons by greater, so NaN equals any number.
OKK_SELECT(greater_select, false, isGreater(a, b))
OKK_SELECT(equal_select, true, !isGreater(a, b) && !isGreater(b, a))

//===----------------------------------------------------------------------===//
// Operands per channel
//===----------------------------------------------------------------------===//

/// Returns the operand with one number per channel, [1, c, 1, 1] in the compact
/// layout, with stride 0 along N, H and W to broadcast it to `shape`.
static Operand ofChannels(local_addr_t addr, const dim4 *shape) {
  dim4 numbers{1, shape->c, 1, 1}, stride;
  okk_compact_stride(&stride, okk_start_npu_index(addr), &numbers);
  stride.n = stride.h = stride.w = 0;
  Operand operand = okkLocal(addr, shape, &stride);
  operand.isAligned = true; // the command states no strides for it
  return operand;
}

#define OKK_BY_CHANNEL(name, expression)                                       \
  void okk_bdc_##name(local_addr_t dst_addr, local_addr_t src_addr,            \
                      local_addr_t channel_addr, const dim4 *shape,            \
                      const dim4 *dst_stride, const dim4 *src_stride) {        \
    compute(#name, dst_addr, dst_stride,                                       \
            {okkLocal(src_addr, shape, src_stride),                            \
             ofChannels(channel_addr, shape)},                                 \
            shape, [](void *out, Sources in) {                                 \
              float a = toFloat(in[0]), b = toFloat(in[1]);                    \
              put(out, expression);                                            \
            });                                                                \
  }
OKK_BY_CHANNEL(bias, sumOf(a, b))
OKK_BY_CHANNEL(scale, productOf(a, b))

void okk_bdc_scale_bias(local_addr_t dst_addr, local_addr_t src_addr,
                        local_addr_t scale_addr, local_addr_t bias_addr,
                        const dim4 *shape, const dim4 *dst_stride,
                        const dim4 *src_stride) {
  compute("scale_bias", dst_addr, dst_stride,
          {okkLocal(src_addr, shape, src_stride), ofChannels(scale_addr, shape),
           ofChannels(bias_addr, shape)},
          shape, [](void *out, Sources in) {
            put(out, sumOf(productOf(toFloat(in[0]), toFloat(in[1])),
                           toFloat(in[2])));
          });
}
