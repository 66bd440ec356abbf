//===- Okk.cpp - OKKernel's API on the simulator --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OkkOperands.h"
#include "layout/Targets/NPU/Simulator/okk/sim.h"
#include "layout/Targets/NPU/Simulator/okk/sim_compute.h"
#include <algorithm>
#include <map>
#include <memory>
#include <string>

using namespace mlir::npu;
using Rows = mlir::layout::ChipClock::Rows;

static std::unique_ptr<Simulator> simulator;

Simulator &mlir::npu::okkSimulator() {
  if (!simulator)
    okk_sim_open(1, 1, 1); // not opened: every command is an error
  return *simulator;
}
static Simulator &npu() { return okkSimulator(); }

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

//===----------------------------------------------------------------------===//
// Strides
//===----------------------------------------------------------------------===//

static dim4 alignedStride(int start, const dim4 *shape, int elementBytes) {
  int64_t step = std::max<int64_t>(npu().getChip().euBytes / elementBytes, 1);
  dim4 stride;
  stride.w = 1;
  stride.h = shape->w;
  stride.c = int(ceilDiv(int64_t(shape->h) * shape->w, step) * step);
  stride.n = stride.c * okk_channle_num_per_npu(start, shape->c);
  return stride;
}

void okk_128_byte_aligned_stride_for_32bit(dim4 *stride, int start_idx,
                                           const dim4 *shape) {
  *stride = alignedStride(start_idx, shape, 4);
}
void okk_128_byte_aligned_stride_for_16bit(dim4 *stride, int start_idx,
                                           const dim4 *shape) {
  *stride = alignedStride(start_idx, shape, 2);
}
void okk_128_byte_aligned_stride_for_8bit(dim4 *stride, int start_idx,
                                          const dim4 *shape) {
  *stride = alignedStride(start_idx, shape, 1);
}

void okk_compact_stride(dim4 *stride, int start_idx, const dim4 *shape) {
  stride->w = 1;
  stride->h = shape->w;
  stride->c = shape->h * shape->w;
  stride->n = stride->c * okk_channle_num_per_npu(start_idx, shape->c);
}

void okk_continuous_stride(dim4 *stride, const dim4 *shape) {
  stride->w = 1;
  stride->h = shape->w;
  stride->c = shape->h * shape->w;
  stride->n = shape->c * stride->c;
}

int okk_start_npu_index(local_addr_t addr) {
  return int(addr / npu().getChip().bytesPerNpu);
}

int okk_channle_num_per_npu(int start_idx, int num_channels) {
  return int(ceilDiv(start_idx + num_channels, npu().getChip().npus));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Operand mlir::npu::okkLocal(local_addr_t addr, const dim4 *shape,
                            const dim4 *stride, int elementBytes) {
  Operand operand{true, addr, {0, 0, 0, 1}};
  if (stride) {
    operand.stride = toBox(*stride);
    return operand;
  }
  if (addr % okkSimulator().getChip().euBytes != 0)
    okkSimulator().report(
        "the tensor at address " + std::to_string(addr) +
        " is not in the aligned layout: its address must be a multiple of " +
        std::to_string(okkSimulator().getChip().euBytes));
  operand.stride =
      toBox(alignedStride(okk_start_npu_index(addr), shape, elementBytes));
  operand.isAligned = true;
  return operand;
}

static Operand system(system_addr_t addr, const dim4 *shape,
                      const dim4 *stride) {
  dim4 continuous;
  okk_continuous_stride(&continuous, shape);
  return {false, addr, toBox(stride ? *stride : continuous)};
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

#define OKK_SIDE_S(addr, stride, bytes) system(addr, shape, stride)
#define OKK_SIDE_L(addr, stride, bytes) okkLocal(addr, shape, stride, bytes)
#define OKK_ADDR_S system_addr_t
#define OKK_ADDR_L local_addr_t

#define OKK_COPY(bits, S, D)                                                   \
  void okk_gdma_##bits##bit_cpy_##S##2##D(                                     \
      OKK_ADDR_##D dst_addr, OKK_ADDR_##S src_addr, const dim4 *shape,         \
      const dim4 *dst_stride, const dim4 *src_stride) {                        \
    npu().copy(OKK_SIDE_##D(dst_addr, dst_stride, bits / 8),                   \
               OKK_SIDE_##S(src_addr, src_stride, bits / 8), toBox(*shape),    \
               bits / 8, Engine::DMA, #S "2" #D);                              \
  }
#define OKK_TRANSFERS(bits)                                                    \
  OKK_COPY(bits, S, L)                                                         \
  OKK_COPY(bits, L, S)                                                         \
  OKK_COPY(bits, L, L)                                                         \
  OKK_COPY(bits, S, S)                                                         \
  void okk_gdma_##bits##bit_set_C_system(system_addr_t dst_addr, x##bits C,    \
                                         const dim4 *shape,                    \
                                         const dim4 *dst_stride) {             \
    npu().fill(system(dst_addr, shape, dst_stride), &C, toBox(*shape),         \
               bits / 8, Engine::DMA, "set_C");                                \
  }                                                                            \
  void okk_gdma_##bits##bit_set_C_local(local_addr_t dst_addr, x##bits C,      \
                                        const dim4 *shape,                     \
                                        const dim4 *dst_stride) {              \
    /* Without strides, the function has those of 32-bit elements. */          \
    npu().fill(okkLocal(dst_addr, shape, dst_stride, 4), &C, toBox(*shape),    \
               bits / 8, Engine::DMA, "set_C");                                \
  }

