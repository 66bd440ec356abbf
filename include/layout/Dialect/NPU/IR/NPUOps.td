//===- NPUOps.td - Ops on the memory of an NPU -------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NPU_OPS
#define NPU_OPS

include "layout/Dialect/NPU/IR/NPUAttributes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class NPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<NPU_Dialect, mnemonic, traits>;

def NPU_Engine : I32EnumAttr<"Engine", "what executes an op", [
    I32EnumAttrCase<"DMA", 0, "dma">,
    I32EnumAttrCase<"Compute", 1, "compute">]> {
  let cppNamespace = "::mlir::npu";
}

def NPU_AllocOp : NPU_Op<"alloc"> {
  let summary = "a tensor in local memory";
  let description = [{
    Reserves, in every core, the bytes that the layout takes of it, holes
    included.

    ```mlir
    %0 = npu.alloc : memref<2x3x4x5xf32, #scatter, #npu.memory<local>>
    %1 = npu.alloc {address = 1152} : memref<2x3x4x5xf32, #scatter, #npu.memory<local>>
    ```

    * `address`: A = Q * S + R with the start core Q of the layout, so R is the
      byte of every core where the tensor starts. It keeps the rule of the
      layout's mode, and R + what is reserved does not exceed S. Without it the
      place is open, for `npu-assign-addresses`;
    * `alignment`: of R, a power of two, where more is wanted than the layout
      asks for;
    * `bank`: the bank that R is wanted in.

    The layout starts at offset 0 of what is allocated.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$address,
                       OptionalAttr<I64Attr>:$alignment,
                       OptionalAttr<I64Attr>:$bank);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$memref);
  let assemblyFormat = "attr-dict `:` type($memref)";
  let extraClassDeclaration = [{
    /// R, where the address is fixed.
    std::optional<int64_t> getByte();
  }];
  let hasVerifier = 1;
}

def NPU_DeallocOp : NPU_Op<"dealloc"> {
  let summary = "ends the life of a tensor in local memory";
  let description = [{
    Its bytes may be given to another tensor from here on. The operand is the
    result of an `npu.alloc`, not a view of it.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemFree]>:$memref);
  let assemblyFormat = "$memref attr-dict `:` type($memref)";
  let hasVerifier = 1;
}

def NPU_SubViewOp : NPU_Op<"subview", [Pure]> {
  let summary = "a part of a tensor in local memory";
  let description = [{
    Elements `offsets + i * strides` of the source, where they lie: a slice of
    channels from c0 starts at core (Q + c0) mod X and, where it starts in a
    later row, that many channel strides further.

    ```mlir
    %part = npu.subview %t [0, 1, 0, 0] [2, 2, 4, 5] [1, 1, 1, 1]
        : memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
       to memref<2x2x4x5xf32, #layout.npu_scatter<strided [64, 32, 5, 1], start = 3, target = #npu>, #npu.memory<local>>
    ```

    Any layout will do for the result that has all elements of the slice at
    their places in the source; this is proven.
  }];
  let arguments = (ins AnyMemRef:$source, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $source $offsets $sizes $strides attr-dict `:` type($source) `to`
    type($result)
  }];
  let extraClassDeclaration = [{
    /// The type of a slice with the strides of the source. Fails where no
    /// layout of the family says where its elements are; reports why.
    static ::mlir::FailureOr<::mlir::MemRefType> inferType(
        ::mlir::MemRefType source, ::llvm::ArrayRef<int64_t> offsets,
        ::llvm::ArrayRef<int64_t> sizes, ::llvm::ArrayRef<int64_t> strides,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError);
  }];
  let hasVerifier = 1;
}

