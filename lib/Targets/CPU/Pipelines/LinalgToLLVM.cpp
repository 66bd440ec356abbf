//===- LinalgToLLVM.cpp - From plain linalg to the LLVM dialect -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/Pipelines/LinalgToLLVM.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Linalg/Passes.h"
#include "layout/Pipelines/AddCanonicalizer.h"
#include "layout/Pipelines/Prepare.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "layout/Targets/CPU/LinalgToLLVM/StaticSlices.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/OpenMPToLLVM/ConvertOpenMPToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/SCFToOpenMP/SCFToOpenMP.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/MLProgram/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/Transforms/SubsetOpInterfaceImpl.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::layout;

/// Adds the passes on tensors. With `options.emitKernels`, structured ops
/// become kernels, i.e. loops and vectors.
static void buildTensorPart(OpPassManager &pm,
                            const LinalgToLLVMOptions &options) {
  pm.addPass(createPrepareEntryPointsPass());
  pm.addPass(createPrepareForCanonicalizerPass());
  pm.addPass(createExpandSmallFloatsPass());
  if (options.emitKernels)
    pm.addPass(createGroupByteProductsPass());
  if (options.fuse) {
    pm.addPass(createFlattenReductionsPass());
    pm.addPass(createFuseElementwisePass());
  }
  addCanonicalizer(pm);
  pm.addPass(createCSEPass());
  // No CSE until bufferization: it would merge equal destinations, e.g. the
  // filled borders of two padded tensors, which bufferization would then have
  // to copy. Equal results have been merged before.
  pm.addPass(createCopyAliasedResultsPass());
  if (options.emitKernels && options.fuse)
    pm.addNestedPass<func::FuncOp>(
        createPadInBlocksPass({options.parallelLoops}));
  // Without an arena, peak memory is limited: do not allocate padded tensors
  // early.
  pm.addPass(createLowerPackPadConcatPass({/*padInPlace=*/options.arena}));
  if (options.emitKernels) {
    EmitKernelsPassOptions kernels;
    kernels.contractFMA = options.contractFMA;
    kernels.winograd = options.winograd;
    kernels.parallelLoops = options.parallelLoops;
    pm.addNestedPass<func::FuncOp>(createEmitKernelsPass(kernels));
    // Later passes process equal kernels only once.
    if (options.outlineKernels)
      pm.addPass(createOutlineKernelsPass({/*kernelOps=*/true}));
  }
}

/// Adds bufferization and the passes on buffers, including deallocation.
static void buildBufferPart(OpPassManager &pm,
                            const LinalgToLLVMOptions &options) {
  pm.addPass(createBufferizePass());
  pm.addPass(createCopyNoncontiguousCastsPass());
  OpPassManager &buffers = pm.nest<func::FuncOp>();
  // Merge equal views first, so that copies onto themselves fold.
  buffers.addPass(createCSEPass());
  addCanonicalizer(buffers);
  if (options.planMemory) {
    PlanMemoryPassOptions memory;
    memory.arena = options.arena;
    buffers.addPass(createPlanMemoryPass(memory));
  }
  // Tile copies when their padding and result memory are known.
  if (options.emitKernels)
    buffers.addPass(createTileTransposesPass({options.parallelLoops}));
  // Outline the loops and copies that are not in kernels, too.
  if (options.outlineKernels)
    pm.addPass(createOutlineKernelsPass());
  pm.addPass(createFreeBuffersPass());
  if (options.parallelLoops)
    pm.addNestedPass<func::FuncOp>(createParallelizeLoopsPass());
  if (options.profile)
    pm.addPass(createProfileKernelsPass());
}

/// Adds the passes from buffers to the LLVM dialect. Those on functions run on
/// several functions in parallel.
static void buildLLVMPart(OpPassManager &pm,
                          const LinalgToLLVMOptions &options) {
  OpPassManager &loops = pm.nest<func::FuncOp>();
  loops.addPass(createConvertLinalgToLoopsPass());
  loops.addPass(createLowerVectorShapesPass());
  loops.addPass(memref::createExpandStridedMetadataPass());
  loops.addPass(createLowerAffinePass());
  // This pass puts loop bodies into memref.alloca_scope, which must not contain
  // branches; the canonicalizer removes these scopes.
  if (options.parallelLoops)
    pm.addPass(createConvertSCFToOpenMPPass());
  OpPassManager &branches = pm.nest<func::FuncOp>();
  addCanonicalizer(branches);
  branches.addPass(createCSEPass());
  // Runs when strides of views are known: the type of a contiguous view may no
  // longer show that it is contiguous.
  branches.addPass(createLowerStridedCopiesPass());
  // Runs after all passes that create loops and accesses, while loops exist.
  branches.addPass(createLowerAccessesPass());
  branches.addPass(createSCFToControlFlowPass());
  branches.addPass(createExpandByteProductsPass());
  branches.addPass(createLookUpCodesPass());
  // Runs before vector lowering, because libm calls are scalarized by
  // vector.extract and vector.insert.
  pm.addPass(createLowerMathPass({options.math == MathFunctions::vector}));
  pm.addPass(createRemoveTargetPass());
  OpPassManager &vectors = pm.nest<func::FuncOp>();
  vectors.addPass(createConvertVectorToLLVMPass());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  vectors.addPass(arith::createArithExpandOpsPass(expand));
  // Converts all dialects in one walk, without casts in between. A dialect that
  // is not loaded would be an error.
  ConvertToLLVMPassOptions rest;
  rest.filterDialects = {"arith", "cf",     "complex", "func",
                         "index", "memref", "ub"};
  if (options.checkIndices || options.emitKernels)
    rest.filterDialects.push_back("cpu");
  if (options.parallelLoops)
    rest.filterDialects.push_back("omp");
  llvm::append_range(rest.filterDialects, options.furtherDialects);
  rest.allowPatternRollback = false;
  pm.addPass(createConvertToLLVMPass(rest));
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createBF16AsBitsPass());
  if (options.outlineKernels)
    pm.addPass(createMergeSimilarKernelsPass());
}

void layout::buildPreparedLinalgToLLVMPipeline(
    OpPassManager &pm, const LinalgToLLVMOptions &options) {
  buildTensorPart(pm, options);
  buildBufferPart(pm, options);
  buildLLVMPart(pm, options);
}

void layout::buildLinalgToLLVMPipeline(OpPassManager &pm,
                                       const LinalgToLLVMOptions &options) {
  pm.addPass(createVerifyLoweringInputPass());
  pm.addPass(
      createSetTargetPass({options.target, options.cpu, /*lowering=*/true}));
  PrepareOptions prepare;
  prepare.all = true;
  prepare.inBlocks = true;
  buildPreparePipeline(pm, prepare);
  if (options.checkIndices)
    pm.addPass(createCheckIndicesPass());
  buildPreparedLinalgToLLVMPipeline(pm, options);
}

void layout::registerCPUPipelineModels(DialectRegistry &registry) {
  registerStaticSliceModels(registry);
  registry.insert<cpu::CpuDialect>();
  cpu::registerConvertCpuToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertComplexToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  registerConvertOpenMPToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  arith::registerConvertArithToLLVMInterface(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerBufferDeallocationOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  cf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  ml_program::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  vector::registerBufferizableOpInterfaceExternalModels(registry);
  vector::registerSubsetOpInterfaceExternalModels(registry);
}

void layout::registerCPUPipelines() {
  PassPipelineRegistration<LinalgToLLVMOptions>(
      "layout-linalg-to-llvm",
      "Lower linalg on plain tensors to the LLVM dialect for a CPU",
      buildLinalgToLLVMPipeline);
}
