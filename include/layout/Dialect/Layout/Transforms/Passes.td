//===- Passes.td - Passes of the layout dialect ------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_TRANSFORMS_PASSES_TD
#define LAYOUT_DIALECT_LAYOUT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

defvar targetDescription =
    "an attribute such as `#layout.cpu<lanes = 16>`; the default is `layout.target` of the op that "
    "the pass runs on or of an enclosing op";

def SetTargetPass : Pass<"layout-set-target", "ModuleOp"> {
  let summary = "Set layout.target, and the parameters of the CPU that it does not state";
  let description = [{
    Records the target as the module attribute `layout.target`, from which all passes after it read
    the target. If it is a `#layout.cpu`, sets the parameters that it does not state to those of the
    processor `cpu`, unless they equal the defaults of the attribute. Does nothing without a target.

    ```mlir
    module attributes {layout.target = #layout.cpu<lanes = 16>} // before
    module attributes                                           // after, for `cpu=x86-64-v4`
        {layout.target = #layout.cpu<lanes = 16, vector_bits = 512, vector_registers = 32,
                                     two_source_permute_bytes = 2>}
    ```

    | processor | vectors | caches |
    |---|---|---|
    | `x86-64-v3` | AVX2, 256 bits | the defaults of `#layout.cpu` |
    | `x86-64-v4` | AVX-512 | the same |
    | `aarch64` | NEON, 128 bits | of a small core |
    | `neoverse-n1`, `neoverse-v1` | NEON, 128 bits | of a server |
    | `apple-m1` | NEON, 128 bits | lines of 128 bytes |
    | `host` | those of this machine | those of this machine |

    With `lowering`, for the passes to the LLVM dialect, the target becomes a `#layout.cpu`: on a
    mesh that of its devices. `#layout.cpu<lanes = 16>` replaces a target of another kind, whose
    layouts have been lowered, and a missing target.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Target of the layouts: ", targetDescription)>,
    Option<"cpu", "cpu", "std::string", /*default=*/"\"x86-64-v3\"",
           "The processor that code is generated for">,
    Option<"lowering", "lowering", "bool", /*default=*/"false",
           "Make the target a #layout.cpu, for the passes to the LLVM dialect">
  ];
}

def RemoveTargetPass : Pass<"layout-remove-target", "ModuleOp"> {
  let summary = "Remove layout.target";
  let description = [{
    Removes the module attribute `layout.target` after the last pass of a lowering that reads it, so
    that tools without this dialect can read the module.

    ```mlir
    module attributes {layout.target = #layout.cpu<lanes = 16>} // before
    module                                                      // after
    ```
  }];
}

def SolvePass : Pass<"layout-solve"> {
  let summary = "Choose a layout for every tensor with minimal total cost";
  let description = [{
    Chooses layouts that minimize the modeled cost of all ops and conversions, and writes the
    decision as attributes, which `layout-materialize` applies:

    * `layout.operand_layouts` and `layout.result_layouts` on an op have one entry per operand and
      result, `unit` if it is not a tensor. An op without them keeps its types;
    * `layout.argument_layouts` on an op with regions has one array per block, with one entry per
      argument;
    * `layout.assignment` on the op that the pass runs on holds the `cost`, the `conversion_cost`, a
      `lower_bound`, and, if constants are limited or have a cost, their bytes as `weight_bytes`. If
      the target measures memory, it also holds the peak of live bytes as `memory_bytes`;
    * `layout.target` on that op records the option `target`. The lowerings remove it.

    ```mlir
    // before
    %r = linalg.conv_2d_nchw_fchw ins(%x, %w : ..) outs(%f : ..)
    // after, for `target=#layout.cpu<lanes = 16>`
    %r = linalg.conv_2d_nchw_fchw {
        layout.operand_layouts = [#nchw, #channels_of_16, #channels_of_16],
        layout.result_layouts = [#channels_of_16]} ins(%x, %w : ..) outs(%f : ..)
    ```

    Remarks have the category `layout`:

    | kind | remarks | emitted for |
    |---|---|---|
    | passed | `Convert` | each conversion, with the ops that need it |
    | analysis | `Assignment`, `AssumedSize` | totals; the size of dynamic dims |
    | analysis | `OpaqueOp` | ops without a layout rule |
    | analysis | `StatedLayouts` | ops that cannot run in their types |
    | analysis, missed | `OtherImage`, `NoImage` | tensors whose image is too large |
    | missed | `ManyLayouts`, `NotProven` | dropped candidates; no proven optimum |

    Types that already have a layout are kept. An op that cannot run in them, e.g. a `tensor.pad` in
    front of blocked rows, is decided as if its types were row-major, and its tensors are converted
    from and to the layouts of their types. Layout attributes in the input are constraints. A
    constraint on one value holds for all values that control flow forces to have the same type.
    Constraints that contradict each other are an error that names both.

    Arguments and results of functions keep their types if other modules may call the function.
    Layouts are chosen for private functions and their calls, for public functions with the unit
    attribute `layout.flexible_abi`, and for values that pass through loops, branches and blocks.
    Costs in a loop are multiplied by its trip count. An op has a layout rule if it is elementwise
    or implements `LayoutOpInterface`.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Target of the layouts: ", targetDescription)>,
    Option<"maxConfigs", "max-configs", "unsigned", /*default=*/"12",
           "Maximum number of layout combinations per op on a CPU; other targets multiply it, e.g. "
           "OpenCL by 3, because the tensors of an op are chosen independently">,
    Option<"maxLayouts", "max-layouts", "unsigned", /*default=*/"6",
           "Maximum number of layouts per tensor to propagate from op to op on a CPU; other targets "
           "multiply it, e.g. OpenCL by 2">,
    Option<"maxTable", "max-table", "int64_t", /*default=*/"1 << 20",
           "Maximum table size of the exact solver in entries; larger problems use a search with "
           "bounds">,
    Option<"maxNodes", "max-nodes", "int64_t", /*default=*/"1 << 18",
           "Maximum number of search nodes of the search with bounds">,
    Option<"certificate", "certificate", "std::string", /*default=*/"",
           "Output file for the problem, its solution and a proof of the lower bound, which python "
           "-m layout_mlir.certify checks">,
    Option<"weightBudget", "weight-budget", "int64_t", /*default=*/"-1",
           "Maximum bytes of constants, each counted once per layout; -1 for no limit. On a mesh "
           "it is for one device and replaces the 'memory' of the target">,
    Option<"weightCost", "weight-cost", "unsigned", /*default=*/"0",
           "Cost of storing a byte of constants, in percent of the cost of moving a byte">,
    Option<"packingCost", "packing-cost", "unsigned", /*default=*/"0",
           "Cost of converting a constant, which happens once, in percent of the cost of the same "
           "conversion at run time">,
    Option<"costsFile", "costs", "std::string", /*default=*/"",
           "Input file with a price list: functions with one op or conversion each and its cost as "
           "`layout.cost`. Unlisted ops have the modeled cost, scaled to the unit of the list">,
    Option<"writeCostsFile", "write-costs", "std::string", /*default=*/"",
           "Output file for the costs that were used, as a price list">,
    Option<"objective", "objective", "::mlir::layout::Objective",
           /*default=*/"::mlir::layout::Objective::time",
           "Quantity to minimize",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::Objective::time, "time",
                          "The modeled time of ops and conversions"),
               clEnumValN(::mlir::layout::Objective::bytes, "bytes",
                          "The bytes moved by conversions; ops have no cost, but keep preferred "
                          "layouts, e.g. tiled channels"))}]>
  ];
}

def MaterializePass : Pass<"layout-materialize"> {
  let summary = "Apply a layout decision and insert layout.convert";
  let description = [{
    Sets the types of tensors to the layouts in `layout.operand_layouts` and `layout.result_layouts`
    of their ops, as `layout-solve` or a user wrote them, and removes the attributes. If a consumer
    needs another layout than the producer has, inserts a `layout.convert` after the producer, one
    per tensor and layout. Fresh storage (`tensor.empty`, and `linalg.fill` of it) is cloned for
    each layout instead. `layout-fold-converts` later folds conversions of constants.

    ```mlir
    // before
    %a = math.absf %x {layout.operand_layouts = [#columns],
                       layout.result_layouts = [#columns]} : tensor<6x8xf32>
    return %a : tensor<6x8xf32>
    // after
    %0 = layout.convert %x : tensor<6x8xf32> to tensor<6x8xf32, #columns>
    %a = math.absf %0 : tensor<6x8xf32, #columns>
    %1 = layout.convert %a : tensor<6x8xf32, #columns> to tensor<6x8xf32>
    return %1 : tensor<6x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::layout::LayoutDialect"];
}

def PrintCostPass : Pass<"layout-print-cost"> {
  let summary = "Print the costs of layout.convert and of other ops";
  let description = [{
    Prints what the layouts in the types cost, e.g. after `layout-materialize`: a table with a row
    for every `layout.convert`: its location, both layouts, the shape, the storage spaces if they
    are not both linear memory, the bytes read and written, the cost on the target, and the ops that
    produce and need the tensor. Conversions of constants have a table of their own, because they
    happen at compile time. The end has the total cost of all other ops that compute or move
    elements (`format=json` lists it by op), and the lower bound of `layout-solve`.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Target of the costs: ", targetDescription)>,
    Option<"format", "format", "::mlir::layout::CostFormat",
           /*default=*/"::mlir::layout::CostFormat::text",
           "`text` or `json`",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::CostFormat::text, "text",
                          "Readable text"),
               clEnumValN(::mlir::layout::CostFormat::json, "json",
                          "JSON"))}]>,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "Output file, - for standard output">
  ];
}

def PrintGraphPass : Pass<"layout-print-graph"> {
  let summary = "Print the program as a Graphviz graph, colored by layout";
  let description = [{
    Prints a graph for Graphviz's `dot`. Boxes are ops in the color of the layout of their result,
    and arrows are tensors. Octagons are conversions, with the bytes read and written and the ops
    that need them; conversions that move bytes are red. Frames are regions. A legend lists the
    layouts and their colors; row-major is grey.

    A chain of ops in one layout, each of which reads only the op before it, is one box with the
    number of ops and the source names of the first and last op. If there are more than `max-boxes`
    boxes, connected ops in one layout share a box. If there are still too many, all ops that are
    connected without moving bytes share a box. Ops without cost are hidden: constants, fresh
    storage and its fills, destinations that are not read, and sizes.

    ```sh
    layout-opt net.mlir --layout-assign --layout-print-graph=output=net.dot
    dot -Tsvg net.dot > net.svg
    ```

    Elements of the SVG have the box number as id and the layout number as class. `format=json`
    prints the same boxes with their ops, tensors, canonical maps, and the rows of
    `layout-print-cost`.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Target of the conversion plans: ", targetDescription)>,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "Output file, - for standard output">,
    Option<"format", "format", "::mlir::layout::GraphFormat",
           /*default=*/"::mlir::layout::GraphFormat::dot",
           "`dot` or `json`",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::GraphFormat::dot, "dot",
                          "A graph for Graphviz"),
               clEnumValN(::mlir::layout::GraphFormat::json, "json",
                          "JSON"))}]>,
    Option<"maxBoxes", "max-boxes", "unsigned", /*default=*/"200",
           "Maximum number of boxes; beyond it, connected ops share one">
  ];
}

def PrintRulesPass : Pass<"layout-print-rules"> {
  let summary = "Print the layout rule of each op";
  let description = [{
    Prints one line per op with tensors: the layout rule of the op, which the solver, the cost model
    and the verifier use. The operands and results are in terms of the loops of the op;
    docs/rules.md explains the notation.

    ```
    func.func @main blocks (fixed, fixed)
      %0 = tensor.empty any layout
      %1 = linalg.matmul ([i, k], [k, j], [i, j]) -> [i, j], loops i=4 j=8 k=16, reduces k, tiles i j k, 2 ops per point
      %2 = tensor.collapse_shape view (d0, d1) -> (d0 * 8 + d1)
      %3 = tensor.splat keeps its types: it has no LayoutOpInterface and is not elementwise
      func.return (fixed)
    ```

    The pass chooses no layouts, so it needs no target. The IR does not change.
  }];
  let options = [
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "Output file, - for standard output">
  ];
}

def PrintStrategiesPass : Pass<"layout-print-strategies"> {
  let summary = "Compare the cost of the optimum with simple heuristics";
  let description = [{
    Prints a table of the cost of the program, the number of conversions that move bytes, and the
    bytes that they move at run time, for several ways to choose layouts. All use the same costs.
    The heuristics choose among the same candidates as the optimum, but ops with a preferred layout,
    e.g. with tiled channels, always get it.

    | strategy | layouts |
    |---|---|
    | `optimum` | as `layout-solve` decides |
    | `as-typed` | all types stay |
    | `forward` | follow the first operand |
    | `priority` | spread from the ops with preferences |
    | `rank` | lower the ranks of converted tensors |
    | `majority` | follow most neighbors |
    | `bidirectional` | follow the first operand, then the consumers |
    | `greedy` | each op chooses alone, and conversions are not shared |

    Run it instead of `layout-solve`, on IR without layout attributes. The IR does not change.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Target of the costs: ", targetDescription)>,
    Option<"format", "format", "::mlir::layout::CostFormat",
           /*default=*/"::mlir::layout::CostFormat::text",
           "`text` or `json`",
           [{::llvm::cl::values(
               clEnumValN(::mlir::layout::CostFormat::text, "text",
                          "Readable text"),
               clEnumValN(::mlir::layout::CostFormat::json, "json",
                          "JSON"))}]>,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "Output file, - for standard output">
  ];
}

def CanonicalizeLayoutsPass : Pass<"layout-canonicalize"> {
  let summary = "Replace every layout by its canonical form";
  let description = [{
    Replaces every layout in a type by the `#layout.map` with the same map from indices to
    positions, and a row-major layout by no encoding, so that types with equal maps are equal
    (docs/spec.md, rule L5). Visits types of values, functions and constants, and types inside
    attributes. No element moves.

    ```mlir
    // before
    tensor<2x17x3x5xf32, #layout.blocked<"NCHW" to "NCHW16c">>
    // after
    tensor<2x17x3x5xf32, #layout.map<(d0, d1, d2, d3) ->
        buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>>
    ```

    With `keep-families`, `#layout.npu_scatter` and `#layout.mesh` stay, because the lowerings to an
    NPU and to MPI read their parameters, which a map does not have. The layout `local` inside of a
    `#layout.mesh` becomes canonical.
  }];
  let options = [
    Option<"keepFamilies", "keep-families", "bool", "false",
           "Keep #layout.npu_scatter and #layout.mesh, which lowerings need">,
  ];
}

def FoldConvertsPass : Pass<"layout-fold-converts"> {
  let summary = "Remove redundant layout.convert ops";
  let description = [{
    Folds chains of `layout.convert`, conversions that the next one undoes, the second of two equal
    conversions, and conversions of constants, of fresh storage and of filled tensors, which get the
    new type instead. Constants are packed when they are lowered.

    ```mlir
    // before
    %0 = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #a>
    %1 = layout.convert %0 : tensor<3x5xf32, #a> to tensor<3x5xf32>
    %c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
    %2 = layout.convert %c : tensor<2x2xi8> to tensor<2x2xi8, #a>
    // after; %x replaces %1
    %2 = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8, #a>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def VerifyLayoutsPass : Pass<"layout-verify"> {
  let summary = "Prove that every layout is valid and every layout rule holds";
  let description = [{
    Run it after a pass that changes layouts. Verifies each type with a layout again, because passes
    build types unchecked: the layout must map every index of the shape, and no two indices to one
    position (docs/spec.md, rules L1 and L2). Verifies each op against its layout rule: the loops of
    a structured op must run over mixed-radix digits of indices that all its operands store, a view
    must have the storage of its source (rule L7), and a pad or slice must keep whole tiles. If a
    proof fails, the error has the op, the layout and the way out. The IR does not change.

    For OpenCL devices and NPUs, only the rules of views, meshes and memory are checked, because
    their kernels address each element of each tensor by its own map.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           !strconcat("Target of the layouts, if there is one: ",
                      targetDescription)>
  ];
}

#endif // LAYOUT_DIALECT_LAYOUT_TRANSFORMS_PASSES_TD
