// RUN: layout-opt %s --split-input-file --verify-diagnostics --convert-layout-to-mpi
// RUN: echo "module {}" | not layout-opt --convert-layout-to-mpi=max-extra-bytes=-1 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: echo "module {}" | not layout-opt --convert-layout-to-mpi=implementation=LAM 2>&1 | FileCheck %s --check-prefix=NAME
// Check that conversions without messages are errors with a remedy.

// BYTES: error: the option 'max-extra-bytes' is -1: it must be at least 0
// NAME: error: the option 'implementation' is 'LAM': it must be OpenMPI or MPICH, which upstream can lower to

#columns = #layout.mesh<[x = 4], [[], [x]]>
// expected-error@below {{'func.func' op has a value of type 'tensor<?x6xf32, #layout.mesh<[x = 4], [[], [x]]>>', whose blocks have dynamic sizes: messages need static shapes}}
func.func @dynamic(%a: tensor<?x6xf32, #columns>) {
  return
}

// -----

#four = #layout.mesh<[x = 4], [[x]]>
#two = #layout.mesh<[x = 2], [[x]]>
func.func @other_devices(%a: tensor<8xf32, #four>) -> tensor<8xf32, #two> {
  // expected-error@below {{has no messages: it goes from a mesh of 4 devices to one of 2: state both layouts over the same devices}}
  %0 = layout.convert %a : tensor<8xf32, #four> to tensor<8xf32, #two>
  return %0 : tensor<8xf32, #two>
}

// -----

#two = #layout.mesh<[x = 2], [[x]]>
#all = #layout.mesh<[x = 2], [[]]>
func.func @odd_bytes(%a: tensor<8xi24, #two>) -> tensor<8xi24, #all> {
  // expected-error@below {{moves elements of 3 bytes ('i24'), which have padding in memory: use a type of 1, 2, 4, 8 or more bytes, a power of two}}
  %0 = layout.convert %a : tensor<8xi24, #two> to tensor<8xi24, #all>
  return %0 : tensor<8xi24, #all>
}

// -----

#parts = #layout.partial<#layout.mesh<[x = 2], [[]]>, max, [x]>
#all = #layout.mesh<[x = 2], [[]]>
func.func @signs(%a: tensor<8xui8, #parts>) -> tensor<8xui8, #all> {
  // expected-error@below {{reduces elements of type 'ui8' (P4): use a signless type, which is compared as signed}}
  %0 = layout.convert %a : tensor<8xui8, #parts> to tensor<8xui8, #all>
  return %0 : tensor<8xui8, #all>
}

// -----

#parts = #layout.partial<#layout.mesh<[x = 2], [[]]>, sum, [x]>
#padded = #layout.padded<#layout.mesh<[x = 2], [[]], local = #layout.blocked<"A" to "A4a">>, zero>
func.func @padding(%a: tensor<7xf32, #parts>) -> tensor<7xf32, #padded> {
  // expected-error@below {{reduces to a type with a padding value (P1): reduce to the layout without it, and add it by a second layout.convert}}
  %0 = layout.convert %a : tensor<7xf32, #parts> to tensor<7xf32, #padded>
  return %0 : tensor<7xf32, #padded>
}

// -----

#two = #layout.mesh<[x = 2], [[x], []]>
#diagonal = #layout.map<(i, j) -> mesh(x = i floordiv 4, offset = [i mod 4, (i + j) mod 8])>
func.func @no_sum(%a: tensor<8x8xf32, #two>) -> tensor<8x8xf32, #diagonal> {
  // expected-error@below {{are not a sum of one position for each dim, or differ between copies of an element: choose another local layout}}
  %0 = layout.convert %a : tensor<8x8xf32, #two> to tensor<8x8xf32, #diagonal>
  return %0 : tensor<8x8xf32, #diagonal>
}

// -----

#two = #layout.mesh<[x = 2], [[x]]>
#all = #layout.mesh<[x = 2], [[]]>
// expected-error@below {{has 'dlti.map' without an entry 'MPI:Implementation', which states the MPI implementation of the program: add "MPI:Implementation" = "OpenMPI"}}
module attributes {dlti.map = #dlti.map<"other" = 1>} {
  func.func @f(%a: tensor<8xf32, #two>) -> tensor<8xf32, #all> {
    %0 = layout.convert %a : tensor<8xf32, #two> to tensor<8xf32, #all>
    return %0 : tensor<8xf32, #all>
  }
}

// -----

#two = #layout.mesh<[x = 2], [[x]]>
#twice = #layout.map<(i) replicate(r : 2) -> mesh(x = i floordiv 4, offset = [r, i mod 4])>
func.func @places_by_replica(%a: tensor<8xf32, #two>) -> tensor<8xf32, #twice> {
  // expected-error@below {{are not a sum of one position for each dim, or differ between copies of an element: choose another local layout}}
  %0 = layout.convert %a : tensor<8xf32, #two> to tensor<8xf32, #twice>
  return %0 : tensor<8xf32, #twice>
}

// -----

#two = #layout.mesh<[x = 2], [[x]]>
#all = #layout.mesh<[x = 2], [[]]>
// expected-error@below {{'func.func' op has the name of a function of libLayoutMPIRuntime: rename it}}
func.func private @layoutMPILeave(i32)
func.func @name_of_another_type(%a: tensor<8xf32, #two>) -> tensor<8xf32, #all> {
  %0 = layout.convert %a : tensor<8xf32, #two> to tensor<8xf32, #all>
  return %0 : tensor<8xf32, #all>
}

// -----

#two = #layout.mesh<[x = 2], [[x]]>
#all = #layout.mesh<[x = 2], [[]]>
// expected-error@below {{'memref.global' op has the name of a function of libLayoutMPIRuntime: rename it}}
memref.global "private" @layoutMPIEnter : memref<4xf32>
func.func @name_of_another_kind(%a: tensor<8xf32, #two>) -> tensor<8xf32, #all> {
  %0 = layout.convert %a : tensor<8xf32, #two> to tensor<8xf32, #all>
  return %0 : tensor<8xf32, #all>
}
