//===- Passes.td - From plain linalg to the LLVM dialect ---*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes of the CPU end, in the order of the pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_CONVERSION_LINALGTOLLVM_PASSES
#define LAYOUT_CONVERSION_LINALGTOLLVM_PASSES

include "mlir/Pass/PassBase.td"

def CheckPlainProgramPass
    : Pass<"layout-check-plain-program", "ModuleOp"> {
  let summary = "Refuses what the passes to the LLVM dialect take for granted";
  let description = [{
    An error where a function holds an op that no later pass lowers, a tensor
    with an encoding, a buffer in a memory space, casts that contradict each
    other, or a constant whose resource has another size than its type; and
    where a function is not in the outermost module.
  }];
}

def PrepareEntryPointsPass
    : Pass<"layout-prepare-entry-points", "ModuleOp"> {
  let summary = "Records the tensor signature of public functions";
  let description = [{
    Marks every public function that has a body with `llvm.emit_c_interface`
    and, where all arguments and results are ranked tensors without encoding,
    with `layout.signature`, the function type that a launcher needs after the
    types became pointers. Tensor arguments are marked as not writable, so a
    compiled function never changes its inputs. What is there already stays.
  }];
}

def SeparateResultsPass : Pass<"layout-separate-results"> {
  let summary = "Gives each tensor that a function returns memory of its own";
  let description = [{
    Copies a result of a function that shows the memory of another result, as
    the same value or a view of it does, and one that is a constant:
    bufferization lets a caller write to the results of a call. The same holds
    for what a loop carries to its next turn, without the constants.
  }];
  let dependentDialects = ["bufferization::BufferizationDialect"];
}

def PrepareForCanonicalizerPass : Pass<"layout-prepare-for-canonicalizer"> {
  let summary = "Rewrites what the canonicalizer would make invalid";
  let description = [{
    Rewrites ops that folds of upstream's canonicalizer make invalid: a slice of
    what `linalg.unpack` makes is taken from its source in the dims that have no
    tile, a transposition gets the sizes that a cast behind it tells, and a view
    of no elements becomes a tensor of its own.
  }];
  let dependentDialects = [
    "affine::AffineDialect", "arith::ArithDialect", "linalg::LinalgDialect",
    "tensor::TensorDialect"
  ];
}

def DecomposeAggregatesPass : Pass<"layout-decompose-aggregates"> {
  let summary = "Rewrites ops like softmax to structured ops";
  let description = [{
    Rewrites every op that upstream defines as a sequence of structured ops
    (softmax, the Winograd transforms) to that sequence, as every other op that
    implements `linalg::AggregatedOpInterface`, and `tensor.gather` to one that
    reads the element of each place.
  }];
  let dependentDialects = [
    "affine::AffineDialect", "arith::ArithDialect", "linalg::LinalgDialect",
    "math::MathDialect", "scf::SCFDialect", "tensor::TensorDialect"
  ];
}

def CheckIndicesPass : Pass<"layout-check-indices", "ModuleOp"> {
  let summary = "Assert that indices computed from data are in range";
  let description = [{
    Inserts a `cpu.assert_index` before every `tensor.extract`, `tensor.insert`,
    `tensor.extract_slice`, `tensor.insert_slice` and
    `tensor.parallel_insert_slice` with an index or offset that depends on
    elements of tensors or on scalar arguments of the function, and is not
    proven to be in range. Indices that depend on loops and sizes only are those
    of the program, not of the data, and are not checked. A range is proven by
    the types, by constants, also the elements of constant tensors, and by
    arithmetic such as `arith.minsi` and `arith.maxsi`, also in the op that
    computed the tensor of indices.

    The accesses in a linalg op share one check per index, which is a reduction
    over those loops alone that the index depends on. The op itself stays as it
    is. Other checks are placed outside of the `scf.for` loops that they do not
    depend on.

    ```mlir
    %r = linalg.generic {..} ins(%ids : tensor<8xi32>) outs(%e : tensor<8x4xf32>) {
    ^bb0(%id: i32, %o: f32):
      %i = arith.index_cast %id : i32 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %table[%i, %j] : tensor<10x4xf32>
      linalg.yield %v : f32
    } -> tensor<8x4xf32>
    ```

    becomes

    ```mlir
    %signs = linalg.generic {iterator_types = ["reduction"], ..}
        ins(%ids : tensor<8xi32>) outs(%zero : tensor<i32>) {
    ^bb0(%id: i32, %before: i32):
      %left = arith.subi %c9, %id : i32
      %sign = arith.ori %id, %left : i32
      %or = arith.ori %sign, %before : i32
      linalg.yield %or : i32
    } -> tensor<i32>
    %element = tensor.extract %signs[] : tensor<i32>
    %outside = arith.cmpi slt, %element, %c0 : i32
    scf.if %outside {
      %most = linalg.generic .. ins(%ids : tensor<8xi32>) .. // arith.maxui
      %found = tensor.extract %most[] : tensor<i32>
      %index = arith.extsi %found : i32 to i64
      %holds = arith.cmpi ult, %index, %c10 : i64
      cpu.assert_index %holds, %index, %c10 dim 0
    }
    %r = linalg.generic {..} ..
    ```

    The first reduction is cheap, and the second one finds the index for the
    error. If the size is dynamic, the second one is all there is.
    As unsigned integers, negative indices are the largest ones.
  }];
  let dependentDialects = [
    "affine::AffineDialect", "arith::ArithDialect", "cf::ControlFlowDialect",
    "cpu::CpuDialect", "linalg::LinalgDialect", "scf::SCFDialect",
    "tensor::TensorDialect"
  ];
  let options = [
    Option<"fixedText", "fixed-text", "bool", /*default=*/"false",
           "Insert cf.assert, whose text has no index, instead of "
           "cpu.assert_index">
  ];
}

