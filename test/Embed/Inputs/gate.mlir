// The op of examples/user-op on channels that do not fill their tiles, with a
// transposed gate and dynamic sizes.
#tiles = #layout.padded<#layout.blocked<"ABCD" to "ABCD16b">, zero>
func.func @main(%x: tensor<?x20x?x5xf32>, %g: tensor<?x20xf32>) -> tensor<?x20x?x5xf32> {
  %0 = layout.convert %x : tensor<?x20x?x5xf32> to tensor<?x20x?x5xf32, #tiles>
  %1 = layout.convert %g : tensor<?x20xf32> to tensor<?x20xf32, #layout.blocked<"AB" to "BA">>
  %2 = "user.gate"(%0, %1) : (tensor<?x20x?x5xf32, #tiles>, tensor<?x20xf32, #layout.blocked<"AB" to "BA">>) -> tensor<?x20x?x5xf32, #tiles>
  %3 = layout.convert %2 : tensor<?x20x?x5xf32, #tiles> to tensor<?x20x?x5xf32>
  return %3 : tensor<?x20x?x5xf32>
}
