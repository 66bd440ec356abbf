// RUN: not layout-opt %s --split-input-file 2>&1 | FileCheck %s
// Check that errors point to the column of the invalid part, and shape errors to the type.

// CHECK: :[[# @LINE + 1]]:55: error: unknown kind of image 'in_out'; known kinds are in_out_channel, in_out_height, in_out_width, conv2d_filter, dw_conv2d_filter, weight_height, weight_width, argument, texture_2d, image_array, image_3d, single_pixel
func.func private @f(tensor<1xf32, #layout.rgba_image<in_out>>)

// -----

// CHECK: :[[# @LINE + 1]]:74: error: 'X' is not an axis of in_out_channel: the order must name each of NHWC once
func.func private @f(tensor<1xf32, #layout.rgba_image<in_out_channel, "NCXW">>)

// -----

// CHECK: :[[# @LINE + 1]]:75: error: axis 'N' is repeated: the order must name each of NHWC once
func.func private @f(tensor<1xf32, #layout.rgba_image<in_out_channel, "NCHN">>)

// -----

// CHECK: :[[# @LINE + 1]]:75: error: axis 'W' is missing: the order must name each of NHWC once
func.func private @f(tensor<1xf32, #layout.rgba_image<in_out_channel, "NCH">>)

// -----

// CHECK: :[[# @LINE + 1]]:71: error: axis 'O' is missing: the order must name each of OIHW once
func.func private @f(tensor<1xf32, #layout.rgba_image<conv2d_filter, "">>)

// -----

// CHECK: :[[# @LINE + 1]]:66: error: 'w' is not an axis of argument: the order must name each of W once
func.func private @f(tensor<1xf32, #layout.rgba_image<argument, "w">>)

// -----

// CHECK: :[[# @LINE + 1]]:71: error: expected string
func.func private @f(tensor<1xf32, #layout.rgba_image<in_out_channel, NCHW>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.rgba_image<in_out_channel> does not apply to this shape (L1): it has rank 4 or 2, the tensor has rank 3: use a kind of that rank
func.func private @f(tensor<1x2x3xf32, #layout.rgba_image<in_out_channel>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.rgba_image<in_out_height> does not apply to this shape (L1): it has rank 4, the tensor has rank 2: use a kind of that rank
func.func private @f(tensor<1x2xf32, #layout.rgba_image<in_out_height>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.rgba_image<dw_conv2d_filter> does not apply to this shape (L1): its axis M must have size 1, dim 0 has size 2: use conv2d_filter if a channel has several filters
func.func private @f(tensor<2x6x3x2xf32, #layout.rgba_image<dw_conv2d_filter>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.rgba_image<dw_conv2d_filter, "IMHW"> does not apply to this shape (L1): its axis M must have size 1, dim 1 has a dynamic size: use conv2d_filter if a channel has several filters
func.func private @f(tensor<6x?x3x2xf32, #layout.rgba_image<dw_conv2d_filter, "IMHW">>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.rgba_image<single_pixel> does not apply to this shape (L1): its axis C must fit the 4 lanes of one pixel, dim 3 has size 5: use in_out_channel
func.func private @f(tensor<1x2x3x5xf32, #layout.rgba_image<single_pixel>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.rgba_image<single_pixel> does not apply to this shape (L1): its axis C must fit the 4 lanes of one pixel, dim 3 has a dynamic size: use in_out_channel
func.func private @f(tensor<1x2x3x?xf32, #layout.rgba_image<single_pixel>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: the storage of layout #layout.rgba_image<weight_height> on this shape does not fit 64 bits (L1): the tensor is too large
func.func private @f(tensor<4294967296x4294967296x4x4xf32, #layout.rgba_image<weight_height>>)

// -----

// CHECK: :[[# @LINE + 1]]:75: error: 'X' is not an axis of in_out_channel: the order must name each of NHWC once
func.func private @f(tensor<1xf32, #layout.rgba_image<in_out_channel, "\4EXHW">>)

// -----

// CHECK: :[[# @LINE + 1]]:73: error: 'Ç' is not an axis of in_out_channel: the order must name each of NHWC once
func.func private @f(tensor<1xf32, #layout.rgba_image<in_out_channel, "NÇHW">>)
