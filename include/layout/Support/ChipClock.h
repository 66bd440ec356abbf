//===- ChipClock.h - Cycles of the commands of an NPU -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cycles of DMA transfers and of commands of the execution units, for the
// simulator and for all costs of the compiler.
//
//     transfer   start + the bytes of its rows by its rate, where a row is a
//                contiguous segment of both sides; short rows cost the cycles
//                of `.._row`
//     command    start + steps * cycles of a step; a step is `step_bytes` of
//                each core. A command on [n, c, h, w] from core q on has
//                n * ceil((q + c) / npus) * ceil(h * w / lanes of a step) steps
//
//   BM1684, 64 channels of 10x32 f32 (20 steps of 64 bytes):
//     add            20 cycles, or 40 with strides
//     exp            3640 cycles
//     conv2d 3x3 of 16 channels   20 * (3 + 8 * 9) = 1500 cycles
//     S2L            64 rows of 1280 bytes, 137 + 81920 / 53.369 cycles
//
// The table below has the cycles of Sophgo's chip models for BM1684, BM1684X
// and BM1688. VendorModel/run-clock.py compares them for BM1684.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_CHIPCLOCK_H
#define LAYOUT_SUPPORT_CHIPCLOCK_H

#include "layout/Support/Cost.h"
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

namespace mlir::layout {

/// The directions of DMA transfers between system (S) and local memory (L), and
/// fills of each.
enum class Direction { S2L, L2S, S2S, L2L, FillLocal, FillSystem };

inline Direction getCopyDirection(bool isFromLocal, bool isToLocal) {
  if (isToLocal)
    return isFromLocal ? Direction::L2L : Direction::S2L;
  return isFromLocal ? Direction::L2S : Direction::S2S;
}
inline Direction getFillDirection(bool isToLocal) {
  return isToLocal ? Direction::FillLocal : Direction::FillSystem;
}

// The columns are the name, and the values of chips that are not published, of
// BM1684, BM1684X and BM1688. `.._start` are cycles, `.._rate` bytes per 1000
// cycles, `.._row` the cycles of 1000 short rows. All others are the cycles of
// a step, except:
//   compute_start       the cycles to start a command
//   step_bytes          the bytes of a step in each core, 0: eu_bytes
//   conv_channels       the input channels that a step adds per cycle
//   window_stride       1 if each column of a window takes its W stride
//   series_term         for each term of a series
//   from_packed_words   for each step of words of four bytes of int8_to_fp32
//   from_packed_bytes   for each step of one of the four bytes of words
//   from_signed_bytes   for each step of words of signed bytes
#define LAYOUT_CHIP_CLOCK(CLOCK)                                               \
  CLOCK(s2l_start, 32, 137, 0, 300)                                            \
  CLOCK(s2l_rate, 64000, 53369, 54040, 26700)                                  \
  CLOCK(s2l_row, 0, 554, 4740, 2900)                                           \
  CLOCK(l2s_start, 32, 45, 0, 180)                                             \
  CLOCK(l2s_rate, 64000, 53369, 40980, 26700)                                  \
  CLOCK(l2s_row, 0, 554, 6250, 2900)                                           \
  CLOCK(s2s_start, 32, 137, 0, 290)                                            \
  CLOCK(s2s_rate, 64000, 53369, 26090, 13330)                                  \
  CLOCK(s2s_row, 0, 554, 9810, 6000)                                           \
  CLOCK(l2l_start, 32, 3, 0, 60)                                               \
  CLOCK(l2l_rate, 64000, 32000, 26090, 13330)                                  \
  CLOCK(l2l_row, 0, 1000, 9810, 6000)                                          \
  CLOCK(fill_local_start, 32, 7, 0, 290)                                       \
  CLOCK(fill_local_rate, 64000, 64000, 58000, 13330)                           \
  CLOCK(fill_local_row, 0, 500, 4410, 3000)                                    \
  CLOCK(fill_system_start, 32, 7, 0, 290)                                      \
  CLOCK(fill_system_rate, 64000, 53369, 58000, 13330)                          \
  CLOCK(fill_system_row, 0, 554, 4410, 3000)                                   \
  CLOCK(compute_start, 8, 0, 0, 0)                                             \
  CLOCK(step_bytes, 0, 64, 64, 16)                                             \
  CLOCK(kernel, 1, 1, 1, 1)                                                    \
  CLOCK(copy, 1, 1, 1, 1)                                                      \
  CLOCK(unary, 1, 1, 1, 1)                                                     \
  CLOCK(unary_strided, 1, 2, 1, 1)                                             \
  CLOCK(binary, 1, 1, 1, 1)                                                    \
  CLOCK(binary_strided, 1, 2, 2, 2)                                            \
  CLOCK(mac, 1, 1, 1, 1)                                                       \
  CLOCK(mac_strided, 1, 5, 2, 2)                                               \
  CLOCK(words, 1, 2, 1, 1)                                                     \
  CLOCK(words_strided, 1, 2, 2, 2)                                             \
  CLOCK(words_constant, 1, 2, 1, 1)                                            \
  CLOCK(select, 1, 2, 2, 2)                                                    \
  CLOCK(equal_select, 1, 4, 4, 4)                                              \
  CLOCK(by_channel, 1, 4, 1, 1)                                                \
  CLOCK(by_channel_strided, 1, 2, 1, 1)                                        \
  CLOCK(scale_bias, 1, 4, 1, 1)                                                \
  CLOCK(divide, 1, 30, 31, 31)                                                 \
  CLOCK(rsqrt, 1, 27, 32, 30)                                                  \
  CLOCK(sqrt, 1, 57, 38, 36)                                                   \
  CLOCK(exp, 1, 182, 22, 22)                                                   \
  CLOCK(sigmoid, 1, 214, 56, 56)                                               \
  CLOCK(tanh, 1, 247, 59, 57)                                                  \
  CLOCK(taylor_exp, 1, 3, 3, 3)                                                \
  CLOCK(series_term, 0, 4, 0, 0)                                               \
  CLOCK(lookup, 1, 24, 1, 1)                                                   \
  CLOCK(to_integers, 1, 1, 1, 1)                                               \
  CLOCK(from_bytes, 1, 8, 1, 1)                                                \
  CLOCK(from_packed_words, 0, 1, 0, 0)                                         \
  CLOCK(from_packed_bytes, 0, 2, 0, 0)                                         \
  CLOCK(from_signed_bytes, 0, 2, 0, 0)                                         \
  CLOCK(conv, 0, 3, 0, 0)                                                      \
  CLOCK(conv_channels, 1, 2, 1, 1)                                             \
  CLOCK(conv_bias, 0, 2, 0, 0)                                                 \
  CLOCK(window, 0, 5, 0, 0)                                                    \
  CLOCK(window_column, 0, 1, 0, 0)                                             \
  CLOCK(window_stride, 0, 1, 1, 1)                                             \
  CLOCK(matmul, 0, 6, 0, 0)                                                    \
  CLOCK(matmul_operand, 0, 2, 1, 1)

/// The parameters of the clock, in the order of the table.
enum class ClockParam {
#define LAYOUT_CLOCK(name, ...) name,
  LAYOUT_CHIP_CLOCK(LAYOUT_CLOCK)
#undef LAYOUT_CLOCK
      count
};

/// The columns of the table: chips of no published kind, and published ones.
enum class ClockModel { Usual, BM1684, BM1684X, BM1688 };

inline constexpr std::string_view kClockNames[] = {
#define LAYOUT_CLOCK(name, ...) #name,
    LAYOUT_CHIP_CLOCK(LAYOUT_CLOCK)
#undef LAYOUT_CLOCK
};

inline constexpr int64_t kClockValues[][4] = {
#define LAYOUT_CLOCK(name, ...) {__VA_ARGS__},
    LAYOUT_CHIP_CLOCK(LAYOUT_CLOCK)
#undef LAYOUT_CLOCK
};

/// The functions of OKKernel whose step costs a parameter of the clock, without
/// the prefix okk_bdc_, and that parameter with and without strides.
struct ClockedFunction {
  std::string_view name;
  ClockParam aligned, strided;
};

#define LAYOUT_CLOCKED(name, aligned, strided)                                 \
  ClockedFunction { name, ClockParam::aligned, ClockParam::strided }
inline constexpr ClockedFunction kClockedFunctions[] = {
    LAYOUT_CLOCKED("32bit_cpy", copy, copy),
    LAYOUT_CLOCKED("32bit_set_C", words_constant, words_constant),
    LAYOUT_CLOCKED("relu", unary, unary_strided),
    LAYOUT_CLOCKED("neg", unary, unary_strided),
    LAYOUT_CLOCKED("add_C", unary, unary_strided),
    LAYOUT_CLOCKED("sub_C", unary, unary_strided),
    LAYOUT_CLOCKED("C_sub", unary, unary_strided),
    LAYOUT_CLOCKED("mul_C", unary, unary_strided),
    LAYOUT_CLOCKED("max_C", unary, unary_strided),
    LAYOUT_CLOCKED("add", binary, binary_strided),
    LAYOUT_CLOCKED("sub", binary, binary_strided),
    LAYOUT_CLOCKED("mul", binary, binary_strided),
    LAYOUT_CLOCKED("max", binary, binary_strided),
    LAYOUT_CLOCKED("mac", mac, mac_strided),
    LAYOUT_CLOCKED("mac_C", mac, mac_strided),
    LAYOUT_CLOCKED("min", words, words_strided),
    LAYOUT_CLOCKED("min_C", words_constant, words_constant),
    LAYOUT_CLOCKED("32bit_and", words, words_strided),
    LAYOUT_CLOCKED("32bit_or", words, words_strided),
    LAYOUT_CLOCKED("32bit_xor", words, words_strided),
    LAYOUT_CLOCKED("32bit_arithmetic_shift", words, words_strided),
    LAYOUT_CLOCKED("32bit_logical_shift", words, words_strided),
    LAYOUT_CLOCKED("32bit_and_C", words_constant, words_constant),
    LAYOUT_CLOCKED("32bit_or_C", words_constant, words_constant),
    LAYOUT_CLOCKED("32bit_xor_C", words_constant, words_constant),
    LAYOUT_CLOCKED("32bit_arithmetic_shift_C", words_constant, words_constant),
    LAYOUT_CLOCKED("32bit_logical_shift_C", words_constant, words_constant),
    LAYOUT_CLOCKED("32bit_C_arithmetic_shift", words_constant, words_constant),
    LAYOUT_CLOCKED("32bit_C_logical_shift", words_constant, words_constant),
    LAYOUT_CLOCKED("greater_select_value", words, words_strided),
    LAYOUT_CLOCKED("equal_select_value", words, words_strided),
    LAYOUT_CLOCKED("greater_C_select_value", words_constant, words_constant),
    LAYOUT_CLOCKED("C_greater_select_value", words_constant, words_constant),
    LAYOUT_CLOCKED("equal_C_select_value", words_constant, words_constant),
    LAYOUT_CLOCKED("greater_select", select, select),
    LAYOUT_CLOCKED("equal_select", equal_select, equal_select),
    LAYOUT_CLOCKED("bias", by_channel, by_channel_strided),
    LAYOUT_CLOCKED("scale", by_channel, by_channel_strided),
    LAYOUT_CLOCKED("scale_bias", scale_bias, scale_bias),
    LAYOUT_CLOCKED("div", divide, divide),
    LAYOUT_CLOCKED("div_C", divide, divide),
    LAYOUT_CLOCKED("C_div", divide, divide),
    LAYOUT_CLOCKED("reciprocal", divide, divide),
    LAYOUT_CLOCKED("rsqrt", rsqrt, rsqrt),
    LAYOUT_CLOCKED("sqrt", sqrt, sqrt),
    LAYOUT_CLOCKED("exp", exp, exp),
    LAYOUT_CLOCKED("sigmoid", sigmoid, sigmoid),
    LAYOUT_CLOCKED("tanh", tanh, tanh),
    LAYOUT_CLOCKED("lookup_exp", lookup, lookup),
    LAYOUT_CLOCKED("lookup_int32_to_fp32", lookup, lookup),
    LAYOUT_CLOCKED("fp32_to_int32", to_integers, to_integers),
    LAYOUT_CLOCKED("int8_to_fp32", from_bytes, from_bytes),
};
#undef LAYOUT_CLOCKED

/// The clock of an NPU: its frequency, and the cycles of its commands.
class ChipClock {
public:
  explicit ChipClock(ClockModel model = ClockModel::Usual) {
    for (size_t i = 0; i < size_t(ClockParam::count); ++i)
      values[i] = kClockValues[i][size_t(model)];
  }

