# The GoogleTest programs; each case is a test.

import os

import lit.formats

config.name = "LAYOUT-Unit"
config.suffixes = []
config.excludes = ["CMakeFiles"]
config.test_source_root = os.path.join(config.layout_obj_root, "test", "Unit")
config.test_exec_root = config.test_source_root
config.test_format = lit.formats.GoogleTest(".", "Tests")

# The suite above sets a time limit; this suite can run separately, too.
if lit_config.maxIndividualTestTimeIsSupported[0]:
    lit_config.maxIndividualTestTime = 300

for name in ("HOME", "TMPDIR", "LC_ALL", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
