// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s | layout-opt --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s --mlir-print-local-scope --layout-canonicalize | FileCheck %s
// RUN: layout-opt %s --layout-canonicalize | layout-opt --mlir-print-local-scope --layout-canonicalize | FileCheck %s
// Check every kind of image with several dims: static and dynamic sizes have the
// same map.

// AS-WRITTEN: @in_out_channel(tensor<2x5x3x6xf32, #layout.rgba_image<in_out_channel>>, tensor<?x?x?x?xf32, #layout.rgba_image<in_out_channel>>)
// CHECK: @in_out_channel(tensor<2x5x3x6xf32, #[[MAP:layout.map<\(d0, d1, d2, d3\) -> image2d\(x = \[d3 floordiv 4, d2\], y = \[d0, d1\], lane = d3 mod 4\)>]]>, tensor<?x?x?x?xf32, #[[MAP]]>)
func.func private @in_out_channel(
  tensor<2x5x3x6xf32, #layout.rgba_image<in_out_channel>>,
  tensor<?x?x?x?xf32, #layout.rgba_image<in_out_channel>>)

// CHECK: @in_out_height(tensor<2x5x3x6xf32, #[[MAP:layout.map<\(d0, d1, d2, d3\) -> image2d\(x = \[d3, d2\], y = \[d0, d1 floordiv 4\], lane = d1 mod 4\)>]]>, tensor<?x?x?x?xf32, #[[MAP]]>)
func.func private @in_out_height(
  tensor<2x5x3x6xf32, #layout.rgba_image<in_out_height>>,
  tensor<?x?x?x?xf32, #layout.rgba_image<in_out_height>>)

// CHECK: @in_out_width(tensor<2x5x7x6xf32, #[[MAP:layout.map<\(d0, d1, d2, d3\) -> image2d\(x = \[d3, d2 floordiv 4\], y = \[d0, d1\], lane = d2 mod 4\)>]]>, tensor<?x?x?x?xf32, #[[MAP]]>)
func.func private @in_out_width(
  tensor<2x5x7x6xf32, #layout.rgba_image<in_out_width>>,
  tensor<?x?x?x?xf32, #layout.rgba_image<in_out_width>>)

// CHECK: @conv2d_filter(tensor<6x5x3x2xf32, #[[MAP:layout.map<\(d0, d1, d2, d3\) -> image2d\(x = d1, y = \[d0 floordiv 4, d2, d3\], lane = d0 mod 4\)>]]>, tensor<?x?x?x?xf32, #[[MAP]]>)
func.func private @conv2d_filter(
  tensor<6x5x3x2xf32, #layout.rgba_image<conv2d_filter>>,
  tensor<?x?x?x?xf32, #layout.rgba_image<conv2d_filter>>)

// M is not in the map because it is 1.
// CHECK: @dw_conv2d_filter(tensor<1x6x3x2xf32, #[[MAP:layout.map<\(d0, d1, d2, d3\) -> image2d\(x = \[d2, d3\], y = d1 floordiv 4, lane = d1 mod 4\)>]]>, tensor<1x?x?x?xf32, #[[MAP]]>)
func.func private @dw_conv2d_filter(
  tensor<1x6x3x2xf32, #layout.rgba_image<dw_conv2d_filter>>,
  tensor<1x?x?x?xf32, #layout.rgba_image<dw_conv2d_filter>>)

// CHECK: @weight_height(tensor<6x5x3x2xf32, #[[MAP:layout.map<\(d0, d1, d2, d3\) -> image2d\(x = \[d2, d3, d1\], y = d0 floordiv 4, lane = d0 mod 4\)>]]>, tensor<?x?x?x?xf32, #[[MAP]]>)
func.func private @weight_height(
  tensor<6x5x3x2xf32, #layout.rgba_image<weight_height>>,
  tensor<?x?x?x?xf32, #layout.rgba_image<weight_height>>)

// CHECK: @weight_width(tensor<6x5x3x2xf32, #[[MAP:layout.map<\(d0, d1, d2, d3\) -> image2d\(x = \[d2, d3, d1 floordiv 4\], y = d0, lane = d1 mod 4\)>]]>, tensor<?x?x?x?xf32, #[[MAP]]>)
func.func private @weight_width(
  tensor<6x5x3x2xf32, #layout.rgba_image<weight_width>>,
  tensor<?x?x?x?xf32, #layout.rgba_image<weight_width>>)

// CHECK: @texture_2d(tensor<2x5x3x6xf32, #[[MAP:layout.map<\(d0, d1, d2, d3\) -> image2d\(x = \[d2, d0\], y = \[d1, d3 floordiv 4\], lane = d3 mod 4\)>]]>, tensor<?x?x?x?xf32, #[[MAP]]>)
func.func private @texture_2d(
  tensor<2x5x3x6xf32, #layout.rgba_image<texture_2d>>,
  tensor<?x?x?x?xf32, #layout.rgba_image<texture_2d>>)

// CHECK: @image_array(tensor<2x5x3x6xf32, #[[MAP:layout.map<\(d0, d1, d2, d3\) -> image2d_array\(x = \[d2, d0\], y = d1, slice = d3 floordiv 4, lane = d3 mod 4\)>]]>, tensor<?x?x?x?xf32, #[[MAP]]>)
func.func private @image_array(
  tensor<2x5x3x6xf32, #layout.rgba_image<image_array>>,
  tensor<?x?x?x?xf32, #layout.rgba_image<image_array>>)

// CHECK: @image_3d(tensor<2x5x3x6xf32, #[[MAP:layout.map<\(d0, d1, d2, d3\) -> image3d\(x = \[d2, d0\], y = d1, z = d3 floordiv 4, lane = d3 mod 4\)>]]>, tensor<?x?x?x?xf32, #[[MAP]]>)
func.func private @image_3d(
  tensor<2x5x3x6xf32, #layout.rgba_image<image_3d>>,
  tensor<?x?x?x?xf32, #layout.rgba_image<image_3d>>)

// 3 channels use 4 lanes, too.
// CHECK: @single_pixel(tensor<2x5x7x3xf32, #[[MAP:layout.map<\(d0, d1, d2, d3\) -> image2d\(x = d2, y = \[d0, d1\], lane = d3 mod 4\)>]]>, tensor<?x?x?x3xf32, #[[MAP]]>)
func.func private @single_pixel(
  tensor<2x5x7x3xf32, #layout.rgba_image<single_pixel>>,
  tensor<?x?x?x3xf32, #layout.rgba_image<single_pixel>>)

// The second string is the order of the dims.
// AS-WRITTEN: @order(tensor<2x6x5x3xf32, #layout.rgba_image<in_out_channel, "NCHW">>, tensor<2x5x3x6xf32, #layout.rgba_image<in_out_channel, "NHWC">>)
// CHECK: @order({{.*}}image2d(x = [d1 floordiv 4, d3], y = [d0, d2], lane = d1 mod 4){{.*}}image2d(x = [d3 floordiv 4, d2], y = [d0, d1], lane = d3 mod 4)
func.func private @order(
  tensor<2x6x5x3xf32, #layout.rgba_image<in_out_channel, "NCHW">>,
  tensor<2x5x3x6xf32, #layout.rgba_image<in_out_channel, "NHWC">>)

// CHECK: @order_of_depthwise({{.*}}image2d(x = [d0, d1], y = d2 floordiv 4, lane = d2 mod 4)
func.func private @order_of_depthwise(
  tensor<3x2x6x1xf32, #layout.rgba_image<dw_conv2d_filter, "HWIM">>)

// Rank 2 is (N, C) in the order of the string.
// CHECK: @flat({{.*}}image2d(x = d1 floordiv 4, y = d0, lane = d1 mod 4){{.*}}image2d(x = d0 floordiv 4, y = d1, lane = d0 mod 4)
func.func private @flat(
  tensor<2x1001xf32, #layout.rgba_image<in_out_channel>>,
  tensor<?x?xf32, #layout.rgba_image<in_out_channel, "CHWN">>)

// A tensor without elements has no position.
// CHECK: @empty(
func.func private @empty(tensor<2x0x3x6xf32, #layout.rgba_image<in_out_height>>)

// AS-WRITTEN: #layout.padded<#layout.rgba_image<weight_width>, 1.000000e+00 : f32>
// CHECK: @padded(tensor<6x5x3x2xf32, #layout.padded<#layout.map<(d0, d1, d2, d3) -> image2d(x = [d2, d3, d1 floordiv 4], y = d0, lane = d1 mod 4)>, 1.000000e+00 : f32>>)
func.func private @padded(
  tensor<6x5x3x2xf32, #layout.padded<#layout.rgba_image<weight_width>, 1.0 : f32>>)
