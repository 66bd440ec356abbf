//===- BufferPasses.td - Passes on buffers -----------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_LINALGTOLLVM_BUFFERPASSES_TD
#define LAYOUT_TARGETS_CPU_LINALGTOLLVM_BUFFERPASSES_TD

include "mlir/Pass/PassBase.td"

def TileTransposesPass
    : InterfacePass<"layout-cpu-tile-transposes", "FunctionOpInterface"> {
  let summary = "Tile and vectorize transposing copies";
  let description = [{
    Rewrites a copy between buffers that changes the order of dims to loops over tiles. (The
    subscripts may also be sums of dims.) A tile spans the dim that is fastest in the input and the
    dim that is fastest in the result. It is read as vectors along the former, transposed in
    registers and written as vectors along the latter. Blocks whose lines share L1 sets are copied
    through a temporary buffer, which `layout-cpu-free-buffers` has to free.

    A `linalg.fill` directly before the copy that writes the padding after its elements, e.g. in
    blocks of channels, is merged into the copy. A `memref.copy` is rewritten only to merge such a
    fill.

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
    note that says what to write instead. Run it on structured control flow, after all passes that
    create or merge buffers, such as `layout-cpu-plan-memory`.

    Upstream's passes do not visit a function that has only memory of these kinds: that of
    `layout-cpu-plan-memory`, memory that the function returns, and memory for vector loads and
    stores only, as in functions of `layout-cpu-outline-kernels`, which is freed at the end of its
    region.

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

def ExpandByteProductsPass : Pass<"layout-cpu-expand-byte-products"> {
  let summary = "Expand cpu.dot_bytes and cpu.dot_halves to instructions or to pairs of products";
  let description = [{
    If the target has AVX-512 VNNI (`dot_product_bytes = 4` of `#layout.cpu`), a vector of 128,
    256 or 512 bits with unsigned and signed bytes becomes a call of LLVM's intrinsic of the x86 instruction `vpdpbusd`, to which an
    `arith.addi` of the result is added. Other vectors, and scalars, become sums of two 16-bit products
    each, for which LLVM selects `vpmaddwd`, or `vpdpwssd` for the additions, too. So does
    `cpu.dot_halves`, with one product. All are exact modulo 2^32.

        %dot = cpu.dot_bytes %x, %w {lhs_unsigned} : vector<16xi32>    // before
        %sum = arith.addi %total, %dot : vector<16xi32>
        %a = vector.bitcast %x : vector<16xi32> to vector<64xi8>       // after
        %b = vector.bitcast %w : vector<16xi32> to vector<64xi8>
        %sum = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%total, %a, %b)
  }];
  let dependentDialects = ["LLVM::LLVMDialect", "arith::ArithDialect", "vector::VectorDialect"];
}

def LookUpCodesPass : Pass<"layout-cpu-look-up-codes"> {
  let summary = "Replace functions of 4 bits by permutations of a vector of their values";
  let description = [{
    If the target has AVX-512 (`vector_bits = 512` and `two_source_permute_bytes` of 1 to 4 of
    `#layout.cpu`), a `vector<16xf32>` that is computed from an `arith.andi` with a mask of at most 4
    bits, and otherwise from constants, becomes a permutation of its 16 values.

        %b = arith.andi %a, %c15 : vector<16xi32>                      // before
        %c = arith.subi %b, %c8 : vector<16xi32>
        %d = arith.sitofp %c : vector<16xi32> to vector<16xf32>
        %t = arith.constant dense<[-8.0, .., 7.0]> : vector<16xf32>    // after
        %d = llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%t, %a)
  }];
  let dependentDialects = ["LLVM::LLVMDialect", "arith::ArithDialect"];
}

def ExpandMathPass : Pass<"layout-cpu-expand-math"> {
  let summary = "Expand math functions on f32 to arithmetic";
  let description = [{
    Expands `math.exp`, `expm1`, `log`, `log1p`, `tanh`, `erf` and `powf` on f32 scalars and vectors
    to polynomials. These are the same for vectors and scalars, so that the bits of a result do not
    depend on where a vector ends. Other functions and other types, also tensors, stay unchanged.

    Run it after vectorization, directly before `math` is lowered to LLVM and to libm. Functions on
    f16 and bf16 are expanded if they were extended to f32 before, as `layout-cpu-lower-math` does,
    which runs the pass unless the pipeline has `math=libm`.

        %r = math.exp %x : vector<8xf32>                               // before
        %t = math.fma %x, %log2e, %shift : vector<8xf32>               // after
        ..               // a polynomial of the fraction, times a power of two

    The maximum errors over all f32 values, in units in the last place, are: exp 1.0, expm1 1.5, log
    1.0, log1p 1.0, tanh 2.3, erf 1.2; powf, over 40 million pairs, 0.51. Infinities, NaN, denormal
    numbers and signed zeros give the results of C. If the target has 512-bit vectors, powers of two
    are multiplied by LLVM's ldexp, for which AVX-512 has an instruction, with identical bits. So
    are the results of a `math.exp` with the unit attribute `layout.not_positive`, by which
    `layout-cpu-emit-kernels` marks distances from the maximum of a row, and which needs fewer ops.

    Also expands maxima and minima of f32 and f64 to ops for which LLVM emits few instructions, and
    the maximum of the lanes of a vector to a tree:

        %m = arith.maxnumf %x, %acc : vector<8xf32>     // before; %acc is never NaN
        %c = arith.cmpf ogt, %x, %acc : vector<8xf32>   // after
        %m = arith.select %c, %x, %acc : vector<8xi1>, vector<8xf32>
  }];
  let dependentDialects = ["arith::ArithDialect", "LLVM::LLVMDialect", "math::MathDialect"];
}

def LowerMathPass : Pass<"layout-cpu-lower-math", "ModuleOp"> {
  let summary = "Lower math and complex ops to arith, LLVM and calls of libm";
  let description = [{
    Runs these passes on the functions that have ops for them: `convert-complex-to-standard`,
    `arith-emulate-unsupported-floats` for bf16, `math-extend-to-supported-types` for f16 and bf16,
    `layout-cpu-expand-math`, `convert-math-to-funcs`, `convert-math-to-llvm` and
    `convert-math-to-libm`. Expands maxima in all functions.

        %r = math.sqrt %x : vector<8xf32>                              // before
        %s = math.cbrt %y : f32
        %r = llvm.intr.sqrt(%x) : (vector<8xf32>) -> vector<8xf32>     // after
        %s = call @cbrtf(%y) : (f32) -> f32
  }];
  let options = [
    Option<"expands", "expand", "bool", /*default=*/"true",
           "Expand functions on f32, maxima and minima (layout-cpu-expand-math)">
  ];
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

#endif // LAYOUT_TARGETS_CPU_LINALGTOLLVM_BUFFERPASSES_TD