  /// Returns the parameter with this name, or std::nullopt.
  static std::optional<ClockParam> find(std::string_view name) {
    for (size_t i = 0; i < size_t(ClockParam::count); ++i)
      if (kClockNames[i] == name)
        return ClockParam(i);
    return std::nullopt;
  }
  int64_t get(ClockParam param) const { return values[size_t(param)]; }
  void set(ClockParam param, int64_t value) { values[size_t(param)] = value; }

  /// Contiguous segments of equal size that a transfer moves.
  struct Rows {
    int64_t count = 1, bytes = 0;
  };

  /// Returns the rows of a transfer of a box; the source of a fill is its
  /// destination. A row goes over h, and in system memory over c, if both sides
  /// are contiguous there.
  static Rows getRows(Direction direction, const std::array<int64_t, 4> &shape,
                      const std::array<int64_t, 4> &dest,
                      const std::array<int64_t, 4> &source,
                      int64_t elementBytes) {
    Rows rows{scaleCost(shape[0], shape[1]), shape[3] * elementBytes};
    auto isContiguous = [&](int d, int64_t length) {
      return shape[d] == 1 || (dest[d] == length && source[d] == length);
    };
    if (!isContiguous(2, shape[3])) {
      rows.count = scaleCost(rows.count, shape[2]);
      return rows;
    }
    rows.bytes *= shape[2];
    bool isLinear =
        direction == Direction::S2S || direction == Direction::FillSystem;
    if (isLinear && isContiguous(1, shape[2] * shape[3]))
      return {shape[0], rows.bytes * shape[1]};
    return rows;
  }