def ExpandSmallFloatsPass : Pass<"layout-expand-small-floats"> {
  let summary = "Rewrite floats of at most 8 bits to f32 and integers";
  let description = [{
    Rewrites `arith.extf` from and `arith.truncf` to a float type of 4, 6 or 8
    bits (f4E2M1FN, f6E3M2FN, f8E4M3FN, f8E5M2, f8E8M0FNU and their like), which
    LLVM does not have, to operations on integers: exact, and rounded to nearest
    with ties to even. A number that is too large becomes an infinity, or NaN if
    the type has none, or the largest number if it has neither. f8E8M0FNU has
    powers of two only: a tie is rounded up, 0 becomes the least one and a
    negative number NaN.
    Other operations of `arith` and `math` on these types are done in f32, and
    every result is rounded.

    `arith.truncf` from f64 to f16 and bf16 becomes two roundings whose result
    is that of one; LLVM calls a function of the compiler's runtime library
    otherwise.
  }];
  let dependentDialects = ["arith::ArithDialect", "linalg::LinalgDialect"];
}

def LowerRelayoutPass : Pass<"layout-lower-relayout"> {
  let summary = "Rewrites pack, unpack, pad and concat to simpler ops";
  let description = [{
    `linalg.pack` becomes pad, expand and transpose, `linalg.unpack` transpose,
    collapse and slice; `tensor.pad` with one padding value becomes a fill, of
    the sides only where they are little of the result, and a copy into its
    interior, or what computes the elements that only it needs does so there;
    `tensor.concat` becomes slice insertions. Nothing is left that
    has no destination, so bufferization copies nothing. Slices keep no steps
    along dims of which they have one index. `tensor.expand_shape` with several
    dynamic sizes in a group becomes `tensor.reshape`.
  }];
  let dependentDialects = [
    "linalg::LinalgDialect", "tensor::TensorDialect", "arith::ArithDialect",
    "scf::SCFDialect", "affine::AffineDialect"
  ];
  let options = [
    Option<"padInPlace", "pad-in-place", "bool", /*default=*/"true",
           "Compute what only a padding needs in the padded tensor, which takes "
           "the memory of that earlier">
  ];
}

def FuseElementwisePass : Pass<"layout-fuse-elementwise"> {
  let summary = "Merges chains of elementwise ops";
  let description = [{
    Turns named elementwise ops, maps, reductions and broadcasts into generics
    and fuses an elementwise producer into its elementwise consumer when the
    producer has no other user and either runs once per iteration of the
    consumer or only moves values. Work is never duplicated. Transpositions stay
    on their own: they have a lowering that a fused generic would lose. What
    starts or ends a convolution in groups takes its groups as dims, so that no
    reshape is between them.
  }];
  let dependentDialects = ["linalg::LinalgDialect", "tensor::TensorDialect"];
}

