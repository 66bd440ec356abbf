"""Layouts of tensors for ML compilers: networks to try them on, tools around layout-opt."""
