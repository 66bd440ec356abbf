# shellcheck shell=bash
# shellcheck disable=SC2154  # root, build, jobs, log and started are ./dev's.
# Set-up shared by all ./dev subcommands; sourced by ./dev, not run.
#
# setup_packages   installs missing Debian packages with apt
# setup_tidy       installs clang-tidy
# setup_python     creates a virtual environment in $build/venv with lists of packages
# setup_intel_opencl  creates an environment with Intel's OpenCL runtime for CPUs
# setup_torch      creates an environment with PyTorch and torch-mlir
# setup_chip_models  downloads the vendor's chip models of NPUs to $build/chip-models
# setup_configure  runs CMake if its arguments changed; `targets` lists the targets
#                  that are wanted, all by default
# build_targets    runs ninja and prints its progress
# Each function returns at once if its result exists.

# The required packages of Debian 12. LLVM 22 is in Debian's security archive.
required_packages=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22
  libclang-rt-22-dev clang-format-22 lld-22 ninja-build ccache cmake g++
  libgtest-dev libgmock-dev libisl-dev libz3-dev libomp-22-dev python3 python3-venv
  python3-dev python3-numpy pybind11-dev git ca-certificates
  ocl-icd-opencl-dev opencl-headers)
# Optional packages: time limits for tests, benchmarks, oneDNN and CBC to compare
# with; an OpenCL and a Vulkan device on the CPU, the translator and the validator of
# SPIR-V; a JSON library for kernel packages; a faster malloc for layout-opt; graphviz; MPI.
wanted_packages=(python3-psutil libbenchmark-dev libdnnl-dev coinor-libcbc-dev
  pocl-opencl-icd llvm-spirv-15 spirv-tools clinfo nlohmann-json3-dev
  libvulkan-dev mesa-vulkan-drivers
  libtcmalloc-minimal4 graphviz libopenmpi-dev openmpi-bin)
# Packages that only tests use: a browser for HTML pages, an emulator with a C library
# for AArch64 kernels, the C++ library of programs for phones, and the checks of Vulkan
# calls.
test_packages=(chromium chromium-driver qemu-user libc6-dev-arm64-cross
  libstdc++-12-dev-arm64-cross vulkan-validationlayers)

step() { printf '[%4ds] %s\n' $((SECONDS - started)) "$*" >&2; }
die() {
  printf 'dev: %s\n' "$*" >&2
  exit 1
}

hash_of() { sha256sum | cut -d' ' -f1; }

# stamp_is FILE VALUE: succeeds if the stamp FILE records VALUE.
stamp_is() { [[ -e $1 && $(<"$1") == "$2" ]]; }

# Runs a command with its output in the log; on failure prints the end of the log.
logged() {
  mkdir -p "$build"
  printf '\n$ %s\n' "$*" >>"$log"
  if ! "$@" </dev/null >>"$log" 2>&1; then
    echo "--- the last lines of $log" >&2
    tail -n 40 "$log" >&2
    return 1
  fi
}

# Prints the given packages that are not installed.
missing_packages() {
  local installed
  # dpkg-query fails if a package is unknown; it is then missing.
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" \
    2>/dev/null | sed -n 's/^installed //p' || true)
  local package
  for package in "$@"; do
    grep -qxF -- "$package" <<<"$installed" || printf '%s\n' "$package"
  done
}