def FlattenReductionsPass : Pass<"layout-flatten-reductions"> {
  let summary = "Makes reductions go through memory in one loop";
  let description = [{
    Where no dim of a result is contiguous in what a reduction reads, the lanes
    of vectors are those of the reduction itself. For this the pass drops dims
    of extent one and merges neighboring reductions that go through memory as
    one: global pooling of 7x7 images reads runs of 49 elements, and a
    convolution of one point is a product of a matrix and a vector. Elementwise
    ops that follow are left to `layout-fuse-elementwise`.
  }];
  let dependentDialects = ["linalg::LinalgDialect", "tensor::TensorDialect"];
}

def EmitKernelsPass
    : InterfacePass<"layout-emit-kernels", "FunctionOpInterface"> {
  let summary = "Rewrites linalg ops on tensors to register-blocked loops";
  let description = [{
    Rewrites a structured op to a `cpu.kernel`, loops on the buffers of its
    tensors around a register tile: a parallel dim that is contiguous in the
    results gives the vector lanes, other parallel dims are blocked, and the
    reductions accumulate in registers. A fill or an elementwise producer of the
    initial value starts the accumulators, an elementwise consumer finishes them
    before they are stored. The tile is the cheapest one of a small machine model
    (see `TilePrice.h`); extents that the tile does not divide get smaller tiles.

    Lanes read contiguous elements as one vector. Elements that are two to four
    apart in a row, as in poolings with a stride, are collected from as many
    loads by shuffles. What a body reads by `tensor.extract` is one vector if the
    last index is the lane's and the others are fixed, otherwise one load for
    each lane.

    A chain of row reductions and elementwise ops whose tensors do not fit the
    second cache, such as softmax, is computed in blocks of rows:

    ```mlir
    %m = linalg.generic  // maximum of each row of %x
    %r = linalg.generic  // %x - %m
    ```
    becomes
    ```mlir
    %r = scf.for %i = %c0 to %c512 step %c8 iter_args(%all = %e) {
      %rows = tensor.extract_slice %x[%i, 0] [8, 512] [1, 1]
      %m = cpu.kernel ins(%rows)
      %d = cpu.kernel ins(%rows, %m)
      %next = tensor.insert_slice %d into %all[%i, 0] [8, 512] [1, 1]
      scf.yield %next
    } {layout.parallel}
    ```

    A convolution of f32 with constant windows of 3x3 that go on by one, whose
    channels are contiguous, is computed by Winograd's transforms of tiles of 2x2
    results (`Winograd.h`) where the same model prices them lower: 16
    multiplications for 36. Its results differ in rounding.

    Ops that do not fit (a result indexed by something else than its parallel
    dims, mixed semantics) are left for the loop lowering.
  }];
  let dependentDialects = [
    "affine::AffineDialect", "arith::ArithDialect", "cpu::CpuDialect",
    "linalg::LinalgDialect", "memref::MemRefDialect", "scf::SCFDialect",
    "tensor::TensorDialect", "vector::VectorDialect"
  ];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned",
           /*default=*/"CpuFigures().vectorBits",
           "Bits of one vector register; 0 emits scalar code">,
    Option<"vectorRegisters", "vector-registers", "unsigned",
           /*default=*/"CpuFigures().vectorRegisters",
           "Number of vector registers">,
    Option<"lineBytes", "line-bytes", "int64_t",
           /*default=*/"CpuFigures().lineBytes",
           "What memory moves at once">,
    Option<"firstCacheBytes", "first-cache-bytes", "int64_t",
           /*default=*/"CpuFigures().firstCacheBytes",
           "Size of the first cache of a core">,
    Option<"secondCacheBytes", "second-cache-bytes", "int64_t",
           /*default=*/"CpuFigures().secondCacheBytes",
           "Size of the second cache of a core">,
    Option<"setPeriodBytes", "set-period-bytes", "int64_t",
           /*default=*/"CpuFigures().setPeriodBytes",
           "Lines of the first cache that are so far apart share a set">,
    Option<"contractFMA", "contract-fma", "bool", /*default=*/"true",
           "Lets a float multiplication and the addition of its result become "
           "one fused operation">,
    Option<"winograd", "winograd", "bool", /*default=*/"true",
           "Lets convolutions of 3x3 be computed with fewer multiplications; "
           "needs contract-fma">,
    Option<"parallelLoops", "parallel-loops", "bool", /*default=*/"true",
           "Marks the loops that layout-parallelize-loops gives to the threads">
  ];
}