OKK_TRANSFERS(32)
OKK_TRANSFERS(16)
OKK_TRANSFERS(8)

void mlir::npu::walkMatrix(
    local_addr_t addr, int rows, int cols, int width,
    const std::function<void(const Operand &, int, const Box &)> &fn) {
  dim4 view{rows, int(ceilDiv(cols, width)), 1, width};
  Operand part = okkLocal(addr, &view, nullptr);
  int64_t bytesPerNpu = okkSimulator().getChip().bytesPerNpu;
  int64_t start = addr / bytesPerNpu, npus = okkSimulator().getChip().npus;
  for (int first = 0; first < cols;) {
    int channel = first / width, whole = (cols - first) / width;
    Box shape{rows, std::max(whole, 1), 1, whole ? width : cols - first};
    int64_t core = (start + channel) % npus, row = (start + channel) / npus;
    part.address = uint64_t(core * bytesPerNpu + addr % bytesPerNpu +
                            4 * row * part.stride[1]);
    fn(part, first, shape);
    first += int(shape[1] * shape[3]);
  }
}

static void copyMatrix(local_addr_t addr, system_addr_t sys, int rows, int cols,
                       int colsPerChannel, int rowStride, bool toLocal) {
  if (rows < 1 || cols < 1 || colsPerChannel < 1 || colsPerChannel > cols)
    return npu().report("a matrix must have rows, columns, and between 1 and "
                        "all columns in a channel");
  // Rows of the matrix are as far apart as if it started at core 0, unlike in
  // the functions of the execution units.
  int64_t channelRows =
      ceilDiv(ceilDiv(cols, colsPerChannel), npu().getChip().npus);
  walkMatrix(addr, rows, cols, colsPerChannel,
             [&](Operand part, int first, const Box &shape) {
               part.stride[0] = channelRows * part.stride[1];
               Operand linear{false,
                              sys + 4ull * first,
                              {rowStride, colsPerChannel, 0, 1}};
               // The rest is not in rows of its own; L2S moves whole channels.
               if (first)
                 npu().continueTransfer(
                     toLocal ? Rows{1, 4 * shape[0] * shape[3]}
                             : Rows{shape[0], 4 * int64_t(colsPerChannel)});
               npu().copy(toLocal ? part : linear, toLocal ? linear : part,
                          shape, 4, Engine::DMA, toLocal ? "S2L" : "L2S");
             });
}

