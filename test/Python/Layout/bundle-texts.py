# RUN: %python %s
"""Changes the texts of all formats at random: a text is refused with a reason, or its bundle prints and parses back."""

import random
import re
import unittest

from layout_mlir import Bundle, LayoutError

SHAPES = ((64, 256), (1, 1), (3, 33), (0, 5), (6144, 4096))
NUMBERS = (0, 1, 2, 3, 4, 7, 8, 32, 256, 2**31, 2**63 - 1, 2**63, 10**30)


def change(tokens, words, rng):
    """Changes one token after the name of the attribute."""
    if rng.random() < 0.7:
        at = rng.choice([i for i, token in enumerate(tokens) if token.isdigit()])
        near = max(0, int(tokens[at]) + rng.choice((-1, 1, 2, 8, 16)))
        tokens[at] = str(rng.choice((near, near, rng.choice(NUMBERS))))
        return
    at = rng.randrange(5, len(tokens))
    tokens[at:at + 1] = rng.choice(([], [rng.choice(words)], [tokens[at], rng.choice(words)]))


class Texts(unittest.TestCase):
    def test_changed_texts(self):
        rng = random.Random(20261130)
        texts = [str(Bundle(name).expand()) for name in Bundle.formats()]
        words = re.findall(r"\w+|[^\w\s]", " ".join(texts))
        counts = {"refused": 0, "parsed": 0, "valid": 0}
        for _ in range(800):
            tokens = re.findall(r"\w+|[^\w\s]|\s+", rng.choice(texts))
            for _ in range(rng.choice((1, 1, 2, 4))):
                change(tokens, words, rng)
            text = "".join(tokens)
            with self.subTest(text=text):
                try:
                    bundle = Bundle(text)
                except LayoutError as error:
                    self.assertTrue(str(error))
                    counts["refused"] += 1
                    continue
                counts["parsed"] += 1
                self.assertEqual(Bundle(str(bundle)), bundle)
                shape = rng.choice(SHAPES)
                try:
                    bundle.check(shape)
                except LayoutError as error:
                    self.assertTrue(str(error))
                    continue
                counts["valid"] += 1
                self.assertIs(0 in shape or bundle.is_injective(shape), True)
        self.assertGreater(min(counts.values()), 100, counts)


if __name__ == "__main__":
    unittest.main()
