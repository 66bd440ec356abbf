//===- RgbaImageAttr.td - Tensors in RGBA images -----------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_RGBAIMAGEATTR_TD
#define LAYOUT_DIALECT_LAYOUT_IR_RGBAIMAGEATTR_TD

include "layout/Dialect/Layout/IR/LayoutAttrBase.td"

def Layout_RgbaImageAttr : Layout_LayoutAttr<"RgbaImage", "rgba_image",
                                             ["getStatedShape",
                                              "getExampleShape"]> {
  let summary = "tensors in images with four channel components per pixel";
  let description = [{
    Stores the elements in the pixels of an OpenCL image with channel order
    CL_RGBA, e.g. `#layout.rgba_image<in_out_channel>`. The kind determines the
    coordinates of each axis; a lane is a channel component and `c4(a)` is `(a +
    3) / 4`:

    | kind | axes | image | (x, y, lane) |
    |---|---|---|---|
    | `in_out_channel` | NHWC | W*c4(C), N*H | (c/4*W + w, n*H + h, c%4) |
    | `in_out_height` | NHWC | W*C, N*c4(H) | (c*W + w, n*c4(H) + h/4, h%4) |
    | `in_out_width` | NHWC | c4(W)*C, N*H | (c*c4(W) + w/4, n*H + h, w%4) |
    | `conv2d_filter` | OIHW | I, c4(O)*H*W | (i, (o/4*H + h)*W + w, o%4) |
    | `dw_conv2d_filter` | MIHW, M = 1 | H*W, c4(I) | (h*W + w, i/4, i%4) |
    | `weight_height` | OIHW | I*H*W, c4(O) | ((h*W + w)*I + i, o/4, o%4) |
    | `weight_width` | OIHW | c4(I)*H*W, O | ((h*W + w)*c4(I) + i/4, o, i%4) |
    | `argument` | W | c4(W), 1 | (w/4, 0, w%4) |
    | `texture_2d` | NHWC | W*N, H*c4(C) | (w*N + n, h*c4(C) + c/4, c%4) |
    | `image_array` | NHWC | W*N, H, c4(C) | (w*N + n, h, c/4, c%4) |
    | `image_3d` | NHWC | W*N, H, c4(C) | (w*N + n, h, c/4, c%4) |
    | `single_pixel` | NHWC, C <= 4 | W, N*H | (w, n*H + h, c) |

    The space is `image2d_array(x, y, slice, lane)` for `image_array`,
    `image3d(x, y, z, lane)` for `image_3d` and `image2d(x, y, lane)` for all
    other kinds. There are always 4 lanes; sizes may be dynamic.

    The dims of the tensor have the order of the axes in the table, or that of
    an optional string: `#layout.rgba_image<in_out_channel, "NCHW">`. A tensor
    of rank 2 in `in_out_channel` has the axes N and C; H and W are 1.

    Errors: an unknown kind, a string that does not name each axis once (with
    the column); on a shape (L1), another rank, M other than 1, C above 4 in
    `single_pixel`, either of them dynamic.

    Source: the memory layouts of MACE, and for the last four kinds those of
    TensorFlow Lite's GPU delegate (spec, section 3.3).
  }];
  let parameters = (ins
    "::mlir::layout::RgbaImageKind":$kind,
    ArrayRefParameter<"unsigned",
                      "the axis of each dim; empty for the default">:$order);
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_RGBAIMAGEATTR_TD
