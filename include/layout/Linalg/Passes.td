//===- Passes.td - Preparation of linalg programs ----------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes on linalg that precede the decision, in the order of the
// pipelines. `layout-prepare` has those that run for every target.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LINALG_PASSES_TD
#define LAYOUT_LINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckInputPass : Pass<"layout-prepare-check-input"> {
  let summary = "Reject ops that the device pipelines cannot lower";
  let description = [{
    The first pass of `layout-to-opencl` and `layout-to-npu`. Reports an error for an op of an
    unregistered dialect. Inside of functions, also reports one for an op that has effects or users
    and is of a dialect that no pipeline lowers (unless it implements
    `linalg::AggregatedOpInterface`), has a negative static size, or has a tensor whose encoding is
    not a layout. The IR does not change.
  }];
}

def SequenceForallsPass : Pass<"layout-prepare-sequence-foralls"> {
  let summary = "Rewrite scf.forall on tensors as scf.for";
  let description = [{
    For targets that distribute each single op over the whole device. The
    `tensor.parallel_insert_slice` ops of a body become `tensor.insert_slice` into iter_args of the
    loop. Reads of a shared output in the body become reads of its value before the loop.

    ```mlir
    // before
    %r = scf.forall (%i) in (6) shared_outs(%o = %a) -> tensor<6x8xf32> {
      %s = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : ..
      %t = math.exp %s : tensor<1x8xf32>
      scf.forall.in_parallel { tensor.parallel_insert_slice %t into %o[%i, 0] [1, 8] [1, 1] : .. }
    }
    // after
    %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %a) -> (tensor<6x8xf32>) {
      %s = tensor.extract_slice %a[%i, 0] [1, 8] [1, 1] : ..
      %t = math.exp %s : tensor<1x8xf32>
      %n = tensor.insert_slice %t into %p[%i, 0] [1, 8] [1, 1] : ..
      scf.yield %n : tensor<6x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LowerBundlesPass : Pass<"layout-prepare-lower-bundles"> {
  let summary = "Lower conversions of bundles to loops over codes and bytes";
  let description = [{
    Replaces a `layout.convert` from a `#layout.bundle` to a plain tensor by a `linalg.generic` that
    decodes each value, and one to another bundle by loop nests over the bytes of each new stream.
    `layout.assemble` and `layout.streams` go. No bundle is left: other ops on one are errors.

        %0 = layout.assemble %s : tensor<72xi8> to tensor<2x64xf32, #layout.bundle<"gguf.q4_0">>
        %1 = layout.convert %0 : tensor<2x64xf32, #layout.bundle<"gguf.q4_0">> to tensor<2x64xf32>
        // after: rows, blocks, halves of a block, values of a half
        %1 = linalg.generic .. ins(%s, %s, %s : ..) outs(%e : tensor<2x2x2x16xf32>) { .. arith.mulf .. }
        %2 = tensor.collapse_shape %1 [[0], [1, 2, 3]] : tensor<2x2x2x16xf32> into tensor<2x64xf32>

    A contraction that uses each value once, e.g. the product of the weight and a vector, decodes in
    its own loops, and the weight is never in memory.
  }];
  let options = [Option<
      "inBlocks", "in-blocks", "bool", /*default=*/"false",
      "Move the bytes of all streams of a conversion block by block, in an "
      "scf.forall, for a target with caches">];
  let dependentDialects = [
    "affine::AffineDialect", "arith::ArithDialect", "linalg::LinalgDialect",
    "scf::SCFDialect", "tensor::TensorDialect"
  ];
}

