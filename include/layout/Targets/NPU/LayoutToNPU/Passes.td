//===- Passes.td - Tensors to the memories of an NPU -------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_CONVERSION_LAYOUTTONPU_PASSES
#define LAYOUT_CONVERSION_LAYOUTTONPU_PASSES

include "mlir/Pass/PassBase.td"

def UnrollLoopsPass : Pass<"layout-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "Unroll loops with a constant trip count";
  let description = [{
    Replaces an `scf.for` with a constant trip count by copies of its body, so
    that loop-carried tensors get layouts and addresses like all others.

    ```mlir
    %r = scf.for %i = %c0 to %c6 step %c3 iter_args(%c = %y)
        -> (tensor<1x4xf32>) {
      %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1]
      ..
    ```

    becomes, after canonicalization,

    ```mlir
    %row = tensor.extract_slice %x[0, 0] [1, 4] [1, 1]
    ..
    %row_0 = tensor.extract_slice %x[3, 0] [1, 4] [1, 1]
    ```

    Loops whose trip count becomes constant by unrolling an outer loop follow. A
    loop that unrolls to more than 65,536 ops is an error; loops that follow
    have 65,536 ops together. Loops with a dynamic trip count are not changed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def CheckOnHostPass : Pass<"layout-check-on-host", "::mlir::func::FuncOp"> {
  let summary = "Turn assertions about indices into ranges of arguments";
  let description = [{
    Commands of an NPU have addresses that are known at compile time, so an
    index out of range reads a wrong row, but no byte outside of the tensor. A
    `cf.assert` that `layout-check-indices=fixed-text` inserted about elements
    of an argument becomes an entry of the attribute `npu.ranges` of that
    argument. The package of the program lists it, and the host checks it before
    it runs the program. If negative indices count from the end, they are part
    of the range. Any other assertion is erased with a warning.

    ```mlir
    func.func @main(%ids: tensor<8xi32>, ..) {
      %most = linalg.generic .. ins(%ids : tensor<8xi32>) .. // arith.maxui
      ..
      cf.assert %inside, "index is out of range for dim 0 of size 10"
    ```

    becomes

    ```mlir
    func.func @main(%ids: tensor<8xi32> {npu.ranges = [{
        count = array<i64>, first = array<i64>, least = 0 : i64, most = 9 : i64,
        text = "index is out of range for dim 0 of size 10"} ]}, ..) {
    ```

    If `count` is not empty, the range is that of the slice of `count` indices
    of each dim from `first` on.
  }];
}

def SliceOpenBatchPass : Pass<"layout-slice-open-batch", "::mlir::func::FuncOp"> {
  let summary = "Slice a dynamic batch into programs for one index";
  let description = [{
    If dim 0 of arguments is dynamic, and every op provably computes each of its
    indices independently, arguments and results become those of one index, with
    the attribute `npu.slice`. The package of the program runs it for each
    index.

    ```mlir
    func.func @main(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) -> tensor<?x4xf32>
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<1x8xf32> {npu.slice}, %w: tensor<8x4xf32>)
        -> (tensor<1x4xf32> {npu.slice})
    ```

    All dynamic arguments have the same batch and no layout. Loops over the
    batch must be parallel and index nothing else; reshapes, pads, slices and
    concatenations must keep the batch whole. Any other op on the batch, another
    dynamic dim, and a result without the batch are errors.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def PrepareForCoresPass : Pass<"layout-prepare-for-cores", "ModuleOp"> {
  let summary = "Legalize linalg and tensor ops for the cores of an NPU";
  let description = [{
    Runs before layouts are assigned for cores:

    * erases assertions in bodies, with a warning;
    * splits a matmul with a constant, of whose result only slices are used,
      e.g. queries, keys and values, into one matmul per slice;
    * narrows a tensor of which all users read the same slice to that slice;
    * turns a `tensor.extract` in the body of a `linalg.generic`, at indices
      computed from `linalg.index` and constants, into an operand. Affine
      indices become its indexing map; for others, the operand is a
      concatenation of as many slices as the index has pieces with constant
      step;
    * turns reads of rows that are selected by data into an operand: a one-hot
      matrix times the table for a finite constant, or a selection among at most
      64 rows of any other tensor;
    * turns scalars that are known at run time only into tensors of rank 0, and
      `tensor.splat`, `tensor.from_elements`, `tensor.insert`, fills and pads of
      them into ops on such tensors;
    * turns other values of a body that depend on loops alone into constants;
    * splits an op on 3-D windows, e.g. a convolution of volumes, into ops on
      2-D windows, one per index of the first window dim;
    * splits grouped convolutions into one per group, turns 1-D convolutions
      into 2-D ones with one row, and adds a channel to those without channels;
    * turns `tensor.generate` into `linalg.generic`;
    * fuses f32 comparisons into their selects, and expands powers with known
      exponents and logarithms with upstream's patterns;
    * stores `i1` and `index` tensors inside of a function as `i8` and `i64`, as
      local memory has whole bytes;
    * computes selected loop indices, e.g. an argmax, as f32, and passes i64
      arguments and results that are used with these as 32-bit words;
    * rewrites a function of integers that are provably exact as f32 to f32: i8
      arguments, constants, sums of products below 2^24, requantizations by
      constant multipliers, and i32 results;
    * splits bodies into one OKKernel function each:

      ```mlir
      %s = arith.addf %a, %c : f32        // one linalg.generic that adds,
      %m = arith.maximumf %s, %zero : f32 // and one for the maximum, in place
      ```

    * folds reshapes and slices of `tensor.empty` into `tensor.empty`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SplitForCoresPass : Pass<"layout-split-for-cores", "ModuleOp"> {
  let summary = "Tile and fuse linalg ops that do not fit local memory";
  let description = [{
    Successive ops whose tensors do not fit local memory together are tiled and
    fused: a part of all of them runs before the next part of any. Slices,
    insertions and concatenations are tiled with the ops around them; a result
    of which others read slices only is computed in these. A search by the bytes
    moved to and from cores chooses the groups of ops, and the number of
    batches, rows or channels into which their results are cut. The remark
    `Group` reports each group, and `Traffic` the planned bytes and a lower
    bound.

    ```mlir
    %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x18x18xf32>, ..)
    ```

    becomes, for cores of 1024 bytes,

    ```mlir
    %x0 = tensor.extract_slice %x[0, 0, 0, 0] [1, 3, 6, 18] [1, 1, 1, 1]
    %r0 = linalg.conv_2d_nchw_fchw ins(%x0, %w : tensor<1x3x6x18xf32>, ..)
    ..
    %r = tensor.concat dim(2) %r0, ..
    ```

    A linalg op whose tensors do not fit a core of the target's chip
    (`#layout.npu`) in any layouts becomes a sequence of ops on parts. Loops of
    the result other than the channels (batches, rows) are cut first, then
    channels, then reduction loops, into as few parts as fit. Tensors that are
    too large are in system memory, and their parts are loaded. The remark
    `Split` of the category `npu` reports the op and its number of parts. An op
    that does not fit in any parts is an error that states by how much.

    An f32 sum over rows of a matrix whose columns the cores share evenly
    becomes a sum over the columns of each core, and one over cores. Only the
    latter reads elements of other cores.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "The target attribute, by default the `layout.target` of the module">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NarrowConstantsPass : Pass<"layout-narrow-constants", "ModuleOp"> {
  let summary = "Store f32 constants with int8 values as i8";
  let description = [{
    An f32 constant whose elements all are int8 values, e.g. weights of a
    quantized network, becomes an `i8` constant, and an op on cores converts it
    before its first reader. This loads a quarter of the bytes.

    ```mlir
    %b = arith.constant dense<..> : tensor<8x8xf32>
    %r = linalg.matmul ins(%n, %b : ..)
    ```

    becomes

    ```mlir
    %b = arith.constant dense<..> : tensor<8x8xi8>
    %w = linalg.generic .. ins(%b : tensor<8x8xi8>) .. // arith.sitofp
    %r = linalg.matmul ins(%n, %w : ..)
    ```

    Every reader must have the constant in a layout to which one command of the
    cores converts i8 data in the same layout, and the saved bytes must exceed
    the cost of the command (the target's `launch_cost`). The remark `Narrow` of
    the category `npu` counts the constants.

    It runs after `layout-split-for-cores`, which anticipates it.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "The target attribute, by default the `layout.target` of the module">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvertLayoutToNPUPass : Pass<"convert-layout-to-npu", "ModuleOp"> {
  let summary = "Convert tensors to NPU memory, and layout.convert to npu.copy";
  let description = [{
    Every tensor becomes a memref: in local memory if its layout is an
    `#layout.npu_scatter`, otherwise in system memory.

    * Arguments, results and constants are in system memory. A function gets
      memrefs for its results (`npu.result`) and for intermediate tensors in
      system memory (`npu.scratch`); constants are globals;
    * `layout.convert` becomes `npu.copy`. Loads are right before the first op
      that needs them, and a tensor is freed after its last use;
    * linalg ops run on tensors in local memory. An operand in system memory is
      broadcast into the cores that need it;
    * pads, slices, insertions and concatenations are transfers from or to a
      part of a tensor; reshapes are views;
    * an op overwrites its init if the init has no other reader.

    ```mlir
    %xl = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #columns>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x7xf32, #columns>)
    %m = linalg.matmul ins(%xl, %wl : ..) outs(%f : ..)
    ```

    becomes

    ```mlir
    %xl = npu.alloc : memref<3x5xf32, #columns, #npu.memory<local>>
    npu.copy %x to %xl : ..
    %f = npu.alloc : memref<3x7xf32, #columns, #npu.memory<local>>
    npu.fill 0.0 : f32 to %f on dma
    linalg.matmul ins(%xl, %wl : ..) outs(%f : ..)
    ```

    No tensor and no `layout` op is left. An op that cores cannot execute is an
    error that names it and a remedy.
  }];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::npu::NPUDialect"
  ];
}

#endif // LAYOUT_CONVERSION_LAYOUTTONPU_PASSES
