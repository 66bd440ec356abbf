// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s --mlir-print-local-scope --layout-canonicalize | FileCheck %s
// RUN: layout-opt %s --layout-canonicalize | layout-opt --mlir-print-local-scope | FileCheck %s
// Check that the image of a 1-D tensor has one row.

// AS-WRITTEN: @argument(tensor<10xf32, #layout.rgba_image<argument>>, tensor<10xf32, #layout.rgba_image<argument, "W">>, tensor<?xf32, #layout.rgba_image<argument>>)
// CHECK: @argument(tensor<10xf32, #[[MAP:layout.map<\(d0\) -> image2d\(x = d0 floordiv 4, y = 0, lane = d0 mod 4\)>]]>, tensor<10xf32, #[[MAP]]>, tensor<?xf32, #[[MAP]]>)
func.func private @argument(
  tensor<10xf32, #layout.rgba_image<argument>>,
  tensor<10xf32, #layout.rgba_image<argument, "W">>,
  tensor<?xf32, #layout.rgba_image<argument>>)