def LowerPacksPass : Pass<"layout-prepare-lower-packs"> {
  let summary = "Rewrite linalg.pack and linalg.unpack as pads, reshapes, "
                "transposes and slices";
  let description = [{
    For targets that have no lowering of `linalg.pack` and `linalg.unpack`. Run it before
    `layout-solve`. Ops with dynamic tile sizes stay. With `views=false`, ops that neither pad nor
    slice stay, too: `layout-solve` treats such an op as a view, i.e. its result can be the same
    bytes in another layout, and no element moves.

    ```mlir
    // before
    %p = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0]
        inner_tiles = [4] into %d : tensor<6xf32> -> tensor<2x4xf32>
    // after
    %0 = tensor.pad %x low[0] high[2] { .. } : tensor<6xf32> to tensor<8xf32>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 4]
        : tensor<8xf32> into tensor<2x4xf32>
    %p = linalg.transpose ins(%1 : tensor<2x4xf32>) outs(%d : tensor<2x4xf32>)
        permutation = [0, 1]
    ```
  }];
  let options = [
    Option<"views", "views", "bool", "true",
           "Rewrite ops that neither pad nor slice, too">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def LowerTosaPass : Pass<"layout-prepare-lower-tosa"> {
  let summary = "Lower TOSA to linalg, arith, scf and tensor";
  let description = [{
    Runs the upstream conversions on functions with TOSA ops, so that layouts are chosen for the ops
    that they become. Other functions do not change.

    ```mlir
    %y = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>      // before

    %e = tensor.empty() : tensor<4xf32>                      // after
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = math.absf %in : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def InlineGlobalsPass : Pass<"layout-prepare-inline-globals"> {
  let summary = "Replace reads of immutable globals by arith.constant";
  let description = [{
    Replaces tensors read from an immutable `ml_program.global` with a value, or from a constant
    `memref.global`, by an `arith.constant`, which, unlike a global, can have any layout and is
    packed when it is lowered. Private globals without uses are erased. Mutable globals keep their
    types.

    ```mlir
    %a = ml_program.global_load @shared : tensor<32xf32> // before
    %a = arith.constant dense<2.0> : tensor<32xf32>      // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CropPadsPass : Pass<"layout-prepare-crop-pads"> {
  let summary = "Rewrite negative amounts of tensor.pad as slices";
  let description = [{
    A `tensor.pad` whose `low` or `high` is negative, or is not proven to be at least 0, becomes a
    `tensor.extract_slice` and a `tensor.pad` that only adds elements. A negative amount removes
    elements, as in ONNX and StableHLO:

    ```mlir
    // before
    %p = tensor.pad %x low[-1] high[2] { .. } : tensor<6xf32> to tensor<7xf32>
    // after
    %s = tensor.extract_slice %x[1] [5] [1] : tensor<6xf32> to tensor<5xf32>
    %p = tensor.pad %s low[0] high[2] { .. } : tensor<5xf32> to tensor<7xf32>
    ```

    Dynamic amounts are compared with 0 at run time. If the source has a layout, the slice is
    row-major. Run it before layouts are assigned and before ops are bufferized: the passes after it
    expect amounts of at least 0. It does nothing to a program without negative amounts.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvertElementwisePass : Pass<"layout-prepare-convert-elementwise"> {
  let summary = "Convert elementwise ops on tensors to linalg.generic";
  let description = [{
    Runs upstream's conversion of elementwise ops, e.g. of `arith` and `math`, on ops whose layouts
    are free. An op with layouts in its types, or with constraints as attributes, stays; the
    lowerings convert it, unless `all` does it here.

    ```mlir
    %r = math.exp %x : tensor<4xf32>                          // before
    %r = linalg.generic {..} ins(%x : tensor<4xf32>)          // after
        outs(%x : tensor<4xf32>) { .. math.exp %in : f32 .. }
    ```
  }];
  let options = [
    Option<"all", "all", "bool", "false", "Convert ops with layouts, too">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PrepareForCanonicalizerPass : Pass<"layout-prepare-for-canonicalizer"> {
  let summary = "Rewrite ops that the canonicalizer would make invalid";
  let description = [{
    Run it before the canonicalizer. Avoids upstream folds that create invalid IR: a slice of
    `linalg.unpack` becomes a slice of its source in dims without tiles, a `linalg.transpose` of
    which the result is cast gets the static sizes of the cast, views without elements become
    `tensor.empty`, operands without elements are removed from `tensor.concat`, and slices and
    insertions that drop other dims than the first of size 1 do so by a reshape. Assertions move
    up to what their conditions need, before ops that get static sizes of casts behind them.

        %r = tensor.collapse_shape %x [[0, 1], [2]]                    // before
            : tensor<?x3x0xf32> into tensor<?x0xf32>
        %r = tensor.empty(%size) : tensor<?x0xf32>                     // after
  }];
  let dependentDialects = [
    "affine::AffineDialect", "arith::ArithDialect", "linalg::LinalgDialect",
    "tensor::TensorDialect"
  ];
}

def DecomposeAggregatesPass : Pass<"layout-prepare-decompose-aggregates"> {
  let summary = "Decompose softmax, gather and other aggregates to linalg";
  let description = [{
    Decomposes ops that implement `linalg::AggregatedOpInterface`, e.g. softmax, and Winograd
    transforms. `tensor.gather` becomes a `linalg.generic` that reads one element per iteration.
    `linalg.pack` and `linalg.unpack` stay.

    An op of another dialect with a layout rule of its own is decided as one op, and so is an op
    with layouts in its types or with constraints as attributes. The lowerings decompose these ops,
    unless `all` does it here.

        %r = linalg.softmax dimension(1) ins(%x : ..) outs(%e : ..)    // before
        %m = linalg.generic ..   // maximum of each row                // after
        %y = linalg.generic ..   // exp(%x - %m)
        %s = linalg.generic ..   // sum of each row
        %r = linalg.generic ..   // %y / %s
  }];
  let options = [
    Option<"all", "all", "bool", "false",
           "Decompose ops with layouts or a layout rule of their own, too">
  ];
  let dependentDialects = [
    "affine::AffineDialect", "arith::ArithDialect", "linalg::LinalgDialect",
    "math::MathDialect", "scf::SCFDialect", "tensor::TensorDialect"
  ];
}

def FoldBroadcastsPass : Pass<"layout-prepare-fold-broadcasts"> {
  let summary = "Replace rank-expanding broadcasts by reshapes";
  let description = [{
    Replaces a linalg op that copies a tensor and only adds dims of extent 1 by a
    `tensor.expand_shape`, or by a constant if the source is one. If a contraction reads a tensor
    that was repeated along other dims, it reads the original tensor instead, so the weights of an
    imported matmul stay constants. Copies that only elementwise ops read stay;
    `layout-cpu-fuse-elementwise` fuses them.

    ```mlir
    // before
    %b = linalg.broadcast ins(%w : tensor<?x3xf32>)
        outs(%e : tensor<1x?x1x3x1xf32>) dimensions = [0, 2, 4]
    // after
    %b = tensor.expand_shape %w [[0, 1, 2], [3, 4]] ..
        : tensor<?x3xf32> into tensor<1x?x1x3x1xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def DecomposeTransposedConvPass : Pass<"layout-prepare-decompose-transposed-conv"> {
  let summary = "Decompose transposed convolutions into sub-pixel convolutions";
  let description = [{
    Importers write a transposed convolution as a linalg op on an image with zeros between its
    pixels, inserted by a `tensor.insert_slice` with strides or by a `tensor.pad` between two
    reshapes. For a stride s of one dim, the pass replaces the op by s convolutions of the original
    image. Convolution number k computes the results at the indices k, k + s, ..., with only those
    weights that are not multiplied by inserted zeros. Strided insertions merge the results:

    ```mlir
    // before, stride 2
    %v = tensor.insert_slice %x into %zeros[0, 0, 1] [1, 4, 5] [1, 1, 2]
        : tensor<1x4x5xf32> into tensor<1x4x11xf32>
    %r = linalg.conv_1d_ncw_fcw ins(%v, %w : .., tensor<3x4x2xf32>) outs(%i : ..)
    // after, for the even results, and likewise for the odd ones
    %w1 = tensor.extract_slice %w[0, 0, 1] [3, 4, 1] [1, 1, 2]
    %y0 = linalg.conv_1d_ncw_fcw ins(%x, %w1 : tensor<1x4x5xf32>, ..) outs(%i0 : ..)
    %p0 = tensor.insert_slice %y0 into %empty[0, 0, 0] [1, 3, 5] [1, 1, 2]
    ```

    Sizes must be static; strides, dilations, groups, ranks and borders are arbitrary. Ops that need
    more than 64 convolutions stay. Run it on imported models, before layouts are assigned, because
    each of the convolutions gets layouts of its own. Run `layout-prepare-fold-constant-slices` next:
    it folds the slices of constant weights.

    The products with inserted zeros are not computed. They would be NaN for an infinite weight,
    which now affects only results that use it with a pixel.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def FoldConstantSlicesPass : Pass<"layout-prepare-fold-constant-slices"> {
  let summary = "Fold slices, copies and transposes of constants";
  let description = [{
    Folds `tensor.extract_slice` of constants, and linalg ops that copy elements of a constant at
    affine indices, e.g. the flipped weights of an imported transposed convolution, into constants.
    Folds that would make a constant larger are not done. `linalg.transpose` also stays by default,
    because a suitable layout of the constant can make it free. Set `transposes` for targets on
    which it would move elements.

    ```mlir
    // before
    %w = arith.constant dense_resource<w> : tensor<2x2xi16>
    %r = tensor.extract_slice %w[0, 1] [2, 1] [1, 1]
        : tensor<2x2xi16> to tensor<2xi16>
    // after
    %r = arith.constant dense_resource<w_1> : tensor<2xi16>
    ```
  }];
  let options = [
    Option<"transposes", "transposes", "bool", "false",
           "Fold linalg.transpose of constants, too">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // LAYOUT_LINALG_PASSES_TD
