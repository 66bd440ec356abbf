//===- LinalgToLLVM.h - From plain linalg to the LLVM dialect ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pipeline `layout-linalg-to-llvm`: lowers a module of functions over plain
// tensors (no encodings) to the LLVM dialect.
//
//   layout-opt net.mlir -layout-linalg-to-llvm="cpu=x86-64-v4"
//
// Laws:
//   - public functions keep their name, have a C interface, never write to
//     their inputs, and carry `layout.signature`;
//   - a result is memory that the caller frees, unless it is an input or a
//     constant;
//   - no other memory outlives the call.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_PIPELINES_LINALGTOLLVM_H
#define LAYOUT_TARGETS_CPU_PIPELINES_LINALGTOLLVM_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace mlir::layout {

/// The implementation of math functions such as exp on f32: polynomials on
/// whole vectors, or a call of libm for each element.
enum class MathFunctions { vector, libm };

struct LinalgToLLVMOptions : PassPipelineOptions<LinalgToLLVMOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("The target, such as `#layout.cpu<..>`; by default "
                     "`layout.target` of the module")};
  Option<std::string> cpu{
      *this, "cpu",
      llvm::cl::desc("The processor that code is generated for, e.g. host, "
                     "which has the parameters that the target does not state "
                     "(layout-set-target)"),
      llvm::cl::init("x86-64-v3")};
  Option<bool> contractFMA{
      *this, "contract-fma",
      llvm::cl::desc("Fuse float multiplications with the additions of their "
                     "results"),
      llvm::cl::init(true)};
  Option<bool> winograd{
      *this, "winograd",
      llvm::cl::desc("Compute 3x3 convolutions with fewer multiplications, "
                     "which rounds differently; needs contract-fma"),
      llvm::cl::init(true)};
  Option<MathFunctions> math{
      *this, "math", llvm::cl::desc("Lowering of functions such as exp on f32"),
      llvm::cl::init(MathFunctions::vector),
      llvm::cl::values(
          clEnumValN(MathFunctions::vector, "vector",
                     "polynomials on whole vectors (layout-cpu-expand-math)"),
          clEnumValN(MathFunctions::libm, "libm",
                     "calls of libm, element by element"))};
  Option<bool> checkIndices{
      *this, "check-indices",
      llvm::cl::desc(
          "Abort the program if a data-dependent index is out of "
          "range (layout-cpu-check-indices); without the checks such an "
          "index accesses arbitrary memory"),
      llvm::cl::init(true)};
  Option<bool> emitKernels{
      *this, "emit-kernels",
      llvm::cl::desc("Use register-blocked loops; otherwise every structured "
                     "op becomes plain loops"),
      llvm::cl::init(true)};
  Option<bool> fuse{*this, "fuse",
                    llvm::cl::desc("Merge chains of elementwise ops"),
                    llvm::cl::init(true)};
  Option<bool> planMemory{
      *this, "plan-memory",
      llvm::cl::desc("Let temporaries share memory (layout-cpu-plan-memory)"),
      llvm::cl::init(true)};
  Option<bool> arena{
      *this, "arena",
      llvm::cl::desc("Place temporaries of static size in one allocation; "
                     "otherwise each is freed after its last use"),
      llvm::cl::init(true)};
  Option<bool> outlineKernels{
      *this, "outline-kernels",
      llvm::cl::desc("Compile equal kernels once, as functions"),
      llvm::cl::init(true)};
  Option<bool> parallelLoops{
      *this, "parallel-loops",
      llvm::cl::desc("Distribute long loops over threads with OpenMP; the "
                     "number of threads is chosen when the program runs"),
      llvm::cl::init(true)};
  Option<bool> profile{
      *this, "profile",
      llvm::cl::desc("Measure the time of each kernel when the program runs "
                     "(layout-cpu-profile-kernels)")};

  /// Dialects that are also converted to the LLVM dialect, by the
  /// ConvertToLLVMPatternInterface that each of them must have.
  SmallVector<std::string> furtherDialects;
};

/// Adds all passes of `layout-linalg-to-llvm`: sets the target and the
/// processor, runs `layout-prepare` and, if `options.checkIndices` is set,
/// `layout-cpu-check-indices`, and lowers linalg to the LLVM dialect.
void buildLinalgToLLVMPipeline(OpPassManager &pm,
                               const LinalgToLLVMOptions &options);

/// Adds the passes to the LLVM dialect for a linalg program that
/// `layout-prepare` has rewritten. If `options.checkIndices` is set,
/// `layout-cpu-check-indices` must have run, too. The target and the processor
/// are those that `layout-set-target` has recorded.
void buildPreparedLinalgToLLVMPipeline(OpPassManager &pm,
                                       const LinalgToLLVMOptions &options);

/// Registers the `cpu` dialect, and the external models of upstream dialects
/// that bufferization, deallocation and the conversion to LLVM need.
void registerCPUPipelineModels(DialectRegistry &registry);

/// Registers the pipeline under the name `layout-linalg-to-llvm`.
void registerCPUPipelines();

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_CPU_PIPELINES_LINALGTOLLVM_H
