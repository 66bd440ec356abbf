//===- TensorPasses.td - Passes on tensors -----------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_LINALGTOLLVM_TENSORPASSES_TD
#define LAYOUT_TARGETS_CPU_LINALGTOLLVM_TENSORPASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyLoweringInputPass
    : Pass<"layout-cpu-verify-lowering-input", "ModuleOp"> {
  let summary = "Verify the preconditions of the LLVM lowering";
  let description = [{
    The first pass of `layout-linalg-to-llvm`; `layout-to-cpu` runs it after
    `convert-layout-to-linalg`. Later passes, many of them upstream's, crash or create invalid IR if
    a precondition does not hold. The IR does not change. Each of these in a function is an error at
    its op:

    * an op of a dialect without a lowering to LLVM;
    * a tensor with an encoding, or a buffer in a memory space;
    * a type whose bytes do not fit in 64 bits;
    * an elementwise op on an unranked tensor;
    * a slice or a new tensor with a negative constant size;
    * two successive `tensor.cast` ops from one shape to another one that contradicts it, e.g. from
      `tensor<2xf32>` to `tensor<?xf32>` to `tensor<3xf32>`;
    * a constant whose resource is missing or does not have the bytes of its type;
    * a loop of blocks (`cf.br`), because buffers are only deallocated in structured loops;
    * a function that is not in the outermost module.
  }];
}

def PrepareEntryPointsPass
    : Pass<"layout-cpu-prepare-entry-points", "ModuleOp"> {
  let summary = "Record the tensor signatures of public func.func ops";
  let description = [{
    Marks each public function that has a body with `llvm.emit_c_interface` and, if all arguments
    and results are ranked tensors without encoding, with `layout.signature`, the function type that
    a launcher needs after types become pointers. Tensor arguments get `bufferization.writable =
    false`, so that a compiled function never changes its inputs. If all arguments have it, the
    function gets `layout.read_only_inputs`, and a launcher does not copy the inputs. Existing
    attributes stay. Run it while types are still tensors.

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>               // before
        func.func @f(%x: tensor<4xf32> {bufferization.writable = false})  // after
            -> tensor<4xf32> attributes {llvm.emit_c_interface, layout.read_only_inputs,
            layout.signature = (tensor<4xf32>) -> tensor<4xf32>}
  }];
}

def CopyAliasedResultsPass : Pass<"layout-cpu-copy-aliased-results"> {
  let summary = "Copy results of functions and loops that share memory";
  let description = [{
    Copies a result of a function that is a constant or shares the memory of another result, as
    equal values and views do, because bufferization lets a caller write to the results of a call.
    The values that a loop carries to its next iteration are copied likewise, except constants.

        scf.yield %a, %a : tensor<4xf32>, tensor<4xf32>                // before
        %c = bufferization.alloc_tensor() copy(%a) : tensor<4xf32>     // after
        scf.yield %a, %c : tensor<4xf32>, tensor<4xf32>
  }];
  let dependentDialects = ["bufferization::BufferizationDialect"];
}

def CheckIndicesPass : Pass<"layout-cpu-check-indices", "ModuleOp"> {
  let summary = "Assert that indices computed from data are in range";
  let description = [{
    Inserts a `cpu.assert_index` before every `tensor.extract`, `tensor.insert`,
    `tensor.extract_slice`, `tensor.insert_slice` and `tensor.parallel_insert_slice` with an index
    or offset that depends on elements of tensors or on scalar arguments of the function, and is not
    proven to be in range. Ranges are proven from types, constants, including elements of constant
    tensors, and arithmetic such as `arith.minsi` and `arith.maxsi`, also in the op that computed
    the tensor of indices.

    The accesses in a linalg op have one check per index: a reduction over the loops that the index
    depends on. Other checks are hoisted out of `scf.for` loops that they do not depend on.

    ```mlir
    // before; the body reads %table[%i, %j] : tensor<10x4xf32>, where %i is an element of %ids
    %r = linalg.generic {..} ins(%ids : tensor<8xi32>) outs(%e : tensor<8x4xf32>) {..}
    // after: these ops are inserted before %r
    %signs = linalg.generic .. ins(%ids : ..)   // arith.ori of all %i and 9 - %i
    %outside = arith.cmpi slt, %signs, %c0 : i32
    scf.if %outside {
      %index = linalg.generic .. ins(%ids : ..) // arith.maxui of all %i
      %holds = arith.cmpi ult, %index, %c10 : i64
      cpu.assert_index %holds, %index, %c10 dim 0
    }
    ```

    The first reduction is cheap, the second one finds the index for the error message. If the size
    of the dim is dynamic, only the second one is emitted. Negative indices are out of range, too.
  }];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect", "cf::ControlFlowDialect",
                           "cpu::CpuDialect", "linalg::LinalgDialect", "scf::SCFDialect",
                           "tensor::TensorDialect"];
  let options = [
    Option<"fixedText", "fixed-text", "bool", /*default=*/"false",
           "Insert cf.assert, whose text has no index, instead of cpu.assert_index">
  ];
}