def TileTransposesPass
    : InterfacePass<"layout-tile-transposes", "FunctionOpInterface"> {
  let summary = "Rewrites copies between orders to tiles in registers";
  let description = [{
    Runs on buffers. A copy whose positions are dims or sums of them, in another
    order in its input than in its result, is rewritten to loops over tiles of
    the two dims that are fastest in the input and in the result. A tile is read
    as vectors along the input, transposed in registers and written as vectors
    along the result. `layout-emit-kernels` leaves these copies alone. Blocks
    whose lines share sets of the first cache go by way of a stage in it, which
    is allocated: `layout-free-buffers` has to follow.
  }];
  let dependentDialects = [
    "affine::AffineDialect", "arith::ArithDialect", "memref::MemRefDialect",
    "scf::SCFDialect", "vector::VectorDialect"
  ];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned",
           /*default=*/"CpuFigures().vectorBits",
           "Bits of one vector register; less than 128, or no power of two, "
           "leaves transpositions alone">,
    Option<"vectorRegisters", "vector-registers", "unsigned",
           /*default=*/"CpuFigures().vectorRegisters",
           "Number of vector registers">,
    Option<"permutedBytes", "permuted-bytes", "int64_t",
           /*default=*/"CpuFigures().permutedBytes",
           "The smallest elements, in bytes, of which one shuffle takes any "
           "from two registers; 0 where there is no such shuffle">,
    Option<"lineBytes", "line-bytes", "int64_t",
           /*default=*/"CpuFigures().lineBytes",
           "What memory moves at once">,
    Option<"firstCacheBytes", "first-cache-bytes", "int64_t",
           /*default=*/"CpuFigures().firstCacheBytes",
           "Size of the first cache of a core">,
    Option<"secondCacheBytes", "second-cache-bytes", "int64_t",
           /*default=*/"CpuFigures().secondCacheBytes",
           "Size of the second cache of a core">,
    Option<"lastCacheBytes", "last-cache-bytes", "int64_t",
           /*default=*/"CpuFigures().lastCacheBytes",
           "Size of the cache behind which is memory">,
    Option<"setPeriodBytes", "set-period-bytes", "int64_t",
           /*default=*/"CpuFigures().setPeriodBytes",
           "Lines of the first cache that are so far apart share a set">,
    Option<"parallelLoops", "parallel-loops", "bool", /*default=*/"true",
           "Marks the loops that layout-parallelize-loops gives to the threads">
  ];
}

def LowerVectorShapesPass
    : InterfacePass<"layout-lower-vector-shapes", "FunctionOpInterface"> {
  let summary = "Lowers transfers and transpositions to 1-D vector ops";
  let description = [{
    Transfers of contiguous rows become loads and stores, all others go element
    by element. LLVM loads a vector of 14 elements as 8, 4 and 2 of them, which
    it then puts together; `masked-loads` makes one load of 16 with a mask of
    it, and `masked-stores` one store, for processors where that takes as long
    as one without a mask.
  }];
  let options = [
    Option<"maskedLoads", "masked-loads", "bool", /*default=*/"false",
           "Load vectors of 32 and 64-bit elements whose number is no power of "
           "two as wider ones with a mask">,
    Option<"maskedStores", "masked-stores", "bool", /*default=*/"false",
           "Store such vectors as wider ones with a mask">
  ];
  let dependentDialects = [
    "arith::ArithDialect", "memref::MemRefDialect", "scf::SCFDialect",
    "ub::UBDialect", "vector::VectorDialect"
  ];
}

def BufferizePass : Pass<"layout-bufferize", "ModuleOp"> {
  let summary = "Puts tensors into buffers";
  let description = [{
    Upstream's elimination of empty tensors and its one-shot bufferization, with
    contiguous memory at the boundaries of functions. Their errors get a note
    that says what to write instead. An empty tensor that several ops write is
    one for each of them, whose memory is taken where it is written.

    A vector that is written at the beginning of a tensor with more dims gets an
    index that is not a constant: upstream takes it for a write of all of the
    tensor, and would not copy what the tensor had before.

    A function that `layout-outline-kernels` made of bodies of `cpu.kernel` gets
    the types of the buffers that it is given, a function for each of them.
  }];
  let dependentDialects = [
    "arith::ArithDialect", "bufferization::BufferizationDialect",
    "memref::MemRefDialect"
  ];
}

