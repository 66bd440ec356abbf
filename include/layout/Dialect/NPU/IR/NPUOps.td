//===- NPUOps.td - Ops on the memory of an NPU -------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_NPUOPS_TD
#define LAYOUT_DIALECT_NPU_IR_NPUOPS_TD

include "layout/Dialect/NPU/IR/NPUAttributes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class NPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<NPU_Dialect, mnemonic, traits>;

def NPU_Engine : I32EnumAttr<"Engine", "the engine that executes an op", [
    I32EnumAttrCase<"DMA", 0, "dma">,
    I32EnumAttrCase<"Compute", 1, "compute">]> {
  let cppNamespace = "::mlir::npu";
}

def NPU_AllocOp : NPU_Op<"alloc"> {
  let summary = "allocates a tensor in local memory";
  let description = [{
    Reserves, in every core, the bytes that the layout needs, including the unused bytes between
    elements (*holes*).

    ```mlir
    %0 = npu.alloc : memref<2x3x4x5xf32, #scatter, #npu.memory<local>>
    %1 = npu.alloc {address = 1152} : memref<2x3x4x5xf32, #scatter, #npu.memory<local>>
    ```

    * `address`: A = Q * S + R with the start core Q of the layout and the byte
      R of every core at which the tensor starts. R meets the alignment of the
      mode of the layout, and R + the reserved bytes do not exceed S. If it is
      absent, `npu-assign-addresses` sets it;
    * `alignment`: alignment of R in bytes, a power of two, in addition to that
      of the layout;
    * `bank`: the bank that contains byte R.

    The `offset` of the layout must be 0.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$address,
                       OptionalAttr<I64Attr>:$alignment,
                       OptionalAttr<I64Attr>:$bank);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$memref);
  let assemblyFormat = "attr-dict `:` type($memref)";
  let extraClassDeclaration = [{
    /// Returns the byte offset in the memory of every core at which the tensor
    /// starts, or std::nullopt if the op has no address.
    std::optional<int64_t> getByte();
  }];
  let hasVerifier = 1;
}

def NPU_DeallocOp : NPU_Op<"dealloc"> {
  let summary = "frees a tensor in local memory";
  let description = [{
    Another tensor may use the bytes from here on. The operand must be the result of an
    `npu.alloc`, not a view of it.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemFree]>:$memref);
  let assemblyFormat = "$memref attr-dict `:` type($memref)";
  let hasVerifier = 1;
}

def NPU_SubViewOp : NPU_Op<"subview", [Pure]> {
  let summary = "takes a slice of a tensor in local memory";
  let description = [{
    Views the elements `offsets + i * strides` of the source in place. With X cores and a source
    whose channel 0 is in core Q, a slice of channels from c0 on starts in core (Q + c0) mod X, (Q
    + c0) floordiv X channel strides further in the memory of that core.

    ```mlir
    %part = npu.subview %t [0, 1, 0, 0] [2, 2, 4, 5] [1, 1, 1, 1]
        : memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
       to memref<2x2x4x5xf32, #layout.npu_scatter<strided [64, 32, 5, 1], start = 3, target = #npu>, #npu.memory<local>>
    ```

    The result may have any layout that provably places all elements of the slice where they are
    in the source.
  }];
  let arguments = (ins AnyMemRef:$source, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $source $offsets $sizes $strides attr-dict `:` type($source) `to`
    type($result)
  }];
  let extraClassDeclaration = [{
    /// Returns the type of a view of the slice of `source`, with the
    /// #layout.npu_scatter that keeps the positions of all elements. Reports an
    /// error and fails if there is no such layout.
    static ::mlir::FailureOr<::mlir::MemRefType> inferType(
        ::mlir::MemRefType source, ::llvm::ArrayRef<int64_t> offsets,
        ::llvm::ArrayRef<int64_t> sizes, ::llvm::ArrayRef<int64_t> strides,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError);
  }];
  let hasVerifier = 1;
}

def NPU_ViewOp : NPU_Op<"view", [Pure]> {
  let summary = "reinterprets local memory as another type";
  let description = [{
    Moves no data. Either side may be written first. The types may differ as follows:

    * P elements that share a storage unit are one element of P times the bytes
      in the shape (ceil(N / P), C, H, W): 4N-mode int8 as `vector<4xi8>` or
      `i32`, 2N-mode int16 as `vector<2xi16>` or `i32`, 2IC-mode f32 as
      `vector<2xf32>` or `i64`;
    * a matrix N x M in channels of w columns is the tensor
      (N, ceil(M / w), 1, w);
    * dims are expanded or collapsed, if no element moves;
    * elements of the same size, e.g. f32 and i32, keep shape and layout.

    ```mlir
    %words = npu.view %bytes
        : memref<6x5x4x5xi8, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>, #npu.memory<local>>
       to memref<2x5x4x5xi32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
    ```

    The verifier proves that both types place every element at the same bytes.
  }];
  let arguments = (ins AnyMemRef:$source);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

def NPU_CopyOp : NPU_Op<"copy"> {
  let summary = "copies a tensor by DMA";
  let description = [{
    Copies the element of the source with the same logical index to every element of the
    destination. Only the two types determine the positions of elements. The op is thus the
    transfer between any two memories, the packing to 4N, 2N and 2IC, the conversion from aligned
    to compact, and the move to another start core.

    ```mlir
    npu.copy %from to %t : memref<2x3x4x5xf32, #npu.memory<system>>
                        to memref<2x3x4x5xf32, #scatter, #npu.memory<local>>
    npu.copy %t to %u permutation = [1, 0, 2, 3] : ..   // N/C transposition
    npu.copy %t to %u permutation = [0, 3, 2, 1] : ..   // C/W transposition
    npu.copy %bias to %u broadcast : memref<1x1x4x5xf32, ..> to memref<1x3x4x5xf32, ..>
    ```

    * `permutation`: dim d of the destination is dim permutation[d] of the
      source;
    * `broadcast`: dims in which the source has size 1 are repeated.

    Padding of the destination does not change. Source and destination must not overlap.
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
    /// Returns the map from indices of the destination to positions in the
    /// source: the map of the source with its dims in the order of the
    /// destination and repeated dims at index 0.
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

    Padding does not change. Execution units can fill local memory only.
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
  let summary = "runs DMA and computation in parallel";
  let description = [{
    The ops of the DMA engine run in order, and so do those of the execution units; the two
    sequences are independent. An engine must not read or write memory that the other one writes
    inside the region.

    ```mlir
    npu.parallel {
      npu.copy %next to %a : ..
      npu.fill 0.0 : f32 to %b on compute : ..
    }
    ```

    The verifier compares allocations; `npu-verify-memory` checks whether two of them share bytes.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

#endif // LAYOUT_DIALECT_NPU_IR_NPUOPS_TD
