//===- OkkNeural.cpp - Functions of layers --------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions, pools and matmuls gather their operands as dense images
// (NpuCompute.cpp), by the same rules as any kernel. The functions of both
// kernel APIs are calls of these.
//
//===----------------------------------------------------------------------===//

#include "OkkNumbers.h"
#include "OkkOperands.h"
#include <algorithm>
#include <limits>

using namespace mlir::npu;
using mlir::layout::ChipClock;

namespace {
enum Access { Read = 1, Write = 2, Broadcast = 4, Lanes = 8 };

/// Runs a layer function as a kernel on images, i.e. dense copies, of its
/// operands, in the order in which they are added.
class Layer {
public:
  Layer(const char *name, int64_t points, const ChipClock::Work &work,
        const ChipClock::Planes &planes) {
    okkSimulator().beginCompute(name, points, work, planes);
  }

  /// Adds an f32 operand. The channel of an element is (position in the image /
  /// inner) mod count; its elements must be in the core of the results of the
  /// same channel. They may be in any core if `count` is 0.
  void add(int64_t elements, unsigned access, int64_t inner, int64_t count) {
    okkSimulator().addImage(4 * elements, access);
    if (count)
      okkSimulator().keepInCore(4 * inner, count);
  }
  void addBox(uint64_t address, int64_t first, const Box &shape,
              const Box &stride, const Box &image) {
    okkSimulator().addBox(address, 4 * first, 4, shape, stride, image);
  }

  /// Adds a 4-D tensor at `at`, whose image is row-major. If `isOwn`, each
  /// channel must be in the core of the same channel of the results, otherwise
  /// it may be in any core.
  void addTensor(const Operand &at, const dim4 &d, unsigned access,
                 bool isOwn = true) {
    int64_t plane = int64_t(d.h) * d.w;
    add(d.n * d.c * plane, access, plane, isOwn ? d.c : 0);
    addBox(at.address, 0, toBox(d), at.stride, {d.c * plane, plane, d.w, 1});
  }

  /// Adds convolution weights [I, O, KH, KW] in 2IC-mode, whose image is [O, I,
  /// KH, KW]. `stride` counts storage units, pairs of input channels.
  void addPairs(local_addr_t address, const dim4 &d, const dim4 &stride) {
    int64_t plane = int64_t(d.h) * d.w, channel = d.n * plane;
    add(d.c * channel, Read, channel, d.c);
    for (int odd : {0, 1})
      if (int64_t count = (d.n + 1 - odd) / 2)
        addBox(address + 4u * odd, odd * plane, {count, d.c, d.h, d.w},
               {2 * int64_t(stride.n), 2 * int64_t(stride.c),
                2 * int64_t(stride.h), 2 * int64_t(stride.w)},
               {2 * plane, channel, d.w, 1});
  }

  /// Adds convolution weights [O, I, KH, KW], of which the channels O of a core
  /// follow each other without gaps.
  void addByOutput(local_addr_t address, const dim4 &d) {
    int64_t channel = int64_t(d.c) * d.h * d.w;
    add(d.n * channel, Read, channel, d.n);
    addBox(address, 0, {1, d.n, 1, channel}, {0, channel, 0, 1},
           {0, channel, 0, 1});
  }

  /// Adds a matrix in the matrix layout with `width` columns per channel. If
  /// `isOwn`, each column must be in the core of the same column of the
  /// results, otherwise it may be in any core.
  void addMatrix(local_addr_t address, int rows, int cols, int width,
                 unsigned access, bool isOwn) {
    add(int64_t(rows) * cols, access, 1, isOwn ? cols : 0);
    walkMatrix(address, rows, cols, width,
               [&](const Operand &part, int first, const Box &shape) {
                 addBox(part.address, first, shape, part.stride,
                        {cols, width, 0, 1});
               });
  }

  /// Returns the images of all operands, or a null pointer if a rule is broken.
  float *const *run() {
    return reinterpret_cast<float *const *>(okkSimulator().getImages());
  }
  void finish() { okkSimulator().endCompute(); }
};

/// The parameters of a convolution or pool with 2-D windows.
struct Windows {
  /// The maximum of strides and paddings, which have four bits, and of
  /// dilations, which are stored minus 1 in four bits.
  static constexpr int kMostStride = 15, kMostDilation = 16;
  dim4 in, out;
  int kernelH, kernelW;
  Padding padding{0, 0, 0, 0};
  dim2 stride{1, 1}, dilation{1, 1};

