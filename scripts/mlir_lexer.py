"""A Pygments lexer for the MLIR code on the documentation site; Pygments itself has none."""

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

__all__ = ["MlirLexer"]


class MlirLexer(RegexLexer):
    name, aliases, filenames = "MLIR", ["mlir"], ["*.mlir"]
    tokens = {"root": [
        (r"\s+", Text),
        (r"//.*", Comment.Single),
        (r'"(?:\\.|[^"\\])*"', String.Double),
        (r"%[\w.$:#-]+", Name.Variable),
        (r"@[\w.$-]+", Name.Function),
        (r"\^[\w.$-]+", Name.Label),
        (r"[#!][\w.$]+", Name.Decorator),
        (r"(?:tensor|memref|vector|index|none|[fiu]\d+|bf16|[su]i\d+)\b", Keyword.Type),
        (r"(?<=[\dx?<])x(?=[\w?!])", Punctuation),
        (r"-?\d+\.\d*(?:[eE][+-]?\d+)?|-?\d+", Number),
        (r"(?:func|return|module|attributes|ins|outs|to|floordiv|mod|align|true|false|dense|loc)\b(?!\.)", Keyword),
        (r"[A-Za-z_][\w$]*(?:\.[\w$]+)+", Name.Builtin),
        (r"[A-Za-z_][\w$]*", Name),
        (r"->|[=+*]", Operator),
        (r".", Punctuation),
    ]}
