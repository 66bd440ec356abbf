//===- CpuOps.td - Loops as an op on tensors ---------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_LINALGTOLLVM_CPUOPS_TD
#define LAYOUT_TARGETS_CPU_LINALGTOLLVM_CPUOPS_TD

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Cpu_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::mlir::cpu";
  let summary = "Kernels on tensors, sums of byte products and index checks";
  let description = [{
    Kernels that `layout-cpu-emit-kernels` creates and `layout-cpu-bufferize` inlines,
    sums of byte products of `layout-cpu-group-byte-products`, and checks of
    `layout-cpu-check-indices`.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def Cpu_KernelOp : Op<Cpu_Dialect, "kernel", [
    AttrSizedOperandSegments, DestinationStyleOpInterface, NoTerminator,
    RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues",
      "bufferize"]>]> {
  let summary = "Compute tensors by loops on their buffers";
  let description = [{
    The body computes the results in place of `outputs` from `inputs`, which it
    does not write. Its arguments are the buffers of the outputs, then those of
    the inputs. If the body does not read the old elements of an output, it must
    overwrite all of them.

    Bufferization analyzes one op that reads and writes tensors, for any number
    of loads and stores in the body, and inlines the body.

    ```mlir
    %r = cpu.kernel ins(%x : tensor<64xf32>) outs(%d : tensor<64xf32>) {
    ^bb0(%to: memref<64xf32>, %from: memref<64xf32>):
      scf.for %i = %c0 to %c64 step %c8 {
        %v = vector.transfer_read %from[%i], %p {in_bounds = [true]}
          : memref<64xf32>, vector<8xf32>
        vector.transfer_write %v, %to[%i] {in_bounds = [true]}
          : vector<8xf32>, memref<64xf32>
      }
    } -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$outputs,
                       Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` $body attr-dict
    `->` type($results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
}

def Cpu_ViewWordsOp : Op<Cpu_Dialect, "view_words", [
    Pure, DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues",
      "bufferize"]>]> {
  let summary = "View the bytes of a tensor as 32-bit integers";
  let description = [{
    An element of the result has the four bytes at positions `4 * i` to
    `4 * i + 3` of the last dim of `source`, the first one in its lowest bits.
    The last dim of `source` is static and a multiple of four. The result shares
    the memory of a contiguous `source`; another one is copied first.

    ```mlir
    %words = cpu.view_words %bytes : tensor<?x8xi8> -> tensor<?x2xi32>
    ```
  }];
  let arguments = (ins TensorRankOf<[I8], [1, 2, 3, 4, 5, 6, 7, 8]>:$source);
  let results = (outs TensorRankOf<[I32], [1, 2, 3, 4, 5, 6, 7, 8]>:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Cpu_DotBytesOp : Op<Cpu_Dialect, "dot_bytes", [
    Pure, SameOperandsAndResultType] # ElementwiseMappable.traits> {
  let summary = "Sum the products of the bytes of two 32-bit integers";
  let description = [{
    Each operand consists of four bytes, which are unsigned if `lhs_unsigned` or
    `rhs_unsigned` is set, else signed. The result is the sum of the products of
    bytes at equal positions, which is exact.

    ```mlir
    %sum = cpu.dot_bytes %x, %w {lhs_unsigned} : vector<16xi32>
    ```
  }];
  let arguments = (ins SignlessIntegerLike:$lhs, SignlessIntegerLike:$rhs,
                       UnitAttr:$lhs_unsigned, UnitAttr:$rhs_unsigned);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns true if the bytes of one operand are unsigned and those of the
    /// other one are signed.
    bool isMixed() { return getLhsUnsigned() != getRhsUnsigned(); }
  }];
}

def Cpu_DotHalvesOp : Op<Cpu_Dialect, "dot_halves", [
    Pure, SameOperandsAndResultType] # ElementwiseMappable.traits> {
  let summary = "Sum the products of the halves of two 32-bit integers";
  let description = [{
    Each operand consists of two signed 16-bit integers. The result is the sum of
    the products of halves at equal positions, modulo 2^32.

    ```mlir
    %sum = cpu.dot_halves %x, %w : vector<8xi32>
    ```
  }];
  let arguments = (ins SignlessIntegerLike:$lhs, SignlessIntegerLike:$rhs);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Cpu_AssertIndexOp : Op<Cpu_Dialect, "assert_index", [
    MemoryEffects<[MemWrite]>]> {
  let summary = "Abort the program if an index is out of range";
  let description = [{
    If `holds` is false, the program ends with an error that states `index`, dim
    `dim` and its `size`. `node`, if present, is the name of the operation in
    the user's program. The op extends `cf.assert`, which has a fixed text, by
    run-time values, and fails like it: by `puts` and `abort` of the C library,
    which `layout-run` turns into an error.

    ```mlir
    %inside = arith.cmpi ult, %index, %size : i64
    cpu.assert_index %inside, %index, %size dim 0 node "emb"
    ```

    prints, with -7 and 5 at run time:

        node 'emb': index -7 is out of range for dim 0 of size 5
  }];
  let arguments = (ins I1:$holds, I64:$index, I64:$size,
                       I64Attr:$dim, OptionalAttr<StrAttr>:$node);
  let assemblyFormat = [{
    $holds `,` $index `,` $size `dim` $dim (`node` $node^)? attr-dict
  }];
}

#endif // LAYOUT_TARGETS_CPU_LINALGTOLLVM_CPUOPS_TD
