# REQUIRES: c-api
# RUN: %python %s
"""Checks the problems that were captured from other compilers: the checker accepts a proof of each optimum, and the
conversions of the answers, counted here from the text of the files, cost what the solver says."""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

from layoutbench.captured import Captured, list_problems

# The bytes of the compiler's own answer and the fewest.
KNOWN = {"onnxruntime-unet": (114819072, 51904512), "onnxruntime-resnet50": (16384, 16384),
         "openvino-inception_v1": (11195904, 10076160), "triton-matmul_residual": (198656, 133120),
         "iree-bert_base": (207619072, 188744704), "mlir-mobilenet_v3": (2897952, 2423840),
         "executorch-vit_b16": (29184, 8192), "executorch-swin_t": (450560, 229376),
         "dtensor-llama_weights": (1553989632, 150994944), "dtensor-llama_tensor": (150994944, 150994944),
         "inductor-bert_base": (0, 0), "inductor-swin_t": (196608, 196608), "xla-resnet50": (114688, 98304)}


class Defined:
    """A problem by the definition of its format, apart from the program that reads it."""

    def __init__(self, path):
        self.given = json.loads(path.read_text())
        self.ops = self.given["ops"]

    def price(self, tensor, source, target):
        layouts, *table = self.given["classes"][self.given["tensors"][tensor]]
        names = [layout for layout, _ in layouts]
        if source not in names or target not in names:
            return float("inf")
        x, y = names.index(source), names.index(target)
        return table[0][x][y] if table else layouts[x][1] + layouts[y][1]

    def evaluate(self, values):
        made, wanted = {}, set()
        for (_, rule, _, operands, results), value in zip(self.ops, values, strict=True):
            layouts = self.given["rules"][rule][value]
            made.update(zip(results, layouts[len(operands):]))
            wanted.update(zip(operands, layouts))
        return sum(self.price(tensor, made[tensor], layout) for tensor, layout in wanted if made[tensor] != layout)


class CapturedProblems(unittest.TestCase):
    def test_answers(self):
        paths, answers = list_problems(), {}
        self.assertEqual(len(paths), 64)
        for path in paths:
            with self.subTest(path.stem):
                captured, defined = Captured(path), Defined(path)
                chosen = [chosen for _, _, chosen, _, _ in defined.ops]
                answer = captured.make_problem().solve(certify=True)
                answers[path.stem] = answer
                self.assertTrue(answer.proven)
                self.assertEqual(defined.evaluate(answer.assignment), answer.cost)
                self.assertEqual(defined.evaluate(chosen), captured.sum_prices(captured.find_conversions(chosen)))
                self.assertLessEqual(answer.cost, defined.evaluate(chosen))
                if path.stem in KNOWN:
                    self.assertEqual((defined.evaluate(chosen), answer.cost), KNOWN[path.stem])
                draw = random.Random(1)
                for _ in range(20):  # no single change makes the answer better
                    op = draw.randrange(len(defined.ops))
                    values = answer.assignment.tolist()
                    values[op] = draw.randrange(len(defined.given["rules"][defined.ops[op][1]]))
                    self.assertGreaterEqual(defined.evaluate(values), answer.cost)
        self.assertLessEqual(KNOWN.keys(), answers.keys())
        self.check_certificates(answers)

    def check_certificates(self, answers):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, name) for name in answers]
            for path, answer in zip(paths, answers.values()):
                path.write_text(answer.certificate)
            said = subprocess.run([sys.executable, "-m", "layout_mlir.certify", *paths], capture_output=True, text=True,
                                  check=True).stdout.splitlines()
        for line, (name, answer) in zip(said, answers.items(), strict=True):
            self.assertIn(f"{name}: accepted, cost {answer.cost}, at least {answer.cost}", line)


if __name__ == "__main__":
    unittest.main()
