"""./dev bench --vectorize: the CPU kernels of this project compared with upstream's tile-and-vectorize.

Upstream's side is a schedule of the transform dialect: tile and fuse the parallel loops, tile the reductions by 1, drop
loops with one iteration, vectorize, keep the accumulators in registers (`--loop-invariant-subset-hoisting`), and lower
contractions to outer products. The schedule requires tile sizes: several are tried per kernel, and the fastest is
measured. This project's kernels choose their tiles by a model. Fusion of elementwise ops, fused multiply-adds, buffers,
the LLVM pipeline, and 32 registers of 512 bits are the same on both sides. Both run alternately in one process on the
same inputs, and their results are compared.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile

from layout_mlir.tools import ToolError, run_tool, whole_file

from .kernels import KERNELS, make_inputs

REGISTERS = "target={#layout.cpu<lanes = 16, vector_bits = 512, vector_registers = 32>}"
SECONDS = 60

_CHANNELS = [(1, blocks, 1, pixels, 16)
             for blocks, pixels in ((1, 14), (1, 28), (2, 7), (2, 14), (4, 4), (4, 7))]
_STRIDED = [(1, blocks, 1, 1, 16) for blocks in (1, 2, 4)]
_PLAIN = [(1, channels, 1, pixels)
          for channels, pixels in ((4, 14), (8, 14), (4, 28), (8, 28), (4, 56), (8, 8), (16, 8))]
_MATRIX = [(4, 32), (8, 32), (4, 64), (16, 16), (8, 16), (2, 64)]

# For each kernel the tile sizes of the parallel loops to try, and those of the reductions; 0 is no tile. Tiles divide
# the extents, because remainders would not be vectorized.
TILES = {
    "conv1x1_blocked": (_CHANNELS, (1, 0, 0, 1)),
    "conv1x1_nchw": (_PLAIN, (1, 0, 0)),
    "conv3x3_7x7_blocked": ([(1, blocks, 1, 7, 16) for blocks in (1, 2, 4)], (1, 1, 1, 1)),
    "conv3x3_7x7_nchw": ([(1, channels, 1, 7) for channels in (2, 4, 8, 16)], (1, 1, 1)),
    "conv3x3_bias_relu_blocked": (_CHANNELS, (1, 1, 1, 1)),
    "conv3x3_blocked": (_CHANNELS, (1, 1, 1, 1)),
    "conv3x3_masked": (_CHANNELS, (1, 1, 1, 1)),
    "conv3x3_nchw": (_PLAIN, (1, 1, 1)),
    "conv3x3s2_blocked": (_STRIDED, (1, 1, 1, 1)),
    "conv3x3s2_nchw": ([(1, channels, 1, 1) for channels in (4, 8, 16, 32)], (1, 1, 1)),
    "conv7x7_first_layer": (_STRIDED, (1, 1, 1)),
    "depthwise3x3_blocked": (_CHANNELS, (1, 1)),
    "matmul_1x2048x1000": ([(1, n) for n in (40, 100, 200, 250, 500)], (1,)),
    "matmul_128x768x3072": (_MATRIX, (1,)),
    "matmul_512": (_MATRIX, (1,)),
    "matmul_512_blocked": ([(m, n, 16) for m, n in ((4, 1), (8, 1), (16, 1), (4, 2), (8, 2), (4, 4))],
                           (1,)),
    "maxpool3x3s2_blocked": (_STRIDED, (1, 1)),
    "pack_nchw16c": ([(1, 1, 1, 8, 8), (1, 1, 1, 8, 16), (1, 1, 1, 14, 16)], ()),
    "transpose_1024": ([(8, 8), (16, 16), (32, 32)], ()),
    "unpack_nchw16c": ([(1, 1, 8, 1, 8), (1, 1, 16, 1, 8), (1, 1, 16, 1, 14)], ()),
}

# The elementwise op after the reduction is tiled, and the reduction is fused into it.
FUSED = ("conv3x3_bias_relu_blocked",)

_SCHEDULE = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @tile(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.generic"]} attributes{iterator_types = [ITERATORS]} in %root
        : (!transform.any_op) -> !transform.any_op
    CONSUMER
    %tiled, %loops:NUM_LOOPS = transform.structured.fuse %LAST tile_sizes [PARALLEL] {apply_cleanup}
        : (!transform.any_op) -> (LOOP_TYPES)
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %func {
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    %fused = transform.structured.match ops{["linalg.generic"]} attributes{iterator_types = [ITERATORS]} in %func
        : (!transform.any_op) -> !transform.any_op
    REDUCE
    transform.apply_patterns to %func {
      transform.apply_patterns.linalg.fold_unit_extent_dims_via_slices
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    %ops = transform.structured.match ops{["linalg.generic"]} in %func : (!transform.any_op) -> !transform.any_op
    transform.structured.vectorize %ops : !transform.any_op
    transform.apply_patterns to %func {
      transform.apply_patterns.vector.reduction_to_contract
      transform.apply_patterns.vector.transfer_permutation_patterns
      transform.apply_patterns.vector.sink_ops
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    transform.yield
  }
  transform.named_sequence @lower(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %func {
      transform.apply_patterns.vector.lower_contraction lowering_strategy = outerproduct
      transform.apply_patterns.vector.lower_outerproduct
      transform.apply_patterns.vector.lower_multi_reduction lowering_strategy = innerparallel
      transform.apply_patterns.vector.lower_transpose lowering_strategy = eltwise
      transform.apply_patterns.vector.lower_shape_cast
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    transform.yield
  }
}
"""


