"""Lists the project's own files, for checks of the whole tree.

With git, these are the tracked files and the untracked ones that .gitignore does not exclude. Without git (an unpacked
archive, or a checkout of another user), these are all files outside of build directories and hidden directories. Both
lists are equal for a clean tree.
"""

import os
import subprocess

_NOT_SOURCES = {"build", "__pycache__", "node_modules"}


def _from_git(root):
    try:
        listing = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        top = subprocess.run(
            ["git", "-C", root, "rev-parse", "--show-toplevel"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    # A tree unpacked inside another repository is not that repository.
    if os.path.realpath(top.decode().strip()) != os.path.realpath(root):
        return None
    return [name for name in listing.decode().split("\0") if name]


def _from_directory(root):
    names = []
    for directory, subdirectories, files in os.walk(root):
        subdirectories[:] = sorted(
            name for name in subdirectories
            if name not in _NOT_SOURCES
            and not (name.startswith(".") and name != ".ci")
            and not os.path.exists(os.path.join(directory, name, "CMakeCache.txt")))
        names += [os.path.relpath(os.path.join(directory, name), root)
                  for name in files if not name.endswith(".pyc")]
    return names


def source_files(root):
    """Returns the files under `root` as sorted relative paths."""
    names = _from_git(root)
    if names is None:
        names = _from_directory(root)
    # A deleted file may still be in the index.
    return sorted({name for name in names
                   if os.path.isfile(os.path.join(root, name))})