  Windows(const dim4 &in, int kernelH, int kernelW, const Padding *givenPadding,
          const dim2 *givenStride, const dim2 *givenDilation)
      : in(in), out(in), kernelH(kernelH), kernelW(kernelW) {
    if (givenPadding)
      padding = *givenPadding;
    if (givenStride)
      stride = *givenStride;
    if (givenDilation)
      dilation = *givenDilation;
  }

  /// Returns the work of each step for the window.
  ChipClock::Work getWork() const {
    ChipClock::Work work;
    work.kernelH = kernelH;
    work.kernelW = kernelW;
    work.strideW = stride.w;
    return work;
  }

  /// Computes the output shape. Reports an error and returns false if a
  /// parameter is invalid or the output is empty.
  bool check(const char *name) {
    if (std::min({in.n, in.c, in.h, in.w, kernelH, kernelW, stride.h, stride.w,
                  dilation.h, dilation.w}) < 1 ||
        std::min({padding.top, padding.bottom, padding.left, padding.right}) <
            0) {
      okkSimulator().report(std::string(name) +
                            ": shapes, kernels, strides and dilations must be "
                            "at least 1, paddings at least 0");
      return false;
    }
    auto fits = [&](std::initializer_list<int> values, int most,
                    const char *what) {
      if (std::max(values) <= most)
        return true;
      okkSimulator().report(std::string(name) + ": " + what +
                            " must be at most " + std::to_string(most) +
                            ", found " + std::to_string(std::max(values)));
      return false;
    };
    if (!fits({stride.h, stride.w}, kMostStride, "strides") ||
        !fits({padding.top, padding.bottom, padding.left, padding.right},
              kMostStride, "paddings") ||
        !fits({dilation.h, dilation.w}, kMostDilation, "dilations"))
      return false;
    int64_t h = int64_t(in.h) + padding.top + padding.bottom -
                int64_t(kernelH - 1) * dilation.h - 1;
    int64_t w = int64_t(in.w) + padding.left + padding.right -
                int64_t(kernelW - 1) * dilation.w - 1;
    if (h < 0 || w < 0) {
      okkSimulator().report(std::string(name) +
                            ": the window is larger than the padded input");
      return false;
    }
    out.h = int(h / stride.h) + 1;
    out.w = int(w / stride.w) + 1;
    return true;
  }

  /// Calls fn(element, output row, input row, first column, last column, shift)
  /// for every element of the window and every output row that reads an input
  /// row there. The output columns from the first to the last one, both
  /// included, read inside of the input; there are none if the last one is
  /// less. `shift` is the input column that output column 0 reads.
  template <typename Fn> void walk(Fn fn) const {
    for (int tap = 0; tap < kernelH * kernelW; ++tap) {
      int kh = tap / kernelW, kw = tap % kernelW;
      int64_t shift = int64_t(kw) * dilation.w - padding.left;
      int64_t first = shift >= 0 ? 0 : (-shift + stride.w - 1) / stride.w;
      int64_t last = in.w - 1 - shift < 0 ? -1 : (in.w - 1 - shift) / stride.w;
      last = std::min<int64_t>(last, out.w - 1);
      for (int h = 0; h < out.h; ++h) {
        int64_t row =
            int64_t(h) * stride.h + int64_t(kh) * dilation.h - padding.top;
        if (row >= 0 && row < in.h)
          fn(tap, h, row, first, last, shift);
      }
    }
  }
};

void addRow(float *out, const float *in, float weight, int64_t first,
            int64_t last, int64_t stride, int64_t shift) {
  if (stride == 1) {
    for (int64_t w = first; w <= last; ++w)
      out[w] += weight * in[w + shift];
    return;
  }
  for (int64_t w = first; w <= last; ++w)
    out[w] += weight * in[w * stride + shift];
}
} // namespace