def ExpandSmallFloatsPass : Pass<"layout-cpu-expand-small-floats"> {
  let summary = "Expand floats of at most 8 bits to f32 and integers";
  let description = [{
    Expands `arith.extf` from and `arith.truncf` to a float type of 4, 6 or 8 bits (f4E2M1FN,
    f6E3M2FN, f8E4M3FN, f8E5M2, f8E8M0FNU and similar ones), which LLVM does not have, to integer
    operations: extension is exact, and truncation rounds to nearest, ties to even. A number above
    the range becomes infinity, or NaN if the type has no infinity, or the largest number if it has
    neither. f8E8M0FNU has only powers of two: ties are rounded up, 0 becomes the smallest one, and
    a negative number becomes NaN. Other `arith` and `math` ops on these types are computed in f32,
    and every result is rounded. Run it on tensors, before ops are fused, so that the integer
    operations are fused and vectorized like any others.

    `arith.truncf` from f64 to f16 and bf16 becomes two truncations with the result of one; LLVM
    would call a function of the compiler's runtime library. `arith.extf` from bf16 to f64 becomes
    two extensions, by way of f32.

        %0 = arith.mulf %x, %y : f8E4M3FN                              // before
        %a, %b = ..              // %x and %y, extended to f32         // after
        %p = arith.mulf %a, %b : f32
        %0 = ..                  // %p, rounded to f8E4M3FN
  }];
  let dependentDialects = ["arith::ArithDialect", "linalg::LinalgDialect"];
}

