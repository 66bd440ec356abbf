"""Kernels in Triton of the kinds that its users write. KERNELS has the types of arguments, and the constants."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, width: tl.constexpr, rows: tl.constexpr, block: tl.constexpr):
    """Softmax of several rows at once."""
    at = tl.program_id(0) * rows + tl.arange(0, rows)
    columns = tl.arange(0, block)
    places = at[:, None] * width + columns[None, :]
    mask = columns[None, :] < width
    values = tl.load(x + places, mask=mask, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 1)[:, None])
    tl.store(y + places, powers / tl.sum(powers, 1)[:, None], mask=mask)


@triton.jit
def layer_norm(x, scale, shift, y, means, width: tl.constexpr, rows: tl.constexpr, block: tl.constexpr):
    at = tl.program_id(0) * rows + tl.arange(0, rows)
    columns = tl.arange(0, block)
    mask = columns < width
    places = at[:, None] * width + columns[None, :]
    values = tl.load(x + places, mask=mask[None, :], other=0.0)
    mean = tl.sum(values, 1) / width
    centered = tl.where(mask[None, :], values - mean[:, None], 0.0)
    variance = tl.sum(centered * centered, 1) / width
    result = centered * tl.rsqrt(variance + 1e-5)[:, None]
    result = result * tl.load(scale + columns, mask=mask)[None, :] + tl.load(shift + columns, mask=mask)[None, :]
    tl.store(y + places, result, mask=mask[None, :])
    tl.store(means + at, mean)


@triton.jit
def layer_norm_backward(dy, x, scale, dx, dscale, means, rstds, width: tl.constexpr, rows: tl.constexpr,
                        block: tl.constexpr):
    at = tl.program_id(0) * rows + tl.arange(0, rows)
    columns = tl.arange(0, block)
    mask = (columns < width)[None, :]
    places = at[:, None] * width + columns[None, :]
    given = tl.load(dy + places, mask=mask, other=0.0)
    rstd = tl.load(rstds + at)[:, None]
    normal = (tl.load(x + places, mask=mask, other=0.0) - tl.load(means + at)[:, None]) * rstd
    scaled = given * tl.load(scale + columns, mask=columns < width, other=0.0)[None, :]
    first, second = tl.sum(normal * scaled, 1) / width, tl.sum(scaled, 1) / width
    tl.store(dx + places, (scaled - (normal * first[:, None] + second[:, None])) * rstd, mask=mask)
    tl.atomic_add(dscale + columns, tl.sum(given * normal, 0), mask=columns < width)


@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    left, right = a + rows[:, None] * k + depth[None, :], b + depth[:, None] * n + columns[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, k, K):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += K
        right += K * n
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


@triton.jit
def matmul_residual(a, b, bias, residual, c, sums, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A product with bias, GELU and a residual, and the sums of its rows."""
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    left, right = a + rows[:, None] * k + depth[None, :], b + depth[:, None] * n + columns[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, k, K):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += K
        right += K * n
    places = rows[:, None] * n + columns[None, :]
    total += tl.load(bias + columns)[None, :]
    total = total * 0.5 * (1 + tl.erf(total * 0.70710678)) + tl.load(residual + places).to(tl.float32)
    tl.store(sums + rows, tl.sum(total, 1))
    tl.store(c + places, total.to(tl.float16))


