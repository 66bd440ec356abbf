//===- Passes.td - Tensors to the memories of an NPU -------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_LAYOUTTONPU_PASSES_TD
#define LAYOUT_TARGETS_NPU_LAYOUTTONPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def UnrollLoopsPass : Pass<"npu-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "Unroll loops with a constant trip count";
  let description = [{
    Replaces an `scf.for` with a constant trip count by copies of its body, so
    that loop-carried tensors get layouts and addresses like all others.

    ```mlir
    // before
    %r = scf.for %i = %c0 to %c6 step %c3 iter_args(%c = %y)
        -> (tensor<1x4xf32>) {
      %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1]
      ..
    // after, canonicalized
    %row = tensor.extract_slice %x[0, 0] [1, 4] [1, 1]
    ..
    %row_0 = tensor.extract_slice %x[3, 0] [1, 4] [1, 1]
    ```

    If this makes the trip counts of other loops constant, these are unrolled,
    too. A loop that unrolls to more than 65,536 ops is an error. The loops that
    are unrolled later may add 65,536 ops in total, and more are an error. Loops
    with a dynamic trip count are not changed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def CheckOnHostPass : Pass<"npu-check-on-host", "::mlir::func::FuncOp"> {
  let summary = "Replace cf.assert about indices by ranges of arguments";
  let description = [{
    Commands of an NPU have addresses that are known at compile time, so an
    index out of range reads a wrong row, but no byte outside of the tensor. A
    `cf.assert` that `layout-cpu-check-indices=fixed-text` inserted about elements
    of an argument becomes an entry of the attribute `npu.ranges` of that
    argument: elements from `least` to `most` are in range. `layout-translate
    --npu-to-package` lists the ranges, and the host checks them before it runs
    the program. If negative indices count from the end, they are in range. Any
    other assertion is erased with a warning.

    ```mlir
    // before
    func.func @main(%ids: tensor<8xi32>, ..) {
      %most = linalg.generic .. ins(%ids : tensor<8xi32>) .. // arith.maxui
      ..
      cf.assert %inside, "index is out of range for dim 0 of size 10"
    // after
    func.func @main(%ids: tensor<8xi32> {npu.ranges = [{
        count = array<i64>, first = array<i64>, least = 0 : i64, most = 9 : i64,
        text = "index is out of range for dim 0 of size 10"} ]}, ..) {
    ```

    If `count` is not empty, only a slice of the argument is checked: `count`
    indices of each dim, starting at `first`.
  }];
}

def SliceDynamicBatchPass : Pass<"npu-slice-dynamic-batch", "::mlir::func::FuncOp"> {
  let summary = "Slice a dynamic batch into programs for one index";
  let description = [{
    If dim 0 of arguments is dynamic, and every op provably computes each of its
    indices independently, the program becomes one for a single index: dim 0 of
    these arguments and of the results gets size 1, and they get the attribute
    `npu.slice`. `layout-translate --npu-to-package` lists it, and the host runs
    the program once per index.

    ```mlir
    // before
    func.func @main(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) -> tensor<?x4xf32>
    // after
    func.func @main(%x: tensor<1x8xf32> {npu.slice}, %w: tensor<8x4xf32>)
        -> (tensor<1x4xf32> {npu.slice})
    ```

    All dynamic arguments must have the same batch and no layout. Loops over the
    batch must be parallel and index nothing else; reshapes, pads, slices and
    concatenations must keep the batch whole. Any other op on the batch, another
    dynamic dim, and a result without the batch are errors.
    A function with callers is not changed.

    Run it after `layout-cpu-check-indices` and `npu-check-on-host`, and before
    `npu-legalize-linalg`, which requires static sizes.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def LegalizeLinalgPass : Pass<"npu-legalize-linalg", "ModuleOp"> {
  let summary = "Legalize linalg and tensor ops for the cores of an NPU";
  let description = [{
    Rewrites a program to ops that the cores can execute. OKKernel is the vendor's
    kernel API of the NPU, whose functions compute on tensors in local memory. Run
    the pass before `npu-tile-and-fuse` and before layouts are assigned. Its steps,
    in this order:

    1. Clean up. Erase assertions in bodies, with a warning. Turn
       `tensor.generate` into `linalg.generic`, and fold reshapes and slices of
       `tensor.empty`.
    2. Scalars. Turn scalars that are known at run time only into tensors of rank
       0, and `tensor.splat`, `tensor.from_elements`, `tensor.insert`, fills and
       pads of them into ops on such tensors.
    3. Unused parts. Split a matmul with a constant, of whose result only slices
       are used, e.g. queries, keys and values, into one matmul per slice. Narrow
       a tensor of which all users read the same slice to that slice.
    4. Math. Expand logarithms, exp(x) - 1, and powers with known exponents, with
       upstream's patterns.
    5. Indices as results. Split a reduction that yields the largest or smallest
       element and its index into one reduction for each. Compute a loop index
       that a body selects, e.g. an argmax, as f32, and convert it to an integer
       for its users.
    6. Reads at computed indices. Turn a `tensor.extract` in the body of a
       `linalg.generic`, at indices computed from `linalg.index` and constants,
       into an operand. An affine index becomes the indexing map of the operand.
       For any other index, the values of all iterations are split into arithmetic
       sequences, and the operand is a concatenation of one slice per sequence.
       Other values of a body that depend on loop indices alone become constants.
    7. Reads of rows that are selected by data. They become operands: a one-hot
       matrix times the table if the table is a finite constant, a selection among
       at most 64 rows of any other tensor, or the one-hot matrix times each
       16-bit half of more rows of 32-bit elements.
    8. Windows. Split an op on 3-D windows, e.g. a convolution of volumes, into
       ops on 2-D windows, one per index of the first window dim. Split a sum,
       maximum or minimum over windows with a stride above 15, the limit of the
       chip, into two with shorter strides. Split grouped convolutions into one
       per group, turn 1-D convolutions into 2-D ones with one row, and add a
       channel dim to convolutions without one. On a chip with TPU-KERNEL, split
       a convolution with a stride above 15 or a dilation above 16 into a sum of
       convolutions with parts of the kernel.
    9. Comparisons. Fuse f32 comparisons into the selects that use them.
    10. Element types. Store `i1` and `index` tensors inside of a function as `i8`
        and `i64`, because elements in local memory have whole bytes. Pass an i64
        argument that is only used as f32, and an i64 result that consists of such
        arguments and selected loop indices, as two 32-bit words per element.
        Rewrite a function on integers to f32 if all values are provably exact as
        f32: i8 arguments, constants, sums of products below 2^24, requantizations
        by constant multipliers, and i32 results.
    11. Functions. Split a body that needs several OKKernel functions into ops
        that need one function each. Rewrite reductions and products to the
        forms that the functions have, e.g. a minimum as a negated maximum.

    Step 11:

    ```mlir
    // before, the body of one linalg.generic
    %s = arith.addf %a, %c : f32
    %m = arith.maximumf %s, %zero : f32
    // after
    %0 = linalg.generic .. ins(%x, %y : ..) outs(%e : ..) // arith.addf
    %1 = linalg.generic .. outs(%0 : ..)                  // arith.maximumf
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "The target attribute, by default the `layout.target` of the module">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TileAndFusePass : Pass<"npu-tile-and-fuse", "ModuleOp"> {
  let summary = "Tile and fuse linalg ops that do not fit local memory";
  let description = [{
    A core has a small local memory. Successive ops whose tensors do not fit it
    together become a group, which is tiled and fused: results are divided into
    parts by batches, rows or channels, and all ops run on the first part before
    any op runs on the second. Slices, insertions and concatenations are tiled
    with the ops around them. If only slices of a result are read, only these are
    computed. A search chooses the groups and the numbers of parts that move the
    fewest bytes to and from the cores. The remark `Group` of the category `npu`
    reports each group, and `Traffic` the planned bytes and a lower bound.

    ```mlir
    // before
    %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x18x18xf32>, ..)
    // after, for cores of 1024 bytes
    %x0 = tensor.extract_slice %x[0, 0, 0, 0] [1, 3, 6, 18] [1, 1, 1, 1]
    %r0 = linalg.conv_2d_nchw_fchw ins(%x0, %w : tensor<1x3x6x18xf32>, ..)
    ..
    %r = tensor.concat dim(2) %r0, ..
    ```

    A linalg op whose tensors do not fit a core of the target's chip
    (`#layout.npu`) in any layouts becomes a sequence of ops on parts. Loops of
    the result other than the channels (batches, rows) are divided first, then
    channels, then reduction loops, into as few parts as fit. Tensors that are
    too large are in system memory, and their parts are loaded. The remark
    `Split` of the category `npu` reports the op and its number of parts. If the
    op does not fit in any parts, the error states by how many bytes.

    An f32 sum of each row of a matrix whose columns are divided evenly among
    the cores, at least 8 to a core, becomes two sums: one over the columns in
    each core, and one over the cores. Only the second one reads elements of
    other cores.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "The target attribute, by default the `layout.target` of the module">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NarrowConstantsPass : Pass<"npu-narrow-constants", "ModuleOp"> {
  let summary = "Store f32 constants with int8 values as i8";
  let description = [{
    An f32 constant whose elements all are int8 values, e.g. weights of a
    quantized network, becomes an `i8` constant, and an op on the cores converts
    it to f32 before its first reader, so that a quarter of the bytes is loaded.

    ```mlir
    // before
    %b = arith.constant dense<..> : tensor<8x8xf32>
    %r = linalg.matmul ins(%n, %b : ..)
    // after
    %b = arith.constant dense<..> : tensor<8x8xi8>
    %w = linalg.generic .. ins(%b : tensor<8x8xi8>) .. // arith.sitofp
    %r = linalg.matmul ins(%n, %w : ..)
    ```

    A constant is narrowed under two conditions. In each layout in which a
    reader may have it in local memory, commands of the cores can convert i8 to
    f32, and a core has space for both. To read and write the three bytes that
    are saved per element costs more than one command (`launch_cost` of the
    target). The remark `Narrow` of the category `npu` counts the constants.

    Run it after `npu-tile-and-fuse`, which counts the bytes of such
    constants as i8.
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
      memref arguments for its results (attribute `npu.result`) and for
      intermediate tensors in system memory (`npu.scratch`); constants are
      globals;
    * `layout.convert` becomes `npu.copy`. Loads are right before the first op
      that needs them, and a tensor is freed after its last use;
    * linalg ops run on tensors in local memory. An operand in system memory is
      broadcast into the cores that need it;
    * pads, slices, insertions and concatenations become transfers from or to a
      slice of a tensor; reshapes become views;
    * an op overwrites its init if the init has no other reader.

    ```mlir
    // before
    %xl = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #columns>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x7xf32, #columns>)
    %m = linalg.matmul ins(%xl, %wl : ..) outs(%f : ..)
    // after
    %xl = npu.alloc : memref<3x5xf32, #columns, #npu.memory<local>>
    npu.copy %x to %xl : ..
    %f = npu.alloc : memref<3x7xf32, #columns, #npu.memory<local>>
    npu.fill 0.0 : f32 to %f on dma
    linalg.matmul ins(%xl, %wl : ..) outs(%f : ..)
    ```

    No tensor and no `layout` op is left. An op that cores cannot execute is an
    error that names the op and a remedy.
  }];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::npu::NPUDialect"
  ];
}

def ComputeMovesPass : Pass<"npu-compute-moves", "::mlir::func::FuncOp"> {
  let summary = "Fill and copy inside of cores by the execution units";
  let description = [{
    The DMA engine moves elements of all cores through one port, whereas each
    core writes `eu_bytes` of its own memory per step. A copy of 32-bit elements
    whose source and destination are in the same cores, e.g. into the middle of
    a padded tensor, and a fill of local memory run on the execution units if
    they take less time there by the clock of the chip.

    ```mlir
    // before
    npu.fill 0.0 : f32 to %p on dma : ..
    npu.copy %x to %inside : ..
    // after
    npu.fill 0.0 : f32 to %p on compute : ..
    linalg.generic .. ins(%x : ..) outs(%inside : ..) // yields its operand
    ```

    Moves in an `npu.parallel` keep their engine. Run it after
    `npu-overlap-transfers` and before `npu-assign-addresses`.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

#endif // LAYOUT_TARGETS_NPU_LAYOUTTONPU_PASSES_TD
