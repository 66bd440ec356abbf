"""Lowers and runs programs of linalg ops on a CPU, for tests that compare them with numpy."""

import numpy as np

from layout_mlir.tools import run_tool


def tensor(shape, element="f32"):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def generic(name, maps, loops, ins, out, body):
    """Returns a linalg.generic; `ins` and `out` are typed values, and the body names the elements %a0, %a1, .. and
    %s."""
    operands, types = ", ".join(each for each, _ in ins), ", ".join(each for _, each in ins)
    block = ", ".join(f"%a{i}: {each.rstrip('>').split('x')[-1]}" for i, (_, each) in enumerate(ins))
    return f"""  {name} = linalg.generic {{indexing_maps = [{', '.join(f'affine_map<{each}>' for each in maps)}],
      iterator_types = [{', '.join(f'"{each}"' for each in loops)}]}}
      ins({operands} : {types}) outs({out[0]} : {out[1]}) {{
  ^bb0({block}, %s: {out[1].rstrip('>').split('x')[-1]}):
{body}
  }} -> {out[1]}
"""


class Program:
    """A function with one result, and its inputs, in files of `folder`."""

    def __init__(self, folder, text, inputs):
        self.module, self.code, self.result = (folder / name for name in ("module.mlir", "code.mlir", "result.npy"))
        self.module.write_text(text)
        self.inputs = []
        for i, array in enumerate(inputs):
            self.inputs.append(f"--input={folder / f'{i}.npy'}")
            np.save(folder / f"{i}.npy", array)

    def lower(self, options):
        """Lowers the function with options of layout-linalg-to-llvm."""
        run_tool("layout-opt", self.module, f"--layout-linalg-to-llvm={options}", "-o", self.code)

    def run(self, *options):
        """Runs the last lowered function with options of layout-run and returns its result."""
        run_tool("layout-run", self.code, *self.inputs, f"--output={self.result}", *options)
        return np.load(self.result)
