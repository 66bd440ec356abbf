// RUN: not layout-opt %s --split-input-file 2>&1 | FileCheck %s
// Check that errors in the text point to the column of the invalid part.

// CHECK: :[[# @LINE + 1]]:54: error: part 'c' without its axis 'C'
func.func private @f(tensor<1xf32, #layout.blocked<"N16cHW" to "NHW">>)

// -----

// CHECK: :[[# @LINE + 1]]:67: error: a factor must be at least 1, found 0
func.func private @f(tensor<1xf32, #layout.blocked<"NCHW" to "NCHW0c">>)

// -----

// CHECK: :[[# @LINE + 1]]:67: error: factor 99999999999999999999 does not fit 64 bits
func.func private @f(tensor<1xf32, #layout.blocked<"NCHW" to "NCHW99999999999999999999c">>)

// -----

// CHECK: :[[# @LINE + 1]]:61: error: the factors of 'C' do not fit 64 bits
func.func private @f(tensor<1xf32, #layout.blocked<"C" to "C4611686018427387904c4c">>)

// -----

// CHECK: :[[# @LINE + 1]]:67: error: factor 16 without a letter: write the part as 16c
func.func private @f(tensor<1xf32, #layout.blocked<"NCHW" to "NCHW16">>)

// -----

// CHECK: :[[# @LINE + 1]]:68: error: axis 'C' must not have a factor: only parts, in lower case, have one
func.func private @f(tensor<1xf32, #layout.blocked<"NCHW" to "NHW16C">>)

// -----

// CHECK: :[[# @LINE + 1]]:67: error: part 'c' needs a factor before it, as in 16c
func.func private @f(tensor<1xf32, #layout.blocked<"NCHW" to "NCHWc">>)

// -----

// CHECK: :[[# @LINE + 1]]:56: error: axis 'N' is repeated: write it once
func.func private @f(tensor<1xf32, #layout.blocked<"NCHN" to "NCHW">>)

// -----

// CHECK: :[[# @LINE + 1]]:68: error: brackets must not be nested: one pair fuses all its parts
func.func private @f(tensor<1xf32, #layout.blocked<"NCHW" to "NCHW[[4c]]">>)

// -----

// CHECK: :[[# @LINE + 1]]:67: error: an empty bracket: it must fuse at least one part
func.func private @f(tensor<1xf32, #layout.blocked<"NCHW" to "NCHW[]">>)

// -----

// CHECK: :[[# @LINE + 1]]:67: error: '[' without ']'
func.func private @f(tensor<1xf32, #layout.blocked<"NCHW" to "NCHW[4c">>)

// -----

// CHECK: :[[# @LINE + 1]]:67: error: ']' without '['
func.func private @f(tensor<1xf32, #layout.blocked<"NCHW" to "NCHW]">>)

// -----

// CHECK: :[[# @LINE + 1]]:54: error: letter 'C' is missing in the second string: both strings have the same letters
func.func private @f(tensor<1xf32, #layout.blocked<"NCHW" to "NHW">>)

// -----

// CHECK: :[[# @LINE + 1]]:67: error: letter 'D' is missing in the first string: both strings have the same letters
func.func private @f(tensor<1xf32, #layout.blocked<"NCHW" to "NCHWD">>)

// -----

// CHECK: :[[# @LINE + 1]]:55: error: unexpected character '-': axes are upper-case letters, parts are a factor and a lower-case letter
func.func private @f(tensor<1xf32, #layout.blocked<"NC-HW" to "NCHW">>)

// -----

// CHECK: :[[# @LINE + 1]]:57: error: axis 'C' follows another part: in a bracket of the first string, an axis must come first, so that its size is known
func.func private @f(tensor<1xf32, #layout.blocked<"N[4nC]" to "NC">>)

// -----

// An escape is one character of the string and three of the text.
// CHECK: :[[# @LINE + 1]]:59: error: factor 4 without a letter: write the part as 4c
func.func private @f(tensor<1xf32, #layout.blocked<"N\43HX4" to "NCHX">>)

// -----

// CHECK: :[[# @LINE + 1]]:54: error: unexpected character '\09': axes are upper-case letters
func.func private @f(tensor<1xf32, #layout.blocked<"N\tC" to "NC">>)

// -----

// A multi-byte character is quoted as a whole, an invalid byte in hexadecimal.
// CHECK: :[[# @LINE + 1]]:54: error: unexpected character 'Ç': axes are upper-case letters
func.func private @f(tensor<1xf32, #layout.blocked<"NÇHW" to "NCHW">>)

// -----

// CHECK: :[[# @LINE + 1]]:54: error: unexpected character '\C3': axes are upper-case letters
func.func private @f(tensor<1xf32, #layout.blocked<"N\C3HW" to "NCHW">>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: {{.*}} gives dim 2 the size 4 by its factors, the tensor has 5 there (L1): change the size, or give the logical axes without parts
func.func private @f(tensor<1x2x5xf32, #layout.blocked<"NC4c" to "NC8c">>)
