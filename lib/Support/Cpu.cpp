//===- Cpu.cpp - Processors with known parameters -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/Cpu.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Threading.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::layout;

static constexpr int64_t KiB = 1024, MiB = 1024 * KiB;

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

/// Returns the content of a one-line file, or "" if the file cannot be read.
static std::string readLine(const llvm::Twine &path) {
  auto file = llvm::MemoryBuffer::getFileAsStream(path);
  return file ? (*file)->getBuffer().trim().str() : "";
}

/// Returns the number in a one-line file, such as 64 or "32K", where K stands
/// for 1024 and M for 1024 * 1024. Returns 0 if the file has no such number.
static int64_t readNumber(const llvm::Twine &path) {
  std::string line = readLine(path);
  llvm::StringRef text = line;
  int64_t unit = text.consume_back("K")   ? KiB
                 : text.consume_back("M") ? MiB
                                          : 1;
  int64_t number = 0;
  return text.getAsInteger(10, number) || number < 0 ? 0 : number * unit;
}

/// Sets the cache parameters of `params` to those of the first processor in
/// sysfs, which lists the smallest cache first. glibc would sum up the
/// last-level caches of a machine with several.
static void readCaches(CpuModelParams &params) {
  for (unsigned i = 0;; ++i) {
    std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + llvm::utostr(i) + "/";
    int64_t level = readNumber(folder + "level");
    if (level == 0)
      return;
    int64_t bytes = readNumber(folder + "size");
    if (bytes == 0 || readLine(folder + "type") == "Instruction")
      continue;
    // The last cache that is listed, L2 if there is no L3, is the last-level
    // cache.
    params.llcBytes = bytes;
    if (level == 2)
      params.l2Bytes = bytes;
    if (level != 1)
      continue;
    params.l1Bytes = bytes;
    if (int64_t line = readNumber(folder + "coherency_line_size"))
      params.lineBytes = line;
    if (int64_t ways = readNumber(folder + "ways_of_associativity"))
      params.l1SetStride = bytes / ways;
  }
}

//===----------------------------------------------------------------------===//
// Named processors
//===----------------------------------------------------------------------===//

static CpuModelParams getAVX512Params() {
  CpuModelParams params;
  params.vectorBits = 512;
  params.vectorRegisters = 32;
  params.twoSourcePermuteBytes = 2;
  return params;
}

static CpuModelParams getNeonParams(int64_t l1, int64_t l2, int64_t llc,
                                    int64_t ways, int64_t cores) {
  CpuModelParams params;
  params.vectorBits = 128;
  params.vectorRegisters = 32;
  params.l1Bytes = l1;
  params.l2Bytes = l2;
  params.llcBytes = llc;
  params.l1SetStride = l1 / ways;
  params.cores = cores;
  return params;
}

static CpuModelParams getAArch64Params() {
  return getNeonParams(32 * KiB, 512 * KiB, 2 * MiB, 4, 4);
}

static CpuModelParams getNeoverseParams() {
  return getNeonParams(64 * KiB, 1 * MiB, 32 * MiB, 4, 64);
}

/// Returns the parameters of the Apple M1. Only its four fast cores count,
/// which share an L2 of 12 MB, and there is no L3.
static CpuModelParams getAppleParams() {
  CpuModelParams params = getNeonParams(128 * KiB, 3 * MiB, 12 * MiB, 8, 4);
  params.lineBytes = 128;
  return params;
}

/// Returns the parameters of the processor that runs this process. Its cores
/// are the hardware threads that the process may use.
static CpuModelParams getHostParams() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  CpuModelParams params;
  if (features.lookup("avx512f"))
    params = getAVX512Params();
  else if (features.lookup("neon"))
    params = getAArch64Params();
  else if (!features.lookup("avx"))
    params.vectorBits = 128;
  if (features.lookup("avx512vbmi"))
    params.twoSourcePermuteBytes = 1;
  // LLVM's intrinsics for 128 and 256 bits need AVX-512 VL.
  if (features.lookup("avx512vnni") && features.lookup("avx512vl"))
    params.dotProductBytes = 4;
  // Zen 4 executes operations on 512 bits in two halves.
  if (llvm::sys::getHostCPUName() == "znver4")
    params.datapathBits = 256;
  readCaches(params);
  params.cores = llvm::hardware_concurrency().compute_thread_count();
  return params;
}

namespace {
struct NamedCpu {
  llvm::StringLiteral name;
  CpuModelParams (*getParams)();
};
} // namespace

static constexpr NamedCpu kCpus[] = {
    {"x86-64-v3", [] { return CpuModelParams(); }},
    {"x86-64-v4", getAVX512Params},
    {"aarch64", getAArch64Params},
    {"neoverse-n1", getNeoverseParams},
    {"neoverse-v1", getNeoverseParams},
    {"apple-m1", getAppleParams},
    {"host", getHostParams},
};

std::optional<CpuModelParams> layout::findCpuParams(llvm::StringRef name) {
  for (const NamedCpu &cpu : kCpus)
    if (cpu.name == name)
      return cpu.getParams();
  return std::nullopt;
}

std::string layout::listCpuNames() {
  return llvm::join(
      llvm::map_range(kCpus, [](const NamedCpu &cpu) { return cpu.name; }),
      ", ");
}
