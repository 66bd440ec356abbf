//===- Passes.td - From plain linalg to the LLVM dialect ---*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes of the CPU backend, in the order of the pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_LINALGTOLLVM_PASSES_TD
#define LAYOUT_TARGETS_CPU_LINALGTOLLVM_PASSES_TD

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
    false`, so that a compiled function never changes its inputs. Existing attributes stay. Run it
    while types are still tensors; pipelines run it before the index checks.

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>               // before
        func.func @f(%x: tensor<4xf32> {bufferization.writable = false})  // after
            -> tensor<4xf32> attributes {llvm.emit_c_interface,
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
    Generalizes named elementwise ops, maps and broadcasts, and fuses an elementwise producer into
    its elementwise consumer if the producer has no other user and runs once per iteration of the
    consumer, or only moves values. Work is never duplicated. Transpositions are not fused, because
    they are lowered separately. If the groups of a grouped convolution are a dim of their own, its
    elementwise producers and consumers get this dim, too, so that no reshape is between the ops.

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

def EmitKernelsPass
    : InterfacePass<"layout-cpu-emit-kernels", "FunctionOpInterface"> {
  let summary = "Rewrite linalg ops to register-blocked cpu.kernel ops";
  let description = [{
    Rewrites a structured op to a `cpu.kernel`, whose body has loops on the buffers of the tensors
    around a register tile: a block of results that vector registers hold. A parallel dim that is
    contiguous in the results provides the vector lanes, other parallel dims are blocked, and the
    reductions accumulate in registers. A fill or an elementwise producer of the initial value
    initializes the accumulators, and an elementwise consumer is applied to them before they are
    stored. A cost model (`TileCostModel.h`) chooses the tile sizes. An extent that is not a
    multiple of its tile size ends with smaller tiles. Lanes read contiguous elements as one vector.
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

def TileTransposesPass
    : InterfacePass<"layout-cpu-tile-transposes", "FunctionOpInterface"> {
  let summary = "Tile and vectorize transposing copies";
  let description = [{
    Rewrites a copy between buffers that changes the order of dims to loops over tiles. (The
    subscripts may also be sums of dims.) A tile spans the dim that is fastest in the input and the
    dim that is fastest in the result. It is read as vectors along the former, transposed in
    registers and written as vectors along the latter. Blocks whose lines share L1 sets are copied
    through a temporary buffer, which `layout-cpu-free-buffers` has to free.

        linalg.transpose ins(%x : memref<32x21xf32>) outs(%y : ..) ..  // before
        scf.for %i = %c0 to %c32 step %c16 {                           // after
          scf.for %j = %c0 to %c21 step %c8 {   // the last tile starts at 13
            // vector.load, vector.shuffle and vector.store of vector<8xf32>
  }];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect", "memref::MemRefDialect",
                           "scf::SCFDialect", "vector::VectorDialect"];
  let options = [
    Option<"parallelLoops", "parallel-loops", "bool", /*default=*/"true",
           "Mark loops for layout-cpu-parallelize-loops">
  ];
}

def LowerVectorShapesPass
    : InterfacePass<"layout-cpu-lower-vector-shapes", "FunctionOpInterface"> {
  let summary = "Lower vector transfers and transpositions to 1-D vector ops";
  let description = [{
    Lowers transfers of contiguous rows to loads and stores, and others to accesses of single
    elements. LLVM loads a vector of 14 elements as 8, 4 and 2 of them. If elements have 32 or 64
    bits, a masked load of 16 elements is used instead on targets with vectors of at least 256 bits,
    and a masked store on those with 512 bits, on which it is as fast as one without a mask.

        %v = vector.load %x[%i] : memref<14xf32>, vector<14xf32>       // before
        %w = vector.maskedload %x[%i], %mask, %p : .. into vector<16xf32>  // after
        %v = vector.shuffle %w, %w [0, 1, .., 13] : ..
  }];
  let dependentDialects = ["arith::ArithDialect", "memref::MemRefDialect", "scf::SCFDialect",
                           "ub::UBDialect", "vector::VectorDialect"];
}

def BufferizePass : Pass<"layout-cpu-bufferize", "ModuleOp"> {
  let summary = "Bufferize tensors, and inline the bodies of cpu.kernel ops";
  let description = [{
    Runs upstream's elimination of empty tensors and its one-shot bufferization, with contiguous
    memory at function boundaries. Their errors get a note that says what to write instead. An empty
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

def CopyNoncontiguousCastsPass : Pass<"layout-cpu-copy-noncontiguous-casts"> {
  let summary = "Replace memref.cast ops that lose strides by copies";
  let description = [{
    Bufferization casts a slice of dynamic size that crosses a function boundary to contiguous
    memory if not both types have static strides. The real strides of the slice may differ from
    those of contiguous memory, so such a cast becomes an allocation and a copy. Run it
    directly after `layout-cpu-bufferize`, before a canonicalizer folds the casts.

    The pass also prepares memory without elements for that canonicalizer. If it folds a
    `memref.cast` of `memref<0x2xf32>` to `memref<?x2xf32>` into a `memref.subview` at offset 1, the
    verifier of `memref.subview` rejects the offset. So such a view becomes a
    `memref.reinterpret_cast`, whose verifier does not compare the offset with the sizes of the
    source. No element is accessed at the offset.

        %0 = memref.cast %x : memref<8x?xf32, strided<[?, 1]>> to ..   // before
        %0 = memref.alloc(%size) : memref<8x?xf32>                     // after
        memref.copy %x, %0
  }];
  let dependentDialects = ["memref::MemRefDialect", "arith::ArithDialect"];
}

def LowerMPIPass : Pass<"layout-cpu-lower-mpi", "ModuleOp"> {
  let summary = "Lower mpi ops to calls in the LLVM dialect";
  let description = [{
    Applies upstream's patterns from `mpi` to `llvm`, for which upstream has no pass. An `mpi` op
    without an upstream lowering is an error. Run it after bufferization, before the conversion of
    `memref` to LLVM, which lowers the buffers.
  }];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

def BF16AsBitsPass : Pass<"layout-cpu-bf16-as-bits"> {
  let summary = "Replace bf16 by i16 in the LLVM dialect";
  let description = [{
    Replaces bf16 by i16 in all types, constants, globals and functions, after arithmetic on bf16
    was extended to f32:

        %0 = llvm.load %p : !llvm.ptr -> vector<9xbf16>   // before
        %0 = llvm.load %p : !llvm.ptr -> vector<9xi16>    // after

    LLVM 22 cannot lower some bf16 vectors on processors with AVX512-BF16
    (docs/upstream/llc-bf16-vectors.mlir). Discardable attributes keep their types.
  }];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

def LowerAccessesPass
    : InterfacePass<"layout-cpu-lower-accesses", "FunctionOpInterface"> {
  let summary = "Lower loads and stores to LLVM accesses with shared pointers";
  let description = [{
    Lowers `memref.load`, `memref.store`, `vector.load` and `vector.store` on buffers with static
    strides to the LLVM dialect. For each index, a `llvm.getelementptr` directly after the
    definition of the index advances the pointer. The access adds the sum of all constants. Accesses
    share the pointers of common indices. Dynamic strides, multi-dimensional vectors and elements
    that are not whole bytes are left to upstream's conversions.

        %a = vector.load %x[%i, %c4] : memref<8x16xf32>, vector<4xf32> // before
        %q = llvm.getelementptr %p[%offset] : ..   // after; shared by row %i
        %r = llvm.getelementptr %q[4] : ..
        %a = llvm.load %r {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
  }];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

def LowerStridedCopiesPass
    : InterfacePass<"layout-cpu-lower-strided-copies", "FunctionOpInterface"> {
  let summary = "Lower memref.copy between non-contiguous buffers to loops";
  let description = [{
    Upstream lowers `memref.copy` between dense buffers to memcpy, and others to a runtime function
    that copies element by element. This pass lowers the others to loops. If sizes are dynamic, the
    program tests at run time if both buffers are dense, and then calls memcpy.

        memref.copy %x, %y : .. to memref<4x8xf32, strided<[16, 1]>>   // before
        scf.for %i .. {                                                // after
          scf.for %j .. {
            memref.store %element, %y[%i, %j] : ..
  }];
  let dependentDialects = ["linalg::LinalgDialect", "LLVM::LLVMDialect", "memref::MemRefDialect",
                           "scf::SCFDialect"];
}

def PlanMemoryPass
    : InterfacePass<"layout-cpu-plan-memory", "FunctionOpInterface"> {
  let summary = "Allocate temporary buffers of static size in one arena";
  let description = [{
    Finds the allocations at the top level of a function that provably do not escape it, and the
    range of ops that uses each one. Those of static size get places in one arena, where buffers
    with disjoint ranges share memory. Those of dynamic size are freed after their last use. Other
    allocations are left to `layout-cpu-free-buffers`. With `arena=false`, all are freed after their
    last use, also in inner blocks, so that the peak is that of live buffers.

        %a = memref.alloc() : memref<16xf32>                           // before
        %arena = memref.alloc() {alignment = 64 : i64, ..}             // after
        %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  }];
  let dependentDialects = ["arith::ArithDialect", "memref::MemRefDialect"];
  let options = [
    Option<"arena", "arena", "bool", /*default=*/"true",
           "Use one allocation for all buffers of static size">,
    Option<"alignment", "alignment", "unsigned", /*default=*/"64",
           "Alignment of every buffer in bytes">
  ];
}

def FreeBuffersPass : Pass<"layout-cpu-free-buffers", "ModuleOp"> {
  let summary = "Insert memref.dealloc for every allocated buffer";
  let description = [{
    Runs upstream's ownership-based deallocation and the lowering of its clones. Its errors get a
    note that says what to write instead. A private function that allocates nothing, e.g. of
    `layout-cpu-outline-kernels`, stays unchanged. Run it on structured control flow, after all
    passes that create or merge buffers, such as `layout-cpu-plan-memory`.

        %m = memref.alloc() : memref<4xf32>                            // before
        call @kernel(%m) : (memref<4xf32>) -> ()
        %m = memref.alloc() : memref<4xf32>                            // after
        call @kernel(%m) : (memref<4xf32>) -> ()
        memref.dealloc %m : memref<4xf32>
  }];
  let dependentDialects = ["arith::ArithDialect", "bufferization::BufferizationDialect",
                           "func::FuncDialect", "memref::MemRefDialect", "scf::SCFDialect"];
}

def ParallelizeLoopsPass
    : InterfacePass<"layout-cpu-parallelize-loops", "FunctionOpInterface"> {
  let summary = "Rewrite marked scf.for loops to scf.parallel";
  let description = [{
    An `scf.for` on buffers that `layout-cpu-emit-kernels` or `layout-cpu-tile-transposes` marked
    with `layout.parallel`, and that carries no values, becomes `scf.parallel`. Marked loops that
    are the whole body of another one are merged with it, until there are 32 iterations for each of
    the `cores` of the target; an innermost loop of a few vectors with a dynamic trip count is
    merged only if the outer loops have too few. Each element is computed by one iteration, as in
    the sequential loop, so that results are bit-identical for any number of threads. Remaining
    marks are removed. An `scf.parallel` of the input becomes `scf.for` if it has results, because
    their rounding would depend on the number of threads, or if its body asserts, because a thread
    that fails cannot return to the launcher.

        scf.for %i = %c0 to %c16 step %c1 {                            // before
          scf.for %j = %c0 to %c64 step %c4 { .. } {layout.parallel}
        } {layout.parallel}
        scf.parallel (%i, %j) = (%c0, %c0) to (%c16, %c64) ..          // after
  }];
  let dependentDialects = ["scf::SCFDialect"];
}

def ExpandMathPass : Pass<"layout-cpu-expand-math"> {
  let summary = "Expand math functions on f32 to arithmetic";
  let description = [{
    Expands `math.exp`, `expm1`, `log`, `log1p`, `tanh`, `erf` and `powf` on f32 scalars and vectors
    to polynomials. These are the same for vectors and scalars, so that the bits of a result do not
    depend on where a vector ends. Other functions and other types, also tensors, stay unchanged.

    Run it after vectorization, directly before `math` is lowered to LLVM and to libm. Functions on
    f16 and bf16 are expanded if they were extended to f32 before, as `layout-linalg-to-llvm` does.
    That pipeline runs the pass unless `math=libm`.

        %r = math.exp %x : vector<8xf32>                               // before
        %t = math.fma %x, %log2e, %shift : vector<8xf32>               // after
        ..               // a polynomial of the fraction, times a power of two

    The maximum errors over all f32 values, in units in the last place, are: exp 1.0, expm1 1.5, log
    1.0, log1p 1.0, tanh 1.4, erf 1.2; powf, over 40 million pairs, 0.51. Infinities, NaN, denormal
    numbers and signed zeros give the results of C. If the target has 512-bit vectors, powers of two
    are multiplied by LLVM's ldexp, for which AVX-512 has an instruction, with identical bits. So
    are the results of a `math.exp` with the unit attribute `layout.not_positive`, by which
    `layout-cpu-emit-kernels` marks distances from the maximum of a row, and which needs fewer ops.
  }];
  let dependentDialects = ["arith::ArithDialect", "LLVM::LLVMDialect", "math::MathDialect"];
}

def OutlineKernelsPass : Pass<"layout-cpu-outline-kernels", "ModuleOp"> {
  let summary = "Outline kernels to private func.func ops and merge equal ones";
  let description = [{
    Moves loops and structured ops on buffers, with the ops that compute on their values, to private
    functions. Kernels that are equal except for locations and buffers become calls of one function.
    The order of operations stays. A loop that calls functions, or allocates memory that is used by
    more than its own vector loads and stores, is not moved, but loops in it are.

    With `kernel-ops`, moves the bodies of `cpu.kernel` before bufferization, which then processes
    equal bodies once. `layout-cpu-bufferize` later changes the argument types of these functions.

        scf.for %i = %c0 to %c16 step %c1 { .. %v, %a .. }             // before
        scf.for %i = %c0 to %c16 step %c1 { .. %w, %b .. }
        call @layout_kernel(%v, %a) : ..                               // after
        call @layout_kernel(%w, %b) : ..
  }];
  let dependentDialects = ["func::FuncDialect", "LLVM::LLVMDialect"];
  let options = [
    Option<"kernelOps", "kernel-ops", "bool", /*default=*/"false",
           "Move only the bodies of cpu.kernel">
  ];
}

def MergeSimilarKernelsPass : Pass<"layout-cpu-merge-similar-kernels", "ModuleOp"> {
  let summary = "Merge outlined kernels that differ only in integers";
  let description = [{
    Merges functions of `layout-cpu-outline-kernels`, in the LLVM dialect, that are equal except for
    integers. Each integer that differs becomes an argument: trip counts and strides of loops, and
    offsets of accesses, if at most 16 arguments suffice. Before that, parts of memref descriptors
    that are not read are removed from all functions. The order of operations stays.

        llvm.call @first(%x) : ..         // 56 rows of 928 elements   // before
        llvm.call @second(%x) : ..        // 28 rows of 480 elements
        llvm.call @first(%x, %c928, %c56) : ..                         // after
        llvm.call @first(%x, %c480, %c28) : ..
  }];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

def ProfileKernelsPass : Pass<"layout-cpu-profile-kernels", "ModuleOp"> {
  let summary = "Insert clock reads around kernels";
  let description = [{
    Run it after `layout-cpu-outline-kernels`. Reads a clock before and after each call of an
    outlined kernel, and each loop and copy outside of kernels. For each source location, the global
    `layout_profile` holds the sum of nanoseconds and the number of executed operations on elements.
    The latter is only counted if all loops of the location have constant bounds. The module
    attribute `layout.profile` holds the names of the locations. `layout-run` prints all. Any other
    caller must define `int64_t layout_clock(void)`, which returns nanoseconds.

        call @kernel(%x) : ..                                          // before
        %begin = call @layout_clock() : () -> i64                      // after
        call @kernel(%x) : ..
        %end = call @layout_clock() : () -> i64
  }];
  let dependentDialects = ["arith::ArithDialect", "func::FuncDialect", "LLVM::LLVMDialect"];
}

#endif // LAYOUT_TARGETS_CPU_LINALGTOLLVM_PASSES_TD
