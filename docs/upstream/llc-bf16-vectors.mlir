// LLVM cannot lower a load and store of nine bf16 numbers on processors with AVX512-BF16.

// RUN: mlir-translate-22 --mlir-to-llvmir %s -o %t.ll
// RUN: not --crash llc-22 -mtriple=x86_64-linux-gnu -mcpu=cooperlake %t.ll -o - 2>&1 | FileCheck %s --check-prefix=IF-MENDED-REMOVE-BF16AsBits

// IF-MENDED-REMOVE-BF16AsBits: LLVM ERROR: Do not know how to soft promote this operator's operand!
llvm.func @copy(%from: !llvm.ptr, %to: !llvm.ptr) {
  %v = llvm.load %from {alignment = 2 : i64} : !llvm.ptr -> vector<9xbf16>
  llvm.store %v, %to {alignment = 2 : i64} : vector<9xbf16>, !llvm.ptr
  llvm.return
}
