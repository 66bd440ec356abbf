"""Downloads files of a Debian source package, for scripts that compare with other projects.

The machine's apt state does not change: apt runs with lists, sources and a cache below one directory. Its sources are
the machine's package sources, read as `deb-src`.
"""

import glob
import os
import re
import subprocess
import tarfile

_LISTS = ("/etc/apt/sources.list", "/etc/apt/sources.list.d/*.list")
_DEB822 = "/etc/apt/sources.list.d/*.sources"


class SourceError(Exception):
    pass


def _read(pattern):
    for path in sorted(glob.glob(pattern)):
        with open(path, encoding="utf-8") as file:
            yield file.read()


def _write_sources(directory):
    """Writes the machine's binary package sources as source entries, in both notations of apt."""
    os.makedirs(directory, exist_ok=True)
    lines = [re.sub(r"^deb\s", "deb-src ", line)
             for pattern in _LISTS for text in _read(pattern)
             for line in text.splitlines() if re.match(r"deb\s", line)]
    with open(os.path.join(directory, "machine.list"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    stanzas = [re.sub(r"(?m)^Types:.*$", "Types: deb-src", stanza)
               for text in _read(_DEB822) for stanza in re.split(r"\n\s*\n", text)
               if re.search(r"(?m)^Types:.*\bdeb\b", stanza)]
    with open(os.path.join(directory, "machine.sources"), "w", encoding="utf-8") as file:
        file.write("\n\n".join(stanza.strip() for stanza in stanzas) + "\n")
    if not lines and not stanzas:
        raise SourceError("this machine's apt has no source of packages")


class Archive:
    """An apt instance whose state is below `cache`."""

    def __init__(self, cache):
        self.cache = cache = os.path.abspath(cache)
        sources = os.path.join(cache, "sources.list.d")
        _write_sources(sources)
        for part in ("lists/partial", "archives/partial"):
            os.makedirs(os.path.join(cache, part), exist_ok=True)
        self.options = ["-o", "Dir::Etc::sourcelist=-",
                        "-o", f"Dir::Etc::sourceparts={sources}",
                        "-o", f"Dir::State::lists={cache}/lists",
                        "-o", f"Dir::Cache={cache}", "-o", "Acquire::Retries=2",
                        "-o", "APT::Sandbox::User=root"]
        self._run("apt-get", "update")

    def _run(self, *command):
        result = subprocess.run([command[0], *self.options, *command[1:]], cwd=self.cache,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        errors = [line for line in result.stdout.splitlines() if line.startswith("E:")]
        if result.returncode:
            raise SourceError(f"{' '.join(command)}: " + ("; ".join(errors) or "failed"))
        return result.stdout

    def download(self, package):
        """Downloads the original source archive of `package` and returns its path."""
        self._run("apt-get", "source", "--download-only", package)
        found = glob.glob(os.path.join(self.cache, f"{package}_*.orig.tar.*"))
        if len(found) != 1:
            raise SourceError(f"{package}: no single original archive in {self.cache}")
        return found[0]


def extract(archive, wanted, directory):
    """Extracts to `directory` the regular files whose path below the archive's top folder starts with one of `wanted`.
    Paths that contain `..` are skipped."""
    count = 0
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name.split("/", 1)[-1]
            if not member.isfile() or not path.startswith(wanted) or ".." in path:
                continue
            target = os.path.join(directory, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(tar.extractfile(member).read())
            count += 1
    if not count:
        raise SourceError(f"{os.path.basename(archive)} holds none of {', '.join(wanted)}")
