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
  let summary = "Writes loops of known turns out";
  let description = [{
    An `scf.for` whose number of turns is known becomes as many copies of its
    body, so that what it carries from turn to turn gets layouts and places in
    local memory as any tensor. A loop of more than 65,536 ops in all is an
    error. Loops whose turns are known once those around them are written out
    follow, and have 65,536 ops in a function together. Loops whose turns are known
    at run time only stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def CheckOnHostPass : Pass<"layout-check-on-host", "::mlir::func::FuncOp"> {
  let summary = "Turn assertions about indices into ranges of arguments";
  let description = [{
    Commands of an NPU have addresses that are known when a program is compiled,
    so an index out of range reads a wrong row, but nothing outside of a tensor.
    A `cf.assert` that `layout-check-indices=fixed-text` inserted about elements
    of an argument becomes an entry of the attribute `npu.ranges` of that
    argument. The package of the program lists it, and the host checks it before
    it runs the program. Negative indices that are moved by a constant are part
    of the range. An assertion about anything else is dropped with a warning.

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

    If `count` is not empty, the range is that of the part with so many indices
    of each dim from `first` on.
  }];
}

def SliceOpenBatchPass : Pass<"layout-slice-open-batch", "::mlir::func::FuncOp"> {
  let summary = "Makes a program for one index of an open batch";
  let description = [{
    Where dim 0 of plain arguments has no known size, and every op is known to
    compute each of its indices by itself, arguments and results become those of
    one index, with the attribute `npu.slice`: the package of the program runs it
    for each. All open arguments have the same batch. Loops may index it if they
    are parallel and do nothing else; reshapes, pads, slices and concatenations
    may leave it whole. Any other op that the batch reaches, another open size,
    and a result that lacks the batch are errors that name it.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def PrepareForCoresPass : Pass<"layout-prepare-for-cores", "ModuleOp"> {
  let summary = "Writes programs with what cores can hold";
  let description = [{
    Runs before layouts are decided for cores:

    * what the body of an op asserts is not checked, and a warning says so;
    * a product of matrices with a constant, of whose result only parts are used,
      as queries, keys and values, becomes one for each part;
    * of a tensor of which all users take one part, only that is computed;
    * a tensor that the body of a `linalg.generic` reads by `tensor.extract`, at
      indices that are computed from `linalg.index` and constants, becomes an
      operand: with the map of the index where that is sums, differences, and
      products, quotients and remainders by constants, of slices else, as many
      as the index has pieces of equal steps;
    * rows of a finite constant at places that data name become a product of the
      constant with ones and zeros, and up to 64 rows of any other tensor become
      operands, of which the body chooses;
    * numbers that are known at run time only become tensors without dims, and a
      `tensor.splat`, `tensor.from_elements`, `tensor.insert`, fill or pad of them
      ops on such tensors;
    * what else a body computes of its loops alone becomes a constant;
    * an op on windows of three dims, as a convolution of volumes, becomes one on
      windows of two for each index of the first dim of the window;
    * a convolution of groups of several channels becomes one for each group, one
      along a line one of images of one row, and one without channels one of one
      channel;
    * packs and unpacks become pads, reshapes and transpositions, and
      `tensor.generate` a `linalg.generic`;
    * comparisons of f32 go into the ops that select by them, powers of known
      exponents become products, and logarithms upstream's polynomials;
    * tensors of `i1` and `index` inside of a function become tensors of `i8` and
      `i64`, as local memory has whole bytes;
    * an index of a loop that a body chooses, as that of a largest element, is
      carried as f32, and arguments and results of i64 that are used with such
      ones are words of 32 bits;
    * a function of integers that are proven to be exact as f32 computes with
      those: of arguments of i8, constants, sums of products below 2^24,
      requantizations by constant multipliers, and results of i32;
    * bodies become one function of OKKernel's each;
    * reshapes and slices of `tensor.empty` become `tensor.empty`, so that
      nothing is copied that nobody has written.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SplitForCoresPass : Pass<"layout-split-for-cores", "ModuleOp"> {
  let summary = "Splits ops whose tensors do not fit local memory together";
  let description = [{
    Successive ops whose tensors do not fit together are cut together: a part of
    all of them runs before the next part of any. Slices, insertions and
    concatenations are cut with the ops around them; of a result of which others
    take slices only, these are made. Which ops form a group, and
    into how many batches, rows or channels its results are cut, is a search by
    the bytes that move to and from cores; the remark `Group` says what was
    chosen, `Traffic` how many bytes are planned and how many are the least.

    An op of the linalg dialect for whose tensors no layouts fit a core of the
    target's chip (`#layout.npu`) becomes a sequence of ops on parts: of the
    loops that are not spread over the cores first (batches, rows), then of
    channels, then of what is summed over, in as few parts as fit. The tensors
    that were too large are then in system memory, and their parts are loaded as
    they are needed. The remark `Split` of the category `npu` says how often and
    along which loop.

    An op that does not fit in any parts is an error that says by how much.

    A sum of f32 over rows of a matrix whose columns the cores share evenly becomes
    one over the columns of each core, and one over cores, of which just the
    second one needs elements of other cores.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "The target, as in `layout.target`">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NarrowConstantsPass : Pass<"layout-narrow-constants", "ModuleOp"> {
  let summary = "Stores constants of f32 that are signed bytes as these";
  let description = [{
    A constant of f32 of which all elements are signed bytes, as weights of a
    network in integers are, becomes a constant of `i8`, and an op on cores in
    front of its first reader makes f32 of it: a quarter of the bytes is loaded.
    So it is where every reader has the constant in a layout to which one
    command of the cores makes it of bytes that lie alike, and where what is
    loaded less is worth the command at the target's `launch_cost`. The remark
    `Narrow` of the category `npu` counts them.

    It runs after `layout-split-for-cores`, which counts with it.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "The target, as in `layout.target`">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvertLayoutToNPUPass : Pass<"convert-layout-to-npu", "ModuleOp"> {
  let summary = "Turns tensors into memory of an NPU, and layouts into transfers";
  let description = [{
    Every tensor becomes a memref: of local memory where its layout is an
    `#layout.npu_scatter`, of system memory otherwise.

    * arguments, results and constants are in system memory: a function takes
      memrefs for its results (`npu.result`) and for what lies outside in between
      (`npu.scratch`); constants are globals;
    * `layout.convert` becomes `npu.copy`, loads stand right before the first op
      that needs them, and a tensor lives to its last use;
    * linalg ops run on tensors in local memory. An operand in system memory is
      loaded into the cores that need it, by broadcast;
    * pads, slices, insertions and concatenations are transfers from or to a
      part of a tensor; reshapes are views;
    * what is accumulated into is overwritten where nobody else reads it.

    Afterwards no tensor and no `layout` op is left. An op that cores cannot do
    is an error that names it and the way out.
  }];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::npu::NPUDialect"
  ];
}

#endif // LAYOUT_CONVERSION_LAYOUTTONPU_PASSES