void mlir::npu::runConvolution(const ConvolutionCall &call) {
  const char *name = call.name;
  int output_c = call.outputs, kernel_h = call.kernel.h,
      kernel_w = call.kernel.w;
  bool using_bias = call.bias != nullptr, result_add = call.accumulates;
  Windows windows(*call.inputShape, kernel_h, kernel_w, call.padding,
                  call.stride, call.dilation);
  if (!windows.check(name))
    return;
  dim4 in = windows.in, &out = windows.out;
  out.c = output_c;
  int64_t inPlane = int64_t(in.h) * in.w, outPlane = int64_t(out.h) * out.w;
  int64_t taps = int64_t(kernel_h) * kernel_w;
  ChipClock::Work work = windows.getWork();
  work.function = "conv2d";
  work.channels = in.c;
  work.operands = using_bias;
  Layer layer(name, out.n * out.c * outPlane * in.c * taps, work,
              okkSimulator().getPlanes(call.output, toBox(out)));
  layer.addTensor(okkLocal(call.input, &in, call.inputStride), in,
                  Read | Broadcast, /*isOwn=*/false);
  if (call.pairStride)
    layer.addPairs(call.weights, {in.c, output_c, kernel_h, kernel_w},
                   *call.pairStride);
  else
    layer.addByOutput(call.weights, {output_c, in.c, kernel_h, kernel_w});
  dim4 numbers{1, output_c, 1, 1}, numberStride;
  okk_compact_stride(&numberStride, okk_start_npu_index(call.output), &numbers);
  if (using_bias)
    layer.addTensor(okkLocal(*call.bias, &numbers, &numberStride), numbers,
                    Read);
  layer.addTensor(okkLocal(call.output, &out, nullptr), out,
                  (result_add ? Read : 0) | Write | Lanes);
  float *const *images = layer.run();
  if (!images)
    return;
  const float *x = images[0], *weight = images[1], *bias = images[2];
  float *y = images[using_bias ? 3 : 2];
  bool isPoint = taps == 1 && windows.stride.h == 1 && windows.stride.w == 1 &&
                 inPlane == outPlane;
  for (int n = 0; n < out.n; ++n)
    for (int o = 0; o < out.c; ++o) {
      float *to = y + (int64_t(n) * out.c + o) * outPlane;
      if (!result_add)
        std::fill(to, to + outPlane, 0.0f);
      for (int i = 0; i < in.c; ++i) {
        const float *from = x + (int64_t(n) * in.c + i) * inPlane;
        const float *w = weight + (int64_t(o) * in.c + i) * taps;
        if (isPoint) {
          addRow(to, from, *w, 0, outPlane - 1, 1, 0);
          continue;
        }
        windows.walk([&](int tap, int h, int64_t row, int64_t first,
                         int64_t last, int64_t shift) {
          addRow(to + int64_t(h) * out.w, from + row * in.w, w[tap], first,
                 last, windows.stride.w, shift);
        });
      }
      for (int64_t k = 0; using_bias && k < outPlane; ++k)
        to[k] += bias[o];
    }
  layer.finish();
}

void okk_bdc_conv2d(local_addr_t output_addr, local_addr_t input_addr,
                    local_addr_t weight_addr, local_addr_t bias_addr,
                    const dim4 *input_shape, int output_c, int kernel_h,
                    int kernel_w, const dim4 *input_stride,
                    const dim4 *kernel_stride, bool using_bias, bool result_add,
                    const Padding *padding, const dim2 *stride,
                    const dim2 *dilation) {
  if (!kernel_stride)
    return okkSimulator().report("okk_bdc_conv2d: kernel_stride is null, which "
                                 "the function dereferences: "
                                 "pass the strides of the pairs");
  if (weight_addr % 8 != 0)
    return okkSimulator().report("okk_bdc_conv2d: the weights at address " +
                                 std::to_string(weight_addr) +
                                 " are not aligned to the 8 bytes of a pair");
  runConvolution({"okk_bdc_conv2d",
                  output_addr,
                  input_addr,
                  weight_addr,
                  using_bias ? &bias_addr : nullptr,
                  input_shape,
                  input_stride,
                  kernel_stride,
                  output_c,
                  {kernel_h, kernel_w},
                  result_add,
                  padding,
                  stride,
                  dilation});
}

