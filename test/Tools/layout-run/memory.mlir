// Check that inputs, returned constants and repeated results keep their memory at the boundary of a function.

// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(4, dtype='i4'))"
// RUN: layout-run %s --function=overwrite --input=%t.x.npy --output=%t.y.npy --repeat=3
// RUN: %python -c "import numpy as np; y = np.load(r'%t.y.npy'); assert (y == [7, 1, 2, 3]).all(), y"
// RUN: mlir-opt-22 %S/Inputs/constants.mlir %lower -o %t.mlir
// RUN: layout-run %t.mlir --output=%t.small.npy --output=%t.large.npy --output=%t.splat.npy --repeat=3
// RUN: %python -c "import numpy as np; s, l, p = (np.load(r'%t.' + n + '.npy') for n in ('small', 'large', 'splat')); assert (s == [1, 2, 3]).all() and l.shape == (2, 1024) and (l == np.arange(2048).reshape(2, 1024)).all() and (p == 5).all() and p.shape == (4096,)"
// RUN: layout-run %s --function=twice --output=%t.y.npy --output=%t.z.npy --repeat=3
// RUN: %python -c "import numpy as np; y, z = np.load(r'%t.y.npy'), np.load(r'%t.z.npy'); assert y.shape == z.shape == () and y == z == 42"

llvm.func @malloc(i64) -> !llvm.ptr

// Adds 7 to the first element in place.
llvm.func @overwrite(%a: !llvm.ptr, %p: !llvm.ptr, %o: i64, %n: i64, %s: i64)
    -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    attributes {layout.signature = (tensor<?xi32>) -> tensor<?xi32>} {
  %seven = llvm.mlir.constant(7 : i32) : i32
  %old = llvm.load %p : !llvm.ptr -> i32
  %new = llvm.add %old, %seven : i32
  llvm.store %new, %p : i32, !llvm.ptr
  %0 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %1 = llvm.insertvalue %a, %0[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %2 = llvm.insertvalue %p, %1[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %3 = llvm.insertvalue %o, %2[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %4 = llvm.insertvalue %n, %3[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %5 = llvm.insertvalue %s, %4[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.return %5 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
}
llvm.func @_mlir_ciface_overwrite(%result: !llvm.ptr, %x: !llvm.ptr) {
  %0 = llvm.load %x : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %a = llvm.extractvalue %0[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %p = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %o = llvm.extractvalue %0[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %n = llvm.extractvalue %0[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %s = llvm.extractvalue %0[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %1 = llvm.call @overwrite(%a, %p, %o, %n, %s) : (!llvm.ptr, !llvm.ptr, i64, i64, i64)
      -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %1, %result : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  llvm.return
}

// Returns one allocation of rank 0 as both results.
llvm.func @twice() -> !llvm.struct<(struct<(ptr, ptr, i64)>, struct<(ptr, ptr, i64)>)>
    attributes {layout.signature = () -> (tensor<i64>, tensor<i64>)} {
  %eight = llvm.mlir.constant(8 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %value = llvm.mlir.constant(42 : i64) : i64
  %p = llvm.call @malloc(%eight) : (i64) -> !llvm.ptr
  llvm.store %value, %p : i64, !llvm.ptr
  %0 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64)>
  %1 = llvm.insertvalue %p, %0[0] : !llvm.struct<(ptr, ptr, i64)>
  %2 = llvm.insertvalue %p, %1[1] : !llvm.struct<(ptr, ptr, i64)>
  %3 = llvm.insertvalue %zero, %2[2] : !llvm.struct<(ptr, ptr, i64)>
  %4 = llvm.mlir.poison : !llvm.struct<(struct<(ptr, ptr, i64)>, struct<(ptr, ptr, i64)>)>
  %5 = llvm.insertvalue %3, %4[0] : !llvm.struct<(struct<(ptr, ptr, i64)>, struct<(ptr, ptr, i64)>)>
  %6 = llvm.insertvalue %3, %5[1] : !llvm.struct<(struct<(ptr, ptr, i64)>, struct<(ptr, ptr, i64)>)>
  llvm.return %6 : !llvm.struct<(struct<(ptr, ptr, i64)>, struct<(ptr, ptr, i64)>)>
}
llvm.func @_mlir_ciface_twice(%result: !llvm.ptr) {
  %0 = llvm.call @twice() : () -> !llvm.struct<(struct<(ptr, ptr, i64)>, struct<(ptr, ptr, i64)>)>
  llvm.store %0, %result : !llvm.struct<(struct<(ptr, ptr, i64)>, struct<(ptr, ptr, i64)>)>, !llvm.ptr
  llvm.return
}