void okk_gdma_32bit_matrix_S2L(local_addr_t dst_addr, system_addr_t src_addr,
                               int rows, int cols, int cols_per_channel,
                               int row_stride) {
  copyMatrix(dst_addr, src_addr, rows, cols, cols_per_channel, row_stride,
             true);
}
void okk_gdma_32bit_matrix_L2S(system_addr_t dst_addr, local_addr_t src_addr,
                               int rows, int cols, int cols_per_channel,
                               int row_stride) {
  copyMatrix(src_addr, dst_addr, rows, cols, cols_per_channel, row_stride,
             false);
}

//===----------------------------------------------------------------------===//
// The chip
//===----------------------------------------------------------------------===//

static std::map<std::string, Kernel> &kernels() {
  static std::map<std::string, Kernel> registered;
  return registered;
}

void mlir::npu::registerKernel(const char *name, Kernel kernel) {
  kernels()[name] = kernel;
}

void okk_register_kernel_func(const char *name, okk_kernel_func_t func) {
  registerKernel(name, func);
}

namespace {
/// True after the kernel has initialized the chip or waited for its end (poll),
/// respectively.
struct RequiredCalls {
  bool initialized = false, polled = false;
};
} // namespace
static RequiredCalls current;

bool okk_sim_run_kernel(const char *name, const void *parameters) {
  auto found = kernels().find(name);
  if (found == kernels().end())
    return false;
  current = RequiredCalls();
  found->second(parameters);
  auto check = [&](bool isGood, const char *why) {
    if (!isGood)
      npu().report(std::string(name) + why);
  };
  check(current.initialized, " does not initialize the chip");
  check(!npu().isParallel(), " leaves a parallel region open");
  check(current.polled, " does not wait for its end (poll)");
  return true;
}

void okk_initialize(void) {
  const Counters &counters = npu().getCounters();
  if (counters.transfers || counters.computes)
    npu().report("commands come before the chip is initialized");
  current.initialized = true;
}

void okk_poll(void) {
  current.polled = true;
  if (npu().isParallel())
    npu().report("the program waits for its end inside a parallel region");
}

void okk_parallel_start(void) { npu().startParallel(); }
void okk_parallel_end(void) { npu().endParallel(); }
bool okk_is_parallel_state(void) { return npu().isParallel(); }
int okk_npu_num(void) { return int(npu().getChip().npus); }
unsigned int okk_eu_num(void) { return unsigned(npu().getChip().euBytes / 4); }
unsigned int okk_local_mem_size_per_npu(void) {
  return unsigned(npu().getChip().bytesPerNpu);
}

static void open(const SimulatedChip &chip) {
  simulator = std::make_unique<Simulator>(chip);
}

void okk_sim_open(int npus, unsigned int bytes_per_npu, int eu_bytes) {
  SimulatedChip chip;
  chip.npus = npus;
  chip.bytesPerNpu = bytes_per_npu;
  chip.euBytes = eu_bytes;
  open(chip);
}

void okk_sim_limit_dma(int alignment, dim4 max_shape, int max_stride) {
  SimulatedChip chip = npu().getChip();
  chip.dmaAlignment = std::max(alignment, 1);
  chip.maxShape = toBox(max_shape);
  chip.maxStride = max_stride;
  open(chip);
}

void okk_sim_limit_compute(int max_stride) {
  SimulatedChip chip = npu().getChip();
  chip.maxComputeStride = std::max(max_stride, 0);
  open(chip);
}

void okk_sim_set_banks(int banks) {
  SimulatedChip chip = npu().getChip();
  chip.banks = std::max(banks, 0);
  open(chip);
}

bool okk_sim_set_clock(const char *param, long long value) {
  std::optional<mlir::layout::ClockParam> found =
      mlir::layout::ChipClock::find(param);
  if (!found || value < 0)
    return false;
  npu().setClock(*found, value);
  return true;
}

void okk_sim_close(void) { simulator.reset(); }

system_addr_t okk_sim_alloc(unsigned long long bytes) {
  return npu().allocSystem(int64_t(bytes));
}
void okk_sim_free(system_addr_t addr) { npu().freeSystem(addr); }
void okk_sim_write(system_addr_t addr, const void *data,
                   unsigned long long bytes) {
  npu().writeSystem(addr, data, int64_t(bytes));
}
void okk_sim_read(system_addr_t addr, void *data, unsigned long long bytes) {
  npu().readSystem(addr, data, int64_t(bytes));
}

