func.func @f(
    %x: tensor<4x6xf32, #layout.blocked<"NCHW" to "NCHW16c">>) {
  return
}
