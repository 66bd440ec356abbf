"""Errors of imports, of ONNX and of StableHLO."""


class ImportFailed(RuntimeError):
    """The model cannot be imported; the message says why and what to do."""


def explain_missing(error: ImportError, extra: str) -> ImportFailed:
    """Returns what to raise if packages cannot be imported that an extra of pyproject.toml lists."""
    return ImportFailed(f"{error}: pip install 'layout-mlir[{extra}]' brings it")