/// Runs a pool or depthwise convolution: calls compute(channel, input plane,
/// output plane, images) for each channel of each batch. Weights and biases are
/// optional and compact. `clocked` is the function whose cycles it takes.
template <typename Fn>
static void poolChannels(const char *name, const char *clocked,
                         Windows &windows, local_addr_t output_addr,
                         local_addr_t input_addr,
                         const local_addr_t *weight_addr,
                         const local_addr_t *bias_addr, Fn compute) {
  if (!windows.check(name))
    return;
  dim4 in = windows.in, out = windows.out;
  int64_t inPlane = int64_t(in.h) * in.w, outPlane = int64_t(out.h) * out.w;
  ChipClock::Work work = windows.getWork();
  work.function = clocked;
  Layer layer(name,
              out.n * out.c * outPlane *
                  (int64_t(windows.kernelH) * windows.kernelW),
              work, okkSimulator().getPlanes(output_addr, toBox(out)));
  layer.addTensor(okkLocal(input_addr, &in, nullptr), in, Read);
  auto addCompact = [&](local_addr_t address, const dim4 &shape) {
    dim4 stride;
    okk_compact_stride(&stride, okk_start_npu_index(address), &shape);
    layer.addTensor(okkLocal(address, &shape, &stride), shape, Read);
  };
  if (weight_addr)
    addCompact(*weight_addr, {1, in.c, windows.kernelH, windows.kernelW});
  if (bias_addr)
    addCompact(*bias_addr, {1, in.c, 1, 1});
  layer.addTensor(okkLocal(output_addr, &out, nullptr), out, Write | Lanes);
  float *const *images = layer.run();
  if (!images)
    return;
  float *y = images[1 + (weight_addr != nullptr) + (bias_addr != nullptr)];
  for (int64_t plane = 0; plane < int64_t(in.n) * in.c; ++plane)
    compute(plane % in.c, images[0] + plane * inPlane, y + plane * outPlane,
            images);
  layer.finish();
}

void mlir::npu::runWindows(const WindowsCall &call) {
  Windows windows(*call.inputShape, call.kernel.h, call.kernel.w, call.padding,
                  call.stride, call.dilation);
  int64_t taps = int64_t(call.kernel.h) * call.kernel.w;
  bool isMaximum = !call.weights && !call.finish;
  poolChannels(
      call.name,
      isMaximum      ? "max_pool2d"
      : call.weights ? "depthwise2d"
                     : "avg_pool2d",
      windows, call.output, call.input, call.weights, call.bias,
      [&](int64_t c, const float *x, float *y, float *const *images) {
        const dim4 &out = windows.out;
        int64_t size = int64_t(out.h) * out.w;
        std::fill(y, y + size,
                  isMaximum   ? std::numeric_limits<float>::lowest()
                  : call.bias ? images[2][c]
                              : 0.0f);
        const float *weight = call.weights ? images[1] + c * taps : nullptr;
        windows.walk([&](int tap, int h, int64_t row, int64_t first,
                         int64_t last, int64_t shift) {
          float *to = y + int64_t(h) * out.w;
          const float *from = x + row * windows.in.w;
          if (!isMaximum)
            return addRow(to, from, weight ? weight[tap] : 1.0f, first, last,
                          windows.stride.w, shift);
          for (int64_t w = first; w <= last; ++w)
            to[w] = latestGreatest(to[w], from[w * windows.stride.w + shift]);
        });
        if (call.finish)
          std::transform(y, y + size, y, call.finish);
      });
}

void okk_bdc_depthwise2d(local_addr_t output_addr, local_addr_t input_addr,
                         local_addr_t weight_addr, local_addr_t bias_addr,
                         const dim4 *input_shape, int kernel_h, int kernel_w,
                         bool using_bias, const Padding *padding,
                         const dim2 *stride, const dim2 *dilation) {
  runWindows({"okk_bdc_depthwise2d",
              output_addr,
              input_addr,
              &weight_addr,
              using_bias ? &bias_addr : nullptr,
              input_shape,
              {kernel_h, kernel_w},
              padding,
              stride,
              dilation,
              {}});
}

void okk_bdc_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr,
                        const dim4 *input_shape, int kernel_h, int kernel_w,
                        const Padding *padding, const dim2 *stride) {
  auto count = float(int64_t(kernel_h) * kernel_w);
  runWindows({"okk_bdc_avg_pool2d",
              output_addr,
              input_addr,
              nullptr,
              nullptr,
              input_shape,
              {kernel_h, kernel_w},
              padding,
              stride,
              nullptr,
              [count](float sum) { return sum / count; }});
}