def NPU_ViewOp : NPU_Op<"view", [Pure]> {
  let summary = "the same bytes of local memory under another type";
  let description = [{
    Moves nothing. Either side may be the one that is written first:

    * P elements that share a storage unit are one element of P times the
      bytes, against the shape (ceil(N / P), C, H, W): 4N-mode int8 as
      `vector<4xi8>` or `i32`, 2N-mode int16 as `vector<2xi16>` or `i32`,
      2IC-mode f32 as `vector<2xf32>` or `i64`;
    * a matrix N x M in channels of w columns is the tensor
      (N, ceil(M / w), 1, w);
    * dims are expanded and collapsed where no element moves;
    * elements of the same bytes, such as f32 and i32, keep shape and layout.

    ```mlir
    %words = npu.view %bytes
        : memref<6x5x4x5xi8, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>, #npu.memory<local>>
       to memref<2x5x4x5xi32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
    ```

    That every element is where the other type has its bytes is proven.
  }];
  let arguments = (ins AnyMemRef:$source);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

def NPU_CopyOp : NPU_Op<"copy"> {
  let summary = "moves a tensor by DMA";
  let description = [{
    Every element of the destination becomes the element of the source with the
    same logical index; where both lie is said by the two types alone. So this
    is the transfer between any two memories, the packing of 4N, 2N and 2IC,
    aligned to compact, and the move to another start core.

    ```mlir
    npu.copy %from to %t : memref<2x3x4x5xf32, #npu.memory<system>>
                        to memref<2x3x4x5xf32, #scatter, #npu.memory<local>>
    npu.copy %t to %u permutation = [1, 0, 2, 3] : ..   // N/C transposition
    npu.copy %t to %u permutation = [0, 3, 2, 1] : ..   // C/W transposition
    npu.copy %bias to %u broadcast : memref<1x1x4x5xf32, ..> to memref<1x3x4x5xf32, ..>
    ```

    * `permutation`: dim d of the destination is dim permutation[d] of the
      source;
    * `broadcast`: dims where the source has size 1 are repeated.

    Padding of the destination keeps what it holds. Source and destination do
    not overlap.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
                       Arg<AnyMemRef, "", [MemWrite]>:$dest,
                       OptionalAttr<DenseI64ArrayAttr>:$permutation,
                       UnitAttr:$broadcast);
  let assemblyFormat = [{
    $source `to` $dest (`permutation` `=` $permutation^)?
    (`broadcast` $broadcast^)? attr-dict `:` type($source) `to` type($dest)
  }];
  let extraClassDeclaration = [{
    /// Where the element of each index of the destination is read: the map of
    /// the source with its dims in the destination's order, repeated ones at
    /// index 0.
    ::mlir::layout::LayoutMap
    getReadMap(const ::mlir::layout::LayoutMap &source);
  }];
  let hasVerifier = 1;
}

def NPU_FillOp : NPU_Op<"fill"> {
  let summary = "writes one value to every element";
  let description = [{
    ```mlir
    npu.fill 0.0 : f32 to %t on compute : memref<2x3x4x5xf32, #scatter, #npu.memory<local>>
    ```

    Padding keeps what it holds. Execution units reach local memory only.
  }];
  let arguments = (ins TypedAttrInterface:$value,
                       Arg<AnyMemRef, "", [MemWrite]>:$dest,
                       NPU_Engine:$engine);
  let assemblyFormat = [{
    $value `to` $dest `on` $engine attr-dict `:` type($dest)
  }];
  let hasVerifier = 1;
}

def NPU_ParallelOp
    : NPU_Op<"parallel", [NoTerminator, SingleBlock, RecursiveMemoryEffects,
                          NoRegionArguments]> {
  let summary = "DMA and compute at the same time";
  let description = [{
    The ops of the DMA engine run in their order, those of the execution units
    in theirs, and the two orders are independent of each other. What one engine
    writes the other neither reads nor writes inside the region.

    ```mlir
    npu.parallel {
      npu.copy %next to %a : ..
      npu.fill 0.0 : f32 to %b on compute : ..
    }
    ```

    The verifier compares allocations; whether two of them share bytes is the
    question of `npu-verify-memory`.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

#endif // NPU_OPS