  /// Returns the time of rows, in units of which a cycle has `unit`, without
  /// the start of the transfer.
  Cost getRowTime(Direction direction, const Rows &rows,
                  int64_t unit = 1) const {
    int64_t rate = std::max<int64_t>(get(param(direction, 1)), 1);
    int64_t row = get(param(direction, 2));
    if (scaleCost(rows.bytes, 1000000) < scaleCost(row, rate))
      return divideUp(scaleCost(scaleCost(rows.count, row), unit), 1000);
    Cost bytes = scaleCost(rows.count, rows.bytes);
    return addCosts(scaleCost(bytes / rate, 1000 * unit),
                    divideUp(scaleCost(bytes % rate, 1000 * unit), rate));
  }
  int64_t getStart(Direction direction) const {
    return get(param(direction, 0));
  }

  /// The work of a command for each step.
  struct Work {
    std::string_view function; // of OKKernel, without the prefix okk_bdc_
    bool isAligned = false;    // no operand has strides
    int64_t terms = 0;         // of a series, 0: the function has none
    // The reduction of a convolution, window or product: its input channels or
    // columns, and the kernel with its stride along W.
    int64_t channels = 1, kernelH = 1, kernelW = 1, strideW = 1;
    int64_t operands = 0;  // that are added, e.g. a bias
    bool isSigned = false; // the sign of bytes
  };