int okk_sim_local_byte(int core, unsigned int byte) {
  if (!npu().isWritten(core, byte))
    return -1;
  return int(npu().readLocal(core, byte, 1));
}
long long okk_sim_written_bytes(void) { return npu().countWritten(); }

okk_sim_counters okk_sim_count(void) {
  const Counters &counters = npu().getCounters();
  return {counters.transfers,       counters.computes,
          counters.bytesToLocal,    counters.bytesToSystem,
          counters.bytesInside,     counters.bytesOutside,
          counters.peakBytes,       counters.liveBytes,
          counters.broadcastBytes,  counters.usefulOps,
          counters.issuedOps,       counters.regions,
          counters.overlappedBytes, counters.bankConflicts,
          counters.regionConflicts, counters.cycles,
          counters.dmaCycles,       counters.computeCycles};
}

int okk_sim_num_events(void) { return int(npu().getEvents().size()); }
okk_sim_event okk_sim_get_event(int index) {
  if (index < 0 || index >= okk_sim_num_events())
    return {0, 0, 0, ""};
  const Event &event = npu().getEvents()[index];
  return {event.engine == Engine::Compute, event.begin, event.end,
          event.name.c_str()};
}

int okk_sim_num_errors(void) { return int(npu().getErrors().size()); }
const char *okk_sim_error(int index) {
  bool isThere = index >= 0 && index < okk_sim_num_errors();
  return isThere ? npu().getErrors()[index].c_str() : "";
}

void okk_sim_share_holes(void) { npu().shareHoles(); }
void okk_sim_declare_tensor(local_addr_t addr, unsigned int bytes,
                            unsigned int alignment) {
  npu().declareTensor(addr, bytes, alignment);
}
void okk_sim_declare_elements(local_addr_t addr, int element_bytes,
                              const dim4 *shape, const dim4 *stride) {
  npu().declareElements(okkLocal(addr, shape, stride, element_bytes),
                        toBox(*shape), element_bytes);
}
void okk_sim_number_elements(local_addr_t addr, int element_bytes,
                             const dim4 *shape, const dim4 *stride,
                             long long first_byte, const dim4 *byte_stride) {
  npu().numberElements(okkLocal(addr, shape, stride, element_bytes),
                       toBox(*shape), element_bytes, first_byte,
                       toBox(*byte_stride));
}
void okk_sim_release_tensor(local_addr_t addr) { npu().releaseTensor(addr); }

//===----------------------------------------------------------------------===//
// Expected moves
//===----------------------------------------------------------------------===//

static std::vector<int64_t> toVector(int rank, const long long *values) {
  return std::vector<int64_t>(values, values + rank);
}

void okk_sim_expect(int rank, const long long *sizes, int operands,
                    const okk_sim_side *sides) {
  Relation relation;
  relation.sizes = toVector(rank, sizes);
  for (int i = 0; i < operands; ++i)
    relation.sides.push_back({sides[i].is_local != 0, sides[i].address,
                              sides[i].first,
                              toVector(rank, sides[i].strides)});
  npu().expect(std::move(relation));
}
void okk_sim_expect_end(void) { npu().endExpected(); }

void okk_sim_compute_begin(const char *name, long long points) {
  npu().beginCompute(name, points);
}
void okk_sim_operand(long long bytes, int access) {
  npu().addImage(bytes, unsigned(access));
}
void okk_sim_own(long long inner_bytes, long long count) {
  npu().keepInCore(inner_bytes, count);
}
void okk_sim_box(local_addr_t addr, long long image_byte, int element_bytes,
                 const dim4 *shape, const dim4 *stride,
                 const dim4 *image_stride) {
  npu().addBox(addr, image_byte, element_bytes, toBox(*shape), toBox(*stride),
               toBox(*image_stride));
}
void *const *okk_sim_compute_images(void) { return npu().getImages(); }
void okk_sim_compute_end(void) { npu().endCompute(); }
