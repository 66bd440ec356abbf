//===- CpuOps.td - Loops as an op on tensors ---------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CPU_OPS
#define CPU_OPS

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Cpu_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::mlir::cpu";
  let summary = "Loops and checks for a processor, seen from tensors";
  let description = [{
    Loops that `layout-emit-kernels` writes and `layout-bufferize` takes away
    again, and the checks of `layout-check-indices`.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def Cpu_KernelOp : Op<Cpu_Dialect, "kernel", [
    AttrSizedOperandSegments, DestinationStyleOpInterface, NoTerminator,
    RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues",
      "bufferize"]>]> {
  let summary = "Loops on buffers as an op on tensors";
  let description = [{
    The body computes the results in place of `outputs` from `inputs`, which it
    does not write. Its arguments are the buffers of the outputs, then those of
    the inputs. Whether what an output held before is read follows from the
    body; what is not read is overwritten, all of it.

    Bufferization sees one op that reads and writes tensors, however many loads
    and stores are in the body, and puts the body in the place of the op.

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

def Cpu_AssertIndexOp : Op<Cpu_Dialect, "assert_index", [
    MemoryEffects<[MemWrite]>]> {
  let summary = "Ends the program if an index is out of range";
  let description = [{
    If `holds` is false, the program ends with an error that names `index`, dim
    `dim` and its `size`. `node`, if present, names the operation that the user
    wrote. The op is to run-time values what `cf.assert` is to a fixed text, and
    fails the same way: by `puts` and `abort` of the C library, which
    `layout-run` turns into an error.

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

#endif // CPU_OPS