def PadInBlocksPass
    : InterfacePass<"layout-cpu-pad-in-blocks", "FunctionOpInterface"> {
  let summary = "Compute windows over tensor.pad in a loop over blocks of channels";
  let description = [{
    A linalg op with a window, such as a pooling, reads the result of a `tensor.pad`, which is a copy
    of its source. Both are computed in blocks along the outermost dim, so that the padded block is
    in L2 when the window reads it. An elementwise op that alone uses the result is computed with
    them. This applies to images of static shape that do not fit into L2 beside the copy, and whose
    outermost dim of several positions is not padded and is a parallel loop of the op. A source that
    a linalg op computes for the padding alone is not copied, so nothing changes.

        %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {..}             // before
        %r = linalg.generic ins(%p) ..
        scf.for %c = %c0 to %c64 step %c2 {                            // after
          %s = tensor.extract_slice %x[%c, 0, 0] [2, 112, 112] [1, 1, 1]
          %p = tensor.pad %s low[0, 1, 1] high[0, 1, 1] {..}
          %r = linalg.generic ins(%p) ..
  }];
  let dependentDialects = ["affine::AffineDialect", "linalg::LinalgDialect", "scf::SCFDialect",
                           "tensor::TensorDialect"];
  let options = [
    Option<"parallelLoops", "parallel-loops", "bool", /*default=*/"false",
           "Mark loops over blocks that are worth several threads">
  ];
}

def LowerPackPadConcatPass : Pass<"layout-cpu-lower-pack-pad-concat"> {
  let summary = "Lower pack, unpack, pad and concat to simpler ops";
  let description = [{
    `linalg.pack` becomes pad, expand_shape and transpose, `linalg.unpack` becomes transpose,
    collapse_shape and slice, `tensor.concat` becomes insert_slice. A `tensor.pad` with one padding
    value becomes a fill (of the borders only, if they are thin) and a copy of the source into the
    interior. If a linalg op computes the source for this pad alone, the interior becomes the init
    of this op instead. All ops write into destinations, so that bufferization copies nothing. Slice
    dims of size one get step 1. `tensor.expand_shape` with several dynamic sizes in a group becomes
    `tensor.reshape`.

        %r = tensor.pad %x low[0, 1] high[0, 1] {..}                   // before
        %i = tensor.extract_slice %filled[0, 1] [%n, 5] [1, 1]         // after
        %c = linalg.copy ins(%x : ..) outs(%i : ..)
        %r = tensor.insert_slice %c into %filled[0, 1] [%n, 5] [1, 1]
  }];
  let dependentDialects = ["linalg::LinalgDialect", "tensor::TensorDialect", "arith::ArithDialect",
                           "scf::SCFDialect", "affine::AffineDialect"];
  let options = [
    Option<"padInPlace", "pad-in-place", "bool", /*default=*/"true",
           "Compute the operand of a padding in the padded tensor if it has no other use; "
           "allocates that tensor earlier">
  ];
}

def FuseElementwisePass : Pass<"layout-cpu-fuse-elementwise"> {
  let summary = "Fuse elementwise linalg ops";
  let description = [{
    Generalizes named elementwise ops, maps and broadcasts. Fuses an elementwise producer into each
    elementwise consumer if it only moves values, e.g. a broadcast, and otherwise into its only user
    if it runs once per iteration of this user, so that no computation is duplicated. Transpositions
    are not fused, because they are lowered separately. If the groups of a grouped convolution are a
    dim of their own, its elementwise producers and consumers get this dim, too, so that no reshape
    is between the ops.

        %s = linalg.add ins(%x, %y : ..) outs(%e : ..)                 // before
        %r = linalg.exp ins(%s : ..) outs(%e : ..)
        %r = linalg.generic {..} ins(%x, %y : ..) outs(%e : ..)        // after
  }];
  let dependentDialects = ["linalg::LinalgDialect", "tensor::TensorDialect"];
}

def FlattenReductionsPass : Pass<"layout-cpu-flatten-reductions"> {
  let summary = "Drop unit dims of reductions and merge contiguous ones";
  let description = [{
    If no result dim is contiguous in the inputs of a reduction, later passes vectorize along the
    reduction. For these ops, the pass drops unit dims and merges adjacent reduction dims that are
    contiguous in memory. `layout-cpu-fuse-elementwise`, which runs next, fuses elementwise ops.

        linalg.pooling_nchw_sum ins(%x, %w : tensor<1x96x7x7xf32>, ..) // before
            outs(%s : tensor<1x96x1x1xf32>)
        linalg.generic {.. iterator_types = ["parallel", "reduction"]} // after
            ins(%y : tensor<96x49xf32>) outs(%t : tensor<96xf32>)
  }];
  let dependentDialects = ["linalg::LinalgDialect", "tensor::TensorDialect"];
}

def GroupByteProductsPass : Pass<"layout-cpu-group-byte-products"> {
  let summary = "Rewrite sums of byte products to linalg.generic ops on words";
  let description = [{
    Rewrites linalg ops whose body adds the i32 product of two extended i8 elements to their result.
    Four iterations of a reduction become one, on words of four bytes, whose products
    `cpu.dot_bytes` sums. The reduction is the last dim of one input, which is viewed as words. The
    words of the other input are packed at compile time if it is constant. Otherwise they are
    copied, if at least four products use each of its elements. A reduction that is not a multiple of
    four is padded with zeros. If the target has no `dot_product_bytes` and at least eight products
    use each word, the bytes of both inputs are extended to words of two 16-bit halves, twice as many,
    whose products `cpu.dot_halves` sums.

    ```mlir
    %r = linalg.matmul ins(%x, %w : tensor<?x64xi8>, tensor<64x32xi8>) ..        // before
    %a = cpu.view_words %x : tensor<?x64xi8> -> tensor<?x16xi32>                 // after
    %b = arith.constant dense_resource<byte_words> : tensor<16x32xi32>
    %r = linalg.generic .. ins(%a, %b : tensor<?x16xi32>, tensor<16x32xi32>) .. {
    ^bb0(%p: i32, %q: i32, %sum: i32):
      %dot = cpu.dot_bytes %p, %q : i32
      %next = arith.addi %sum, %dot : i32
      linalg.yield %next : i32
    }
    ```

    Reductions of a dynamic size, of one or two elements, or along the last dim of no input stay as
    they are, and so do all if vectors have fewer than 256 bits, as on NEON.
  }];
  let dependentDialects = ["arith::ArithDialect", "cpu::CpuDialect", "linalg::LinalgDialect",
                           "tensor::TensorDialect"];
}

def EmitKernelsPass
    : InterfacePass<"layout-cpu-emit-kernels", "FunctionOpInterface"> {
  let summary = "Rewrite linalg ops to register-blocked cpu.kernel ops";
  let description = [{
    Rewrites a structured op to a `cpu.kernel`, whose body has loops on the buffers of the tensors
    around a register tile: a block of results that vector registers hold. A parallel dim that is
    contiguous in the results provides the vector lanes, other parallel dims are blocked, and the
    reductions accumulate in registers. A fill or an elementwise producer of the initial value
    initializes the accumulators, and an elementwise consumer is applied to them before they are
    stored. A cost model (`TileCostModel.h`) chooses the tile sizes. A static extent that is not a
    multiple of its tile size ends with a smaller tile. A dynamic extent ends with a tile that
    overlaps the previous one, or with single elements if a tile reads the results that it
    overwrites. Lanes read contiguous elements as one vector.
    Elements with a stride of two to four, as in strided poolings, are assembled from two to four
    loads by shuffles. A `tensor.extract` in a body is one vector load if its last index is the loop
    of the lanes and its other indices do not depend on this loop, otherwise one load per lane.

    A chain of row reductions and elementwise ops whose tensors do not fit L2, such as softmax, is
    computed in blocks of rows. A tensor of the chain whose elements the last op replaces one by one
    has the memory of the result:

    ```mlir
    %m = linalg.generic .. // maximum of each row of %x                        // before
    %r = linalg.generic .. // %x - %m
    %r = scf.for %i = %c0 to %c512 step %c8 iter_args(%all = %e) {             // after
      %rows = tensor.extract_slice %x[%i, 0] [8, 512] [1, 1]
      %m = cpu.kernel ins(%rows)
      %d = cpu.kernel ins(%rows, %m)
      %next = tensor.insert_slice %d into %all[%i, 0] [8, 512] [1, 1]
      scf.yield %next
    } {layout.parallel}
    ```

    An f32 convolution with constant 3x3 windows of stride 1 and contiguous channels is computed by
    Winograd's transforms of tiles of 2x2 results (`Winograd.h`) if the cost model prefers it: 16
    multiplications instead of 36. Its results differ in rounding.

    The loops over the taps of a padded window skip those that read only padding, as many taps of a
    dilated convolution do, if the padding is zero and the weights are integers or finite constants
    (`PaddingTaps.h`).

    The vectors of an elementwise op with functions that `layout-cpu-expand-math` expands are as
    long as four registers, so that LLVM interleaves the long chains of their arithmetic.

    Unsupported ops, e.g. with results that are not indexed by exactly their parallel dims, stay
    linalg ops, which later passes lower to loops.
  }];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect", "cpu::CpuDialect",
                           "linalg::LinalgDialect", "memref::MemRefDialect", "scf::SCFDialect",
                           "tensor::TensorDialect", "vector::VectorDialect"];
  let options = [
    Option<"contractFMA", "contract-fma", "bool", /*default=*/"true",
           "Contract float multiplications and additions to fused operations">,
    Option<"winograd", "winograd", "bool", /*default=*/"true",
           "Compute 3x3 convolutions with fewer multiplications by Winograd's transforms; needs "
           "contract-fma">,
    Option<"parallelLoops", "parallel-loops", "bool", /*default=*/"true",
           "Mark loops for layout-cpu-parallelize-loops">
  ];
}

