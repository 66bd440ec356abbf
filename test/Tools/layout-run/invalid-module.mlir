// Check that modules that cannot run are located errors with a remedy.

// RUN: split-file --leading-lines %s %t
// RUN: not layout-run %t/other.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not layout-run %t/other.mlir --function=other 2>&1 | FileCheck %s --check-prefix=SIGNATURE
// RUN: not layout-run %t/other.mlir --function=word 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not layout-run %t/other.mlir --function=scalar 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: not layout-run %t/other.mlir --function=encoded 2>&1 | FileCheck %s --check-prefix=ENCODED
// RUN: not layout-run %t/other.mlir --function=element 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: not layout-run %t/other.mlir --function=rank 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not layout-run %t/other.mlir --function=interface 2>&1 | FileCheck %s --check-prefix=INTERFACE
// RUN: not layout-run %t/high.mlir 2>&1 | FileCheck %s --check-prefix=HIGH
// RUN: not layout-run %t/symbol.mlir 2>&1 | FileCheck %s --check-prefix=SYMBOL
// RUN: not layout-run %t/symbol.mlir --shared-libs=libnowhere.so 2>&1 | FileCheck %s --check-prefix=LIBRARY
// RUN: not layout-run %t/syntax.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not layout-run %t/absent.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not layout-run %t/shape.mlir 2>&1 | FileCheck %s --check-prefix=SHAPE

// NONE: error: has no function 'main' to run

//--- other.mlir
// SIGNATURE: other.mlir:[[#@LINE+2]]:1: error: has no 'layout.signature' attribute, {{.*}} the pipeline 'layout-to-cpu' attaches it
// NONE: other.mlir:[[#@LINE+1]]:1: note: has 'other'
llvm.func @other() { llvm.return }
// WORD: other.mlir:[[#@LINE+1]]:1: error: 'layout.signature' must be a function type over tensors, got "none"
llvm.func @word() attributes {layout.signature = "none"} { llvm.return }
// SCALAR: other.mlir:[[#@LINE+1]]:1: error: 'layout.signature' has input 0 of type 'f32', which cannot cross the boundary
llvm.func @scalar() attributes {layout.signature = (f32) -> ()} { llvm.return }
// ENCODED: other.mlir:[[#@LINE+1]]:1: error: 'layout.signature' has result 0 of type 'tensor<2xf32, 7 : i64>' with an encoding
llvm.func @encoded() attributes {layout.signature = () -> tensor<2xf32, 7>} { llvm.return }
// ELEMENT: other.mlir:[[#@LINE+1]]:1: error: 'layout.signature' has input 0 of type 'tensor<2xi3>'; the element type must be one of index, f16, {{.*}}complex<f64>, i1, {{.*}}bf16
llvm.func @element() attributes {layout.signature = (tensor<2xi3>) -> ()} { llvm.return }
// RANK: other.mlir:[[#@LINE+1]]:1: error: does not have the type that its 'layout.signature' {{.*}} lowers to
llvm.func @rank(%a: !llvm.ptr, %p: !llvm.ptr, %o: i64) attributes {layout.signature = (tensor<2xf32>) -> ()} { llvm.return }
// INTERFACE: other.mlir:[[#@LINE+1]]:1: error: has no C interface; {{.*}} 'llvm.emit_c_interface'
llvm.func @interface() attributes {layout.signature = () -> ()} { llvm.return }

//--- high.mlir
// HIGH: high.mlir:[[#@LINE+1]]:1: error: cannot be compiled, because it is not in the LLVM dialect; lower the module first
func.func @main() attributes {layout.signature = () -> ()} { return }

//--- symbol.mlir
// SYMBOL: symbol.mlir:[[#@LINE+4]]:1: error: could not be linked
// SYMBOL: symbol.mlir:[[#@LINE+2]]:1: note: 'defined_nowhere' is defined nowhere; name the library that has it in --shared-libs
// LIBRARY: error: shared library 'libnowhere.so' cannot be loaded:
llvm.func @defined_nowhere()
llvm.func @main() attributes {layout.signature = () -> ()} {
  llvm.call @defined_nowhere() : () -> ()
  llvm.return
}
llvm.func @_mlir_ciface_main() {
  llvm.call @main() : () -> ()
  llvm.return
}

//--- syntax.mlir
// SYNTAX: syntax.mlir:[[#@LINE+1]]:{{.*}} error:
llvm.func @main(

// ABSENT: absent.mlir

//--- shape.mlir
// SHAPE: shape.mlir:[[#@LINE+1]]:1: error: returned result 0 with sizes [3], its 'layout.signature' says 'tensor<2xf32>'
llvm.func @main() -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    attributes {layout.signature = () -> tensor<2xf32>} {
  %three = llvm.mlir.constant(3 : i64) : i64
  %0 = llvm.mlir.zero : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %1 = llvm.insertvalue %three, %0[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.return %1 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
}
llvm.func @_mlir_ciface_main(%result: !llvm.ptr) {
  %0 = llvm.call @main() : () -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %0, %result : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  llvm.return
}
