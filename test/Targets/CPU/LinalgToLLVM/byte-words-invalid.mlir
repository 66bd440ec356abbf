// Check the errors of the verifiers of cpu.view_words, cpu.dot_bytes and cpu.dot_halves.
// RUN: layout-opt %s -split-input-file -verify-diagnostics

func.func @dynamic(%x: tensor<2x?xi8>) -> tensor<2x?xi32> {
  // expected-error @below {{'cpu.view_words' op needs a static last dim that is a multiple of 4, not that of 'tensor<2x?xi8>'}}
  %r = cpu.view_words %x : tensor<2x?xi8> -> tensor<2x?xi32>
  return %r : tensor<2x?xi32>
}

// -----

func.func @remainder(%x: tensor<2x6xi8>) -> tensor<2x1xi32> {
  // expected-error @below {{'cpu.view_words' op needs a static last dim that is a multiple of 4, not that of 'tensor<2x6xi8>'}}
  %r = cpu.view_words %x : tensor<2x6xi8> -> tensor<2x1xi32>
  return %r : tensor<2x1xi32>
}

// -----

func.func @shape(%x: tensor<2x8xi8>) -> tensor<2x8xi32> {
  // expected-error @below {{'cpu.view_words' op has a result of type 'tensor<2x8xi32>'; its words are of type 'tensor<2x2xi32>'}}
  %r = cpu.view_words %x : tensor<2x8xi8> -> tensor<2x8xi32>
  return %r : tensor<2x8xi32>
}

// -----

func.func @width(%x: i16) -> i16 {
  // expected-error @below {{'cpu.dot_bytes' op has operands of type 'i16'; words of four bytes are of type i32}}
  %r = cpu.dot_bytes %x, %x : i16
  return %r : i16
}

// -----

func.func @halves(%x: i16) -> i16 {
  // expected-error @below {{'cpu.dot_halves' op has operands of type 'i16'; words of four bytes are of type i32}}
  %r = cpu.dot_halves %x, %x : i16
  return %r : i16
}