@triton.jit
def dequantized_matmul(a, b, scales, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A product with a right operand of int8, scaled by column and group."""
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    left, right = a + rows[:, None] * k + depth[None, :], b + depth[:, None] * n + columns[None, :]
    total = tl.zeros((M, N), tl.float32)
    for step in range(0, k // K):
        weights = tl.load(right).to(tl.float16) * tl.load(scales + step * n + columns)[None, :]
        total = tl.dot(tl.load(left), weights, total)
        left += K
        right += K * n
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


@triton.jit
def attention(q, k, v, out, scale, tokens, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Attention with a causal mask, which keeps the largest score and the sum of each row."""
    head = tl.program_id(1) * tokens * D
    rows, columns, depth = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    queries = tl.load(q + head + rows[:, None] * D + depth[None, :])
    largest, sums = tl.full((M,), -float("inf"), tl.float32), tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for start in range(0, tokens, N):
        keys = tl.load(k + head + (start + columns)[None, :] * D + depth[:, None])
        scores = tl.dot(queries, keys) * scale
        scores = tl.where(rows[:, None] >= (start + columns)[None, :], scores, -float("inf"))
        higher = tl.maximum(largest, tl.max(scores, 1))
        powers, factor = tl.exp2(scores - higher[:, None]), tl.exp2(largest - higher)
        sums, largest = sums * factor + tl.sum(powers, 1), higher
        values = tl.load(v + head + (start + columns)[:, None] * D + depth[None, :])
        total = tl.dot(powers.to(tl.float16), values, total * factor[:, None])
    tl.store(out + head + rows[:, None] * D + depth[None, :], (total / sums[:, None]).to(tl.float16))


@triton.jit
def attention_backward(q, k, v, grad, rows_max, deltas, dk, dv, scale, tokens, M: tl.constexpr, N: tl.constexpr,
                       D: tl.constexpr):
    """The gradients of keys and values."""
    head = tl.program_id(1) * tokens * D
    columns, depth, each = tl.program_id(0) * N + tl.arange(0, N), tl.arange(0, D), tl.arange(0, M)
    places = head + columns[:, None] * D + depth[None, :]
    keys, values = tl.load(k + places), tl.load(v + places)
    keys_total, values_total = tl.zeros((N, D), tl.float32), tl.zeros((N, D), tl.float32)
    for start in range(0, tokens, M):
        rows = start + each
        queries = tl.load(q + head + rows[None, :] * D + depth[:, None])
        powers = tl.exp2(tl.dot(keys, queries) * scale - tl.load(rows_max + rows)[None, :])
        given = tl.load(grad + head + rows[:, None] * D + depth[None, :])
        values_total = tl.dot(powers.to(tl.float16), given, values_total)
        change = powers * (tl.dot(values, tl.trans(given)) - tl.load(deltas + rows)[None, :])
        keys_total = tl.dot(change.to(tl.float16), tl.trans(queries), keys_total)
    tl.store(dv + places, values_total.to(tl.float16))
    tl.store(dk + places, (keys_total * scale).to(tl.float16))


@triton.jit
def transpose(x, y, m: tl.constexpr, n: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    tile = tl.load(x + rows[:, None] * n + columns[None, :])
    tl.store(y + columns[:, None] * m + rows[None, :], tl.trans(tile))


_ROWS = {"width": 1000, "rows": 4, "block": 1024}
_TILE = {"M": 128, "N": 128, "K": 32}
_HEADS = {"M": 128, "N": 64, "D": 64}
KERNELS = {
    softmax: ("*fp32 *fp32", _ROWS),
    layer_norm: ("*fp32 *fp32 *fp32 *fp32 *fp32", _ROWS),
    layer_norm_backward: ("*fp32 *fp32 *fp32 *fp32 *fp32 *fp32 *fp32", _ROWS),
    matmul: ("*fp16 *fp16 *fp16 i32 i32 i32", _TILE),
    matmul_residual: ("*fp16 *fp16 *fp32 *fp16 *fp16 *fp32 i32 i32 i32", _TILE),
    dequantized_matmul: ("*fp16 *i8 *fp16 *fp16 i32 i32 i32", _TILE),
    attention: ("*fp16 *fp16 *fp16 *fp16 fp32 i32", _HEADS),
    attention_backward: ("*fp16 *fp16 *fp16 *fp16 *fp32 *fp32 *fp16 *fp16 fp32 i32", _HEADS),
    transpose: ("*fp16 *fp16", {"m": 4096, "n": 4096, "M": 64, "N": 64}),
}


def compile_kernel(kernel):
    """Returns the GPU dialect's IR of a kernel for CUDA of compute capability 8.0, without a GPU."""
    types, constants = KERNELS[kernel]
    names = kernel.arg_names
    signature = dict(zip(names, types.split())) | dict.fromkeys(constants, "constexpr")
    # Pointers and sizes are multiples of 16, as for tensors of usual sizes.
    aligned = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(names)
               if signature[name].startswith("*") or signature[name] == "i32"}
    source = triton.compiler.ASTSource(kernel, signature, constants, aligned)
    return triton.compile(source, target=triton.backends.compiler.GPUTarget("cuda", 80, 32)).asm["ttgir"]