  /// Returns the cycles of one step.
  Cost getStepCycles(const Work &work) const {
    if (work.function == "conv2d")
      return getConvolution(work);
    int64_t columns = std::max<int64_t>(work.strideW, 1);
    columns = get(ClockParam::window_stride) ? columns : 1;
    // Each row of a window begins with one column and adds the others.
    Cost window =
        addCosts(scaleCost(work.kernelH, scaleCost(work.kernelW, columns)),
                 scaleCost(get(ClockParam::window_column),
                           scaleCost(work.kernelH, work.kernelW - 1)));
    if (work.function == "max_pool2d")
      return window;
    if (work.function == "avg_pool2d" || work.function == "depthwise2d")
      return addCosts(get(ClockParam::window), window);
    if (work.function == "matmul")
      return addCosts(addCosts(get(ClockParam::matmul), work.channels),
                      get(ClockParam::matmul_operand) * work.operands);
    if (work.function == "taylor_exp")
      return get(ClockParam::taylor_exp) +
             get(ClockParam::series_term) * work.terms;
    return getFunction(work);
  }

  /// The part of a box in the core that has most of it: contiguous or not,
  /// `count` planes of `elements`, one for each n and channel.
  struct Planes {
    int64_t count = 1, elements = 1;

    static Planes get(int64_t npus, int64_t core,
                      const std::array<int64_t, 4> &shape) {
      return {scaleCost(shape[0], divideUp(core + shape[1], npus)),
              shape[2] * shape[3]};
    }
  };