void okk_bdc_max_pool2d(local_addr_t output_addr, local_addr_t input_addr,
                        const dim4 *input_shape, int kernel_h, int kernel_w,
                        const Padding *padding, const dim2 *stride) {
  runWindows({"okk_bdc_max_pool2d",
              output_addr,
              input_addr,
              nullptr,
              nullptr,
              input_shape,
              {kernel_h, kernel_w},
              padding,
              stride,
              nullptr,
              {}});
}

/// Makes the columns of the last channel beyond the end of a matrix undefined,
/// because the command `name` overwrites them.
static void spoilTail(const std::string &name, local_addr_t addr, int rows,
                      int cols, int width) {
  int rest = cols % width;
  if (rest == 0)
    return;
  walkMatrix(addr, rows, cols, width,
             [&](const Operand &part, int first, const Box &) {
               if (first + rest != cols)
                 return;
               Operand tail = part;
               tail.address += 4u * unsigned(rest);
               std::string what = name + ": the last channel of the result";
               okkSimulator().spoilPadding(tail, {rows, 1, 1, width - rest}, 4,
                                           what.c_str());
             });
}

void mlir::npu::runMatmul(const char *name, local_addr_t output_addr,
                          local_addr_t left_addr, local_addr_t right_addr,
                          local_addr_t bias_addr, int left_rows, int left_cols,
                          int right_cols, int left_cols_per_channel,
                          int right_cols_per_channel, bool using_bias,
                          bool result_add) {
  if (std::min({left_rows, left_cols, right_cols}) < 1 ||
      left_cols_per_channel < 1 || left_cols_per_channel > left_cols ||
      right_cols_per_channel < 1 || right_cols_per_channel > right_cols)
    return okkSimulator().report(
        std::string(name) + ": a matrix must have rows, columns, and between 1 "
                            "and all columns in a channel");
  ChipClock::Work work;
  work.function = "matmul";
  work.channels = left_cols;
  work.operands = using_bias + result_add;
  int64_t channels = (int64_t(right_cols) + right_cols_per_channel - 1) /
                     right_cols_per_channel;
  Layer layer(name, int64_t(left_rows) * left_cols * right_cols, work,
              okkSimulator().getPlanes(output_addr, {left_rows, channels, 1,
                                                     right_cols_per_channel}));
  layer.addMatrix(left_addr, left_rows, left_cols, left_cols_per_channel,
                  Read | Broadcast, /*isOwn=*/false);
  layer.addMatrix(right_addr, left_cols, right_cols, right_cols_per_channel,
                  Read, /*isOwn=*/true);
  if (using_bias)
    layer.addMatrix(bias_addr, 1, right_cols, right_cols_per_channel, Read,
                    /*isOwn=*/true);
  layer.addMatrix(output_addr, left_rows, right_cols, right_cols_per_channel,
                  (result_add ? Read : 0) | Write | Lanes, /*isOwn=*/true);
  float *const *images = layer.run();
  if (!images)
    return;
  const float *left = images[0], *right = images[1], *bias = images[2];
  float *y = images[using_bias ? 3 : 2];
  for (int m = 0; m < left_rows; ++m) {
    float *to = y + int64_t(m) * right_cols;
    if (!result_add)
      std::fill(to, to + right_cols, 0.0f);
    for (int k = 0; k < left_cols; ++k)
      addRow(to, right + int64_t(k) * right_cols,
             left[int64_t(m) * left_cols + k], 0, right_cols - 1, 1, 0);
    for (int n = 0; using_bias && n < right_cols; ++n)
      to[n] += bias[n];
  }
  layer.finish();
  spoilTail(name, output_addr, left_rows, right_cols, right_cols_per_channel);
}

void okk_bdc_matmul(local_addr_t output_addr, local_addr_t left_addr,
                    local_addr_t right_addr, local_addr_t bias_addr,
                    int left_rows, int left_cols, int right_cols,
                    int left_cols_per_channel, int right_cols_per_channel,
                    bool using_bias, bool result_add) {
  runMatmul("okk_bdc_matmul", output_addr, left_addr, right_addr, bias_addr,
            left_rows, left_cols, right_cols, left_cols_per_channel,
            right_cols_per_channel, using_bias, result_add);
}
