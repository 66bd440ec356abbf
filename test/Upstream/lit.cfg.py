# The reproducers of docs/upstream: each fails when upstream has fixed the defect, and its check prefix then names the
# pass that can be removed. They run stock tools only.

import os

import lit.formats
import lit.llvm
import lit.util
from lit.llvm.subst import FindTool, ToolSubst

lit.llvm.initialize(lit_config, config)
from lit.llvm import llvm_config

config.name = "LAYOUT-Upstream"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.join(config.layout_src_root, "docs", "upstream")
config.test_exec_root = os.path.join(config.layout_obj_root, "test", "Upstream")
config.substitutions.append(("%layout_src_root", config.layout_src_root))

# The suite above sets a time limit; this suite can run separately, too.
if lit_config.maxIndividualTestTimeIsSupported[0]:
    lit_config.maxIndividualTestTime = 300

llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.add_tool_substitutions(
    [ToolSubst("FileCheck", unresolved="fatal"), ToolSubst("not", unresolved="fatal"),
     ToolSubst("split-file", unresolved="fatal")]
    + [ToolSubst(name + "-22", command=FindTool(name), unresolved="fatal")
       for name in ("llc", "mlir-opt", "mlir-translate")],
    [config.llvm_tools_dir])
if lit.util.which("spirv-val", os.environ.get("PATH", "")):
    config.available_features.add("spirv-val")