as_root() {
  if (($(id -u) == 0)); then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

apt_install() {
  logged as_root apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 \
    -o Dpkg::Use-Pty=0 install -y --no-install-recommends "$@"
}

setup_packages() {
  command -v dpkg-query >/dev/null ||
    die "this needs Debian 12 (bookworm) or a system with its packages; dpkg-query was not found"
  local -a missing wanted
  mapfile -t missing < <(missing_packages "${required_packages[@]}")
  mapfile -t wanted < <(missing_packages "${wanted_packages[@]}")
  # An optional package that was unavailable is not requested again.
  local unavailable=$build/.packages-unavailable
  if ((${#wanted[@]})) && stamp_is "$unavailable" "${wanted[*]}"; then
    step "going on without ${wanted[*]} (rm $unavailable to try again)"
    wanted=()
  fi
  ((${#missing[@]} + ${#wanted[@]})) || return 0

  if (($(id -u) != 0)); then
    local by_hand="sudo apt-get install --no-install-recommends ${missing[*]} ${wanted[*]}"
    if ! command -v sudo >/dev/null || { [[ ! -t 0 ]] && ! sudo -n true 2>/dev/null; }; then
      ((${#missing[@]})) || {
        step "going on without ${wanted[*]}: not root, and no sudo"
        return 0
      }
      die "packages are missing and this user cannot install them; run as root:" \
        "${by_hand#sudo }"
    fi
  fi
  step "installing packages: ${missing[*]} ${wanted[*]}"
  # Stale package lists may suffice, so only the installation below can fail.
  logged as_root apt-get -o Acquire::Retries=3 update 2>/dev/null ||
    step "apt-get update reported errors; trying to install nevertheless"

  if ((${#missing[@]})); then
    if ! apt_install "${missing[@]}"; then
      local package
      for package in "${missing[@]}"; do
        [[ $(apt-cache policy "$package" 2>/dev/null) =~ Candidate:\ [^\(] ]] ||
          echo "dev: apt knows no package $package" >&2
      done
      die "apt could not install the packages above. LLVM 22 comes from Debian 12's" \
        "security archive: /etc/apt/sources.list(.d) must name the suites bookworm and" \
        "bookworm-security, component main, and their servers must be reachable"
    fi
    mapfile -t missing < <(missing_packages "${missing[@]}")
    ((${#missing[@]} == 0)) || die "apt reported success, but these are missing: ${missing[*]}"
  fi
  if ((${#wanted[@]})) && ! apt_install "${wanted[@]}" 2>/dev/null; then
    mkdir -p "$build"
    missing_packages "${wanted_packages[@]}" | paste -sd' ' >"$unavailable"
    step "going on without $(<"$unavailable")"
  fi
  step "packages are installed"
}

# Installs the packages that only `./dev tidy` needs.
setup_tidy() {
  local -a missing
  mapfile -t missing < <(missing_packages clang-tidy-22)
  ((${#missing[@]})) || return 0
  step "installing packages: ${missing[*]}"
  apt_install "${missing[@]}" || die "apt could not install ${missing[*]}"
}

# packages_of NAME: prints the Python packages of a list of pyproject.toml.
packages_of() { /usr/bin/python3 -B "$root/scripts/requirements.py" "$root" "$1"; }

# install_python NAME [OPTIONS]: runs pip if the list changed since the last run.
install_python() {
  local name=$1 stamp=$build/venv/.requirements-$1 list
  local -a packages
  shift
  list=$(packages_of "$name")
  if stamp_is "$stamp" "$list"; then return 0; fi
  mapfile -t packages <<<"$list"
  step "Python packages: $name"
  logged "$build/venv/bin/python" -m pip install --quiet \
    --disable-pip-version-check --no-input --retries 2 "$@" "${packages[@]}" || return 1
  printf '%s\n' "$list" >"$stamp"
}

# setup_python LIST..: creates the environment with these lists of pyproject.toml.
setup_python() {
  # Debian's Python regardless of PATH: its numpy and headers are used.
  local python=/usr/bin/python3 identity
  identity="$build $($python -c 'import sys; print(sys.version.split()[0])')"
  if ! stamp_is "$build/venv/.identity" "$identity"; then
    step "creating the Python environment"
    rm -rf "$build/venv"
    mkdir -p "$build"
    logged "$python" -m venv --system-site-packages "$build/venv" ||
      die "could not create $build/venv"
    printf '%s\n' "$identity" >"$build/venv/.identity"
  fi
  local list
  for list in "$@"; do
    case $list in
    needs) install_python needs || die "pip could not install what the package needs" ;;
    oracles) install_optional oracles --no-deps ;;
    chip-models) setup_chip_models ;;
    intel-opencl) setup_intel_opencl ;;
    torch | layoutbench-torch) install_optional "$list" --no-deps ;;
    *) install_optional "$list" ;;
    esac
  done
}

# install_optional NAME [OPTIONS]: installs the packages of a list, or reports that
# they are unavailable.
install_optional() {
  local unavailable=$build/venv/.$1-unavailable list
  list=$(packages_of "$1")
  if stamp_is "$unavailable" "$list"; then
    step "going on without the Python packages '$1' (rm $unavailable to try again)"
  elif ! install_python "$@"; then
    printf '%s\n' "$list" >"$unavailable"
    step "going on without the Python packages '$1'"
  fi
}

# Installs Intel's OpenCL runtime for CPUs in an environment of its own, whose
# libraries no other program finds, or reports that it is unavailable.
# test/IntelOpenCL/lit.cfg.py reads that environment, too.
setup_intel_opencl() {
  (
    build=$build/intel-opencl
    setup_python intel-opencl-runtime
  )
}

# Installs PyTorch and torch-mlir in an environment of their own, or reports that they are
# unavailable. PyTorch's packages of CUDA, 4 GB, are replaced by stubs. test/lit.cfg.py
# reads that environment, too.
setup_torch() {
  (
    build=$build/torch
    setup_python torch-needs torch
    stub_cuda torch
  )
}

# stub_cuda LIST: replaces the packages of CUDA that the PyTorch of a list needs by stubs.
stub_cuda() {
  local stubs=$build/venv/.cuda-stubs installed=$build/venv/.requirements-$1
  if [[ ! -e $installed || $stubs -nt $installed ]]; then return 0; fi
  logged /usr/bin/python3 -B "$root/scripts/torch_cuda_stubs.py" \
    "$build"/venv/lib/python3*/site-packages || die "the stubs of CUDA could not be written"
  touch "$stubs"
}

# Downloads the vendor's chip models, 20 MB of a wheel of 312 MB, or reports that they are
# unavailable. test/lit.cfg.py reads that file, too.
setup_chip_models() {
  local models=$build/chip-models requirements=$root/scripts/chip-models.txt pin
  local unavailable=$build/.chip-models-unavailable
  pin=$(hash_of <"$requirements")
  if stamp_is "$models/.stamp" "$pin"; then return 0; fi
  if stamp_is "$unavailable" "$pin"; then
    step "going on without the vendor's chip models (rm $unavailable to try again)"
    return 0
  fi
  if [[ $(uname -m) == x86_64 ]]; then
    step "the vendor's chip models (a download of 312 MB, of which 20 MB are kept)"
    if logged "$build/venv/bin/python" -B "$root/scripts/chip_models.py" "$requirements" "$models"; then
      printf '%s\n' "$pin" >"$models/.stamp"
      return 0
    fi
  fi
  printf '%s\n' "$pin" >"$unavailable"
  step "going on without the vendor's chip models, which need x86-64 and PyPI"
}

# Prints the path of lit, LLVM's test runner.
find_lit() { command -v lit-22 || command -v lit || die "lit, LLVM's test runner, is not in PATH"; }

# Configures the build. With sanitize=1, uses the CMake preset of that name:
# assertions, AddressSanitizer and UBSan.
# Sets `targets` to the targets of the build: what the caller wants, and what this
# build directory has already, so that no command builds again what another left out.
join_targets() {
  local earlier=
  if [[ -e $build/build.ninja ]]; then
    earlier=$(cat "$build/.targets" 2>/dev/null || echo all)
  fi
  mapfile -t targets < <(printf '%s\n' ${targets[*]:-all} $earlier | sort -u)
  if [[ " ${targets[*]} " == *" all "* ]]; then targets=(all); fi
}

setup_configure() {
  local llvm python=${venv:-$build/venv}/bin/python
  llvm=$(llvm-config-22 --prefix 2>/dev/null || llvm-config --prefix) ||
    die "neither llvm-config-22 nor llvm-config is in PATH"
  # Clang builds in about half of GCC's time; the preset of sanitizers needs GCC.
  local c=$llvm/bin/clang cxx=$llvm/bin/clang++
  if ((${sanitize:-0})); then c=gcc cxx=g++; fi
  local -a arguments=(
    -G Ninja -S "$root" -B "$build"
    -DCMAKE_BUILD_TYPE=Release
    # Sources of a library are compiled eight at a time, which with -O2 in place of
    # CMake's -O3 takes 0.6 of the time.
    "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG"
    -DCMAKE_UNITY_BUILD="${LAYOUT_UNITY_BUILD:-ON}"
    -DMLIR_DIR="${MLIR_DIR:-$llvm/lib/cmake/mlir}"
    -DCMAKE_C_COMPILER="${CC:-$c}"
    -DCMAKE_CXX_COMPILER="${CXX:-$cxx}"
    -DCMAKE_C_COMPILER_LAUNCHER=ccache
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
    # -B selects LLVM 22's ld.lld regardless of PATH.
    "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld -B$llvm/bin"
    "-DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld -B$llvm/bin"
    "-DCMAKE_MODULE_LINKER_FLAGS=-fuse-ld=lld -B$llvm/bin"
    -DLLVM_EXTERNAL_LIT="$(find_lit)"
    -DPython3_EXECUTABLE="$python"
    -DPython_EXECUTABLE="$python"
    -DPYTHON_EXECUTABLE="$python"
    -DLAYOUT_BUILD_TESTS=ON
    -DLAYOUT_BUILD_BENCHMARKS=ON)
  if ((${sanitize:-0})); then
    arguments+=(--preset sanitize -DCMAKE_BUILD_TYPE=Debug -DLAYOUT_BUILD_BENCHMARKS=OFF)
  fi
  join_targets
  if [[ ${targets[*]} != all ]]; then
    arguments+=("-DLAYOUT_TARGETS=$(IFS=';' && echo "${targets[*]}")")
  fi
  local value
  value=$({
    printf '%s\n' "${arguments[@]}" "${CFLAGS:-}" "${CXXFLAGS:-}" "${LDFLAGS:-}"
    if ((${sanitize:-0})); then cat "$root/CMakePresets.json"; fi
  } | hash_of)
  if [[ -e $build/build.ninja ]] && stamp_is "$build/.configured" "$value"; then return 0; fi
  step "configuring"
  # The cache of a build directory that was copied or moved has the old path.
  rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles" "$build/.configured"
  logged cmake "${arguments[@]}" || die "CMake could not configure the project"
  printf '%s\n' "${targets[@]}" >"$build/.targets"
  printf '%s\n' "$value" >"$build/.configured"
}

# Reads ninja's output and prints a line after each tenth of the build, for logs
# and pipes, which cannot show a progress line.
show_tenths() {
  local line finished total last=-1
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      finished=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
      if ((finished > 0 && finished * 10 / total != last)); then
        last=$((finished * 10 / total))
        step "built $finished of $total"
      fi
    fi
  done
}

build_targets() {
  local -a ninja=(ninja -C "$build" -j "$jobs" "$@")
  export NINJA_STATUS='[%f/%t] %p after %e s: '
  # ccache needs a writable directory even if there is no home directory.
  if [[ -z ${CCACHE_DIR:-} ]] && ! { [[ -n ${HOME:-} ]] && mkdir -p "$HOME" 2>/dev/null && [[ -w $HOME ]]; }; then
    export CCACHE_DIR=$build/ccache
  fi
  # Clones share objects, including those compiled with a precompiled header. The
  # inode cache avoids hashing the 570 MB of precompiled headers for each object.
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=1 CCACHE_INODECACHE=1
  # Hashes the files that the compiler read, so that a miss preprocesses nothing.
  export CCACHE_PCH_EXTSUM=1 CCACHE_DEPEND=1
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
  step "building $*"
  local status=0
  if [[ -t 2 ]]; then
    "${ninja[@]}" </dev/null >&2 || status=$?
  else
    local output=$build/ninja.log
    "${ninja[@]}" </dev/null 2>&1 | tee "$output" | show_tenths || status=$?
    cat "$output" >>"$log"
    if ((status)); then
      echo "--- the first failure (all of it in $log)" >&2
      { grep -n -m1 -A40 -E '^FAILED|^ninja: error|CMake Error' "$output" ||
        tail -n 40 "$output"; } >&2
    fi
  fi
  ((status == 0)) || die "the build failed"
}

# setup_all [LIST..]: runs the whole set-up with these lists of Python packages, of which
# chip-models and intel-opencl have places of their own; by default with all lists and the
# packages that only tests use. Tests whose packages are unavailable are reported as
# unsupported.
setup_all() {
  local -a lists=("$@")
  if (($# == 0)); then
    lists=(needs onnx jax gguf oracles browser docs wheel types chip-models intel-opencl)
    wanted_packages+=("${test_packages[@]}")
  fi
  mkdir -p "$build"
  # Only one set-up may run in a build directory at a time.
  exec 9>"$build/.setup.lock"
  if command -v flock >/dev/null; then flock 9; fi
  # The log covers one run.
  : >"$log"
  setup_packages 9>&-
  setup_python "${lists[@]}" 9>&-
  setup_configure 9>&-
  exec 9>&-
}
