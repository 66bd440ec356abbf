//===- Name.h - Short names of maps -----------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names for printed text, such as the aliases of printed modules:
//
//   buffer(d1, d0)                                          ba
//   buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)           nchw16c
//   image2d(x = [d1 floordiv 4, d3], y = [d0, d2],
//           lane = d1 mod 4) image_in_out_channel
//   mesh(device = d0, offset = d1)                          mesh
//
// Linear memory is named by its oneDNN tag (OneDnn.h) in lower case: a, b, ..
// are the dims in logical order. The dims of a 4-D tensor are n, c, h, w if
// storage is NCHW or NHWC and only C is blocked, and o, i, h, w if it is OIHW
// and only O and I are blocked. An image is named by its kind if some order of
// its axes has one. Any other space is named by itself.
//
// Laws: a name is a function of the map, an identifier, and true for every
// size. Different maps may have the same name.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTEROP_NAME_H
#define LAYOUT_INTEROP_NAME_H

#include "layout/Algebra/Families/RgbaImage.h"
#include "layout/Algebra/LayoutMap.h"
#include <string>

namespace mlir::layout {

/// Returns the name of `map`. In linear memory, it is the oneDNN tag, e.g.
/// `nchw16c`, or "" if there is none. In an image it is the name of the kind,
/// if one has this map, and in all other cases that of the space.
std::string makeName(const LayoutMap &map);

/// Returns the name of a kind of image: `image_in_out_channel`, `image_3d`, ..
std::string makeName(RgbaImageKind kind);

} // namespace mlir::layout

#endif // LAYOUT_INTEROP_NAME_H