def BufferizePass : Pass<"layout-cpu-bufferize", "ModuleOp"> {
  let summary = "Bufferize tensors, and inline the bodies of cpu.kernel ops";
  let description = [{
    Runs upstream's lowering of vector.mask, its elimination of empty tensors and its one-shot
    bufferization, with contiguous memory at function boundaries. Their errors get a note that says what to write instead. An empty
    tensor that several ops write becomes one buffer per op, allocated before the op.

    `layout-cpu-emit-kernels` puts the loops of a linalg op into a `cpu.kernel`, whose operands are
    tensors and whose body already works on buffers. Bufferization replaces the op by its body, with
    the buffers of the operands for the arguments of the body. Run the pass after
    `layout-cpu-emit-kernels` and before any pass on memrefs.

    A write of a vector to the beginning of a tensor of higher rank gets a non-constant index.
    Otherwise upstream would treat the write as one of all elements, and lose the others. A function
    that `layout-cpu-outline-kernels` created from bodies of `cpu.kernel` gets the buffer types of
    its calls as argument types, and is cloned for each list of types.

        %e = tensor.empty() : tensor<64xf32>             // before; %a is an argument, a tensor
        %0 = linalg.exp ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
        %m = memref.alloc() : memref<64xf32>             // after; %a is an argument, a memref
        linalg.exp ins(%a : memref<64xf32>) outs(%m : memref<64xf32>)
  }];
  let dependentDialects = ["arith::ArithDialect", "bufferization::BufferizationDialect",
                           "memref::MemRefDialect"];
}

#endif // LAYOUT_TARGETS_CPU_LINALGTOLLVM_TENSORPASSES_TD