def CopyStridedCastsPass : Pass<"layout-copy-strided-casts"> {
  let summary = "Makes casts of slices to contiguous buffers copies";
  let description = [{
    Bufferization casts a slice of dynamic size to contiguous memory where it
    leaves or enters a function, as not both types have numbers for strides. The
    slice keeps its strides, which are not those that the other type stands for:
    such a cast becomes an allocation and a copy. A view of memory without
    elements, which a cast hides, gets an offset that no rule holds for.
  }];
  let dependentDialects = ["memref::MemRefDialect", "arith::ArithDialect"];
}

def LowerMPIPass : Pass<"layout-lower-mpi", "ModuleOp"> {
  let summary = "Lowers messages of MPI to calls in the LLVM dialect";
  let description = [{
    Applies upstream's patterns, which have no pass of their own; buffers are
    lowered by the passes behind it. An op of `mpi` that upstream has no lowering
    for is an error.
  }];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

def BF16AsBitsPass : Pass<"layout-bf16-as-bits"> {
  let summary = "Replace bf16 by i16 in the LLVM dialect";
  let description = [{
    Replaces bf16 by i16 in all types, constants, globals and functions, after
    arithmetic on bf16 was extended to f32:

        %0 = llvm.load %p : !llvm.ptr -> vector<9xbf16>   // before
        %0 = llvm.load %p : !llvm.ptr -> vector<9xi16>    // after

    LLVM 22 cannot lower some vectors of bf16 on processors with AVX512-BF16
    (docs/upstream/llc-bf16-vectors.mlir). Discardable attributes keep the types
    that they name.
  }];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

def LowerAccessesPass
    : InterfacePass<"layout-lower-accesses", "FunctionOpInterface"> {
  let summary = "Reads and writes buffers at pointers that accesses share";
  let description = [{
    Rewrites `memref.load`, `memref.store`, `vector.load` and `vector.store` on
    buffers with static strides to the LLVM dialect. An address is the pointer
    to the first element, moved on by each value that it depends on where that
    value is computed, and by a constant at the access; accesses share all that
    is equal. What has dynamic strides, several dims of a vector, or elements
    that are not whole bytes is left to the conversions of upstream.
  }];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

def LowerStridedCopiesPass
    : InterfacePass<"layout-lower-strided-copies", "FunctionOpInterface"> {
  let summary = "Rewrites copies between non-contiguous buffers to loops";
  let description = [{
    `memref.copy` between dense buffers becomes one memcpy later; every other
    one would call a runtime function that copies element by element. Those
    become loops. Where only a running program knows the sizes, it asks the
    strides whether both sides are dense, and one memcpy copies them if so.
  }];
  let dependentDialects = ["linalg::LinalgDialect", "LLVM::LLVMDialect",
                           "memref::MemRefDialect", "scf::SCFDialect"];
}

def PlanMemoryPass
    : InterfacePass<"layout-plan-memory", "FunctionOpInterface"> {
  let summary = "Puts temporary buffers of static size into one allocation";
  let description = [{
    Takes the allocations at the top level of a function that provably never
    leave it, finds the range of ops in which each one is used, and gives those
    of static size places in one arena, where buffers that are alive at
    different times share memory. Those of dynamic size are freed after their
    last use. Other allocations are left to buffer deallocation. Without an arena
    all of them are freed after their last use, in inner blocks too: then no more
    memory is taken than what is alive.
  }];
  let dependentDialects = ["arith::ArithDialect", "memref::MemRefDialect"];
  let options = [
    Option<"arena", "arena", "bool", /*default=*/"true",
           "Put what has a static size into one allocation">,
    Option<"alignment", "alignment", "unsigned", /*default=*/"64",
           "Alignment of every buffer in bytes">
  ];
}

def FreeBuffersPass : Pass<"layout-free-buffers", "ModuleOp"> {
  let summary = "Frees every buffer that the program allocates";
  let description = [{
    Upstream's deallocation by ownership, and the lowering of its clones. Its
    errors get a note that says what to write instead. A private function that
    allocates nothing, as one of `layout-outline-kernels`, stays as it is.
  }];
  let dependentDialects = [
    "arith::ArithDialect", "bufferization::BufferizationDialect",
    "func::FuncDialect", "memref::MemRefDialect", "scf::SCFDialect"
  ];
}

def ParallelizeLoopsPass
    : InterfacePass<"layout-parallelize-loops", "FunctionOpInterface"> {
  let summary = "Rewrites loops that are marked as parallel to scf.parallel";
  let description = [{
    An `scf.for` on buffers that `layout-emit-kernels` or
    `layout-tile-transposes` has marked with `layout.parallel`, and that carries
    no value from one iteration to the next, becomes `scf.parallel`, together
    with the marked loops that are all of its body, until there are 32
    iterations for each of `cores`; an innermost loop of a few vectors and an
    unknown number stays, where those around it are enough. Every element is computed by one iteration, in the
    order of the sequential program: results are the same, bit for bit, with any
    number of threads. Marks that are left are removed. An `scf.parallel` of the
    program that reduces to results becomes `scf.for`, for the same reason, and
    so does one that asserts: threads that fail cannot return to the launcher.
  }];
  let dependentDialects = ["scf::SCFDialect"];
  let options = [
    Option<"cores", "cores", "int64_t", /*default=*/"8",
           "How many threads there will be something to do for">
  ];
}

def ExpandMathPass : Pass<"layout-expand-math"> {
  let summary = "Rewrites functions of math on f32 to arithmetic";
  let description = [{
    `math.exp`, `expm1`, `log`, `log1p`, `tanh`, `erf` and `powf` on f32 and
    vectors of it become polynomials, which are the same for a vector and for a
    single number: the bits of a result do not depend on where a vector ends.
    Those on f16 and bf16 are computed in f32. Other functions and f64 stay
    what they are.

    Over all numbers of f32 the errors are at most, in units in the last place:
    exp 1.0, expm1 1.5, log 1.0, log1p 1.0, tanh 1.4, erf 1.2; for powf, over 40
    million pairs, 0.51. Infinities, NaN, denormal numbers and signed zeros give
    what they give in C.
  }];
  let options = [
    Option<"hasLdexp", "ldexp", "bool", /*default=*/"false",
           "Multiply by a power of two with LLVM's ldexp, which AVX-512 has an "
           "instruction for; the results are the same, bit for bit">
  ];
  let dependentDialects = ["arith::ArithDialect", "LLVM::LLVMDialect",
                           "math::MathDialect"];
}

def OutlineKernelsPass : Pass<"layout-outline-kernels", "ModuleOp"> {
  let summary = "Rewrites equal kernels to calls of one function";
  let description = [{
    Moves loops and structured ops on buffers, with the ops that compute on
    their values, to private functions, and makes all that are equal except for
    their locations and the buffers that they are given calls of one. What is
    done, and in which order, stays the same. Loops that call functions, or
    allocate memory that more than their own loads and stores of vectors use,
    stay where they are; those within them are moved.

    Bodies of `cpu.kernel` can be moved while their operands are tensors, so that
    bufferization and all that follows meet each of them once. Their functions
    are those of `layout-bufferize` then, which knows the strides of what they
    are given.
  }];
  let dependentDialects = ["func::FuncDialect", "LLVM::LLVMDialect"];
  let options = [
    Option<"kernelOps", "kernel-ops", "bool", /*default=*/"false",
           "Moves the bodies of cpu.kernel, and nothing else">
  ];
}

def ShareKernelsPass : Pass<"layout-share-kernels", "ModuleOp"> {
  let summary = "Rewrites kernels that differ in numbers to calls of one";
  let description = [{
    Of the functions that `layout-outline-kernels` has made, in the LLVM dialect,
    those that are equal except for integers become one, which has an argument
    for each integer that differs: trip counts and strides of loops, and the
    distances of accesses from a pointer, where few of these differ. Before that,
    the parts of memref descriptors that nothing reads are removed from all
    functions. What is done, and in which order, stays the same.
  }];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

def ProfileKernelsPass : Pass<"layout-profile-kernels", "ModuleOp"> {
  let summary = "Measures how long each kernel takes when the program runs";
  let description = [{
    Reads a clock before and after each call of a function that
    `layout-outline-kernels` has made, and each loop and copy that is in none of
    these. The nanoseconds are added up in the global `layout_profile`, which
    has an element for each place in the program; the module attribute
    `layout.profile` has the name of each, by its location, and the number of
    operations on elements that one execution does, where loops have constant
    bounds. `layout-run` prints both. Any other caller defines
    `int64_t layout_clock(void)`, which gives nanoseconds.
  }];
  let dependentDialects = ["arith::ArithDialect", "func::FuncDialect",
                           "LLVM::LLVMDialect"];
}

#endif // LAYOUT_CONVERSION_LINALGTOLLVM_PASSES
