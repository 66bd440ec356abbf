#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xf64>) -> (tensor<?xf16>, tensor<?xbf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf16>
  %f = tensor.empty(%n) : tensor<?xbf16>
  %y:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf64>) outs(%e, %f : tensor<?xf16>, tensor<?xbf16>) {
  ^bb0(%in: f64, %0: f16, %1: bf16):
    %2 = arith.truncf %in : f64 to f16
    %3 = arith.truncf %in : f64 to bf16
    linalg.yield %2, %3 : f16, bf16
  } -> (tensor<?xf16>, tensor<?xbf16>)
  return %y#0, %y#1 : tensor<?xf16>, tensor<?xbf16>
}
