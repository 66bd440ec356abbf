//===- BuildId.cpp - The build id of this library -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildId.h"
#include "llvm/Support/Alignment.h"
#include <cstring>
#include <link.h>

namespace {
struct Search {
  uintptr_t address;
  std::string found;
};
} // namespace

/// Returns the GNU build id among the ELF notes in [at, end), as raw bytes, or
/// an empty string if there is none.
static std::string findInNotes(const char *at, const char *end) {
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof(note));
    const char *name = at + sizeof(note);
    const char *data = name + llvm::alignTo(note.n_namesz, 4);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
        std::memcmp(name, "GNU", sizeof("GNU")) == 0)
      return {data, note.n_descsz};
    at = data + llvm::alignTo(note.n_descsz, 4);
  }
  return "";
}

/// Visits an ELF file that the process has loaded, as a callback of
/// dl_iterate_phdr with a Search as `data`. If the file contains the address to
/// search, stores its build id and returns 1, which ends the iteration. Returns
/// 0 for other files.
static int visit(dl_phdr_info *info, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  std::string found;
  bool isHere = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    isHere |= header.p_type == PT_LOAD && search.address >= begin &&
              search.address < begin + header.p_memsz;
    auto *notes = reinterpret_cast<const char *>(begin);
    if (header.p_type == PT_NOTE && found.empty())
      found = findInNotes(notes, notes + header.p_memsz);
  }
  if (isHere)
    search.found = found;
  return isHere;
}

std::string mlir::layout::getBuildId() {
  Search search{reinterpret_cast<uintptr_t>(&visit), ""};
  dl_iterate_phdr(visit, &search);
  return search.found;
}
