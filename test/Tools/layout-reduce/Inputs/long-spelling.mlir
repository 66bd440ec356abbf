// A longer spelling of (d0, d1) -> buffer(d1, d0).
func.func private @f(tensor<4x6xf32, #layout.map<(first, second) -> buffer(offset = second * size(first) + first)>>)