def write_schedule(parallel, reductions, has_consumer):
    def types(number):
        return ", ".join(["!transform.any_op"] * number)

    def sizes(*tiles):
        return ", ".join(str(size) for tile in tiles for size in tile)

    loops, inner = sum(map(bool, parallel)), sum(map(bool, reductions))
    reduce = (f"%r, %rl:{inner} = transform.structured.tile_using_for %fused tile_sizes "
              f"[{sizes([0] * len(parallel), reductions)}] : (!transform.any_op) -> "
              f"({types(inner + 1)})") if inner else ""
    iterators = [f"#linalg.iterator_type<{kind}>"
                 for kind in ["parallel"] * len(parallel) + ["reduction"] * len(reductions)]
    consumer = ("%consumer = transform.get_consumers_of_result %op[0] : (!transform.any_op) -> "
                "!transform.any_op")
    values = {"CONSUMER": consumer if has_consumer else "",
              "LAST": "consumer" if has_consumer else "op", "ITERATORS": ", ".join(iterators), "NUM_LOOPS": str(loops), "REDUCE": reduce,
              "PARALLEL": sizes(parallel, [0] * (0 if has_consumer else len(reductions))), "LOOP_TYPES": types(loops + 1)}
    return re.sub("|".join(values), lambda name: values[name[0]], _SCHEDULE)


def lower_upstream(path, tiles, out):
    """Tiles and vectorizes one kernel; raises ToolError if upstream rejects the schedule."""
    schedule, source = out.with_suffix(".schedule.mlir"), out.with_suffix(".source.mlir")
    schedule.write_text(write_schedule(*tiles, path.stem in FUSED))
    # Corresponds to `contract-fma` of this project's kernels.
    source.write_text(re.sub(r"(arith\.(?:mulf|addf) %\w+, %\w+) :", r"\1 fastmath<contract> :",
                             path.read_text()))
    run_tool("layout-opt", source, "--layout-cpu-lower-pack-pad-concat", "--linalg-generalize-named-ops",
             "--linalg-fuse-elementwise-ops", "--canonicalize",
             f"--transform-preload-library=transform-library-paths={schedule}",
             "--transform-interpreter=entry-point=tile", "--canonicalize", "--cse",
             "--loop-invariant-subset-hoisting", "--canonicalize", "--loop-invariant-code-motion",
             "--transform-interpreter=entry-point=lower", "--canonicalize", "--cse",
             "--layout-linalg-to-llvm=emit-kernels=false", "-o", out, seconds=SECONDS)


def run(modules, inputs, repeat, folder):
    """Returns the output of layout-run for each module; the modules run alternately."""
    runs = folder / "runs.json"
    run_tool("layout-run", *modules, "--function=kernel", *[f"--input={x}" for x in inputs],
             "--threads=1", "--warmup=2", f"--repeat={repeat}", "--compare", "--max-rel=1e-4",
             f"--json={runs}", seconds=4 * SECONDS)
    return [json.loads(line) for line in runs.read_text().splitlines()]


def measure(path, repeat, folder):
    """Returns the row of one kernel: this project's kernel and the fastest of upstream's tiles."""
    inputs = make_inputs(path, folder)
    ours = folder / "ours.mlir"
    run_tool("layout-opt", path, f"--layout-linalg-to-llvm={REGISTERS}", "-o", ours)
    tried, (parallel, reductions) = [], TILES[path.stem]
    for number, tile in enumerate(parallel):
        module = folder / f"upstream{number}.mlir"
        try:
            lower_upstream(path, (tile, reductions), module)
            probe, _ = run([module, ours], inputs, 5, folder)
            tried.append((probe["run_min_seconds"], tile, module))
        except ToolError as error:
            print(f"{path.stem}, tile {tile}: {str(error).splitlines()[-1]}", file=sys.stderr)
    if not tried:
        raise ToolError("upstream vectorizes none of the tiles")
    _, tile, module = min(tried)
    upstream, own = run([module, ours], inputs, repeat, folder)
    return {"kernel": path.stem, "tile": tile, "tiles_tried": len(tried),
            "upstream_seconds": upstream["run_median_seconds"],
            "seconds": own["run_median_seconds"], "speedup": own["speedup"],
            "difference": own["differences"][0]["max_rel"]}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench --vectorize", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only kernels whose name contains this")
    parser.add_argument("--repeat", type=int, default=50, help="timed runs of a kernel")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    names = [name for name in TILES if args.only in name]
    if not names:
        parser.error(f"no kernel matches '{args.only}'")
    print(f"{'kernel':<28}{'upstream ms':>12}{'ms':>9}{'speedup':>9}{'difference':>12}  tile of upstream")
    rows, failed = [], False
    for name in names:
        with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
            try:
                row = measure(KERNELS / f"{name}.mlir", args.repeat, pathlib.Path(scratch))
            except ToolError as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed = True
                continue
        rows.append(row)
        print(f"{name:<28}{row['upstream_seconds'] * 1e3:>12.3f}{row['seconds'] * 1e3:>9.3f}"
              f"{row['speedup']:>9.2f}{row['difference']:>12.2g}  {'x'.join(map(str, row['tile']))} "
              f"of {row['tiles_tried']}", flush=True)
    print("\nMedians; the speedup is the median over pairs of runs.")
    if args.json:
        with whole_file(args.json) as file:
            file.write(json.dumps({"registers": REGISTERS, "rows": rows}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