  /// Returns the steps of a command on planes.
  int64_t getSteps(const Planes &planes, int64_t elementBytes,
                   int64_t euBytes) const {
    return scaleCost(planes.count, divideUp(planes.elements * elementBytes,
                                            getStepBytes(euBytes)));
  }
  /// Returns the cycles of a command on planes, without its start.
  Cost getCycles(const Work &work, const Planes &planes, int64_t elementBytes,
                 int64_t euBytes) const {
    Cost cycles =
        scaleCost(getSteps(planes, elementBytes, euBytes), getStepCycles(work));
    if (work.function != "int8_to_fp32")
      return cycles;
    return addCosts(cycles, getByteCycles(work, planes, euBytes));
  }
  int64_t getStepBytes(int64_t euBytes) const {
    int64_t bytes = get(ClockParam::step_bytes);
    return std::max<int64_t>(bytes ? bytes : euBytes, 1);
  }

  int64_t megahertz = 1000;

private:
  static constexpr ClockParam param(Direction direction, int which) {
    return ClockParam(3 * int(direction) + which);
  }
  static Cost divideUp(Cost a, int64_t b) {
    return a == kInfiniteCost ? a : a / b + (a % b != 0);
  }

  /// Returns the cycles of int8_to_fp32 for words of four bytes. A word of one
  /// byte is not split.
  Cost getByteCycles(const Work &work, const Planes &planes,
                     int64_t euBytes) const {
    auto getWords = [&](int64_t bytes) {
      return getSteps({planes.count, divideUp(bytes, 4)}, 4, euBytes);
    };
    Cost cycles =
        scaleCost(getWords(planes.elements),
                  get(ClockParam::from_packed_words) +
                      work.isSigned * get(ClockParam::from_signed_bytes));
    for (int64_t byte = 0;
         byte < 4 && planes.elements > std::max<int64_t>(byte, 1); ++byte)
      cycles = addCosts(cycles, scaleCost(getWords(planes.elements - byte),
                                          get(ClockParam::from_packed_bytes)));
    return cycles;
  }

  /// A step adds `conv_channels` input channels per cycle. If these are two,
  /// one channel takes a cycle and its W stride, and three take five.
  Cost getConvolution(const Work &work) const {
    int64_t each = std::max<int64_t>(get(ClockParam::conv_channels), 1);
    Cost channels = divideUp(work.channels, each);
    if (each == 2 && work.channels == 1)
      channels = 1 + work.strideW;
    else if (each == 2 && work.channels == 3)
      channels = 5;
    Cost taps = scaleCost(work.kernelH, work.kernelW);
    return addCosts(addCosts(get(ClockParam::conv), scaleCost(channels, taps)),
                    get(ClockParam::conv_bias) * work.operands);
  }

  /// A series of exp has 32 terms, unless the function states another number.
  Cost getFunction(const Work &work) const {
    std::string_view name = work.function;
    constexpr std::string_view tunable = "_tunable";
    int64_t fewer = 0;
    if (name.size() > tunable.size() &&
        name.substr(name.size() - tunable.size()) == tunable) {
      name.remove_suffix(tunable.size());
      fewer = (32 - work.terms) * get(ClockParam::series_term);
    }
    for (const ClockedFunction &function : kClockedFunctions)
      if (function.name == name)
        return std::max<Cost>(
            get(work.isAligned ? function.aligned : function.strided) - fewer,
            0);
    return get(ClockParam::kernel);
  }

  std::array<int64_t, size_t(ClockParam::count)> values;
};

/// Stands for a parameter of an NPU target that is not set, so that the
/// parameter of its chip is used.
constexpr int64_t kFromChip = std::numeric_limits<int64_t>::min();

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_CHIPCLOCK_H
