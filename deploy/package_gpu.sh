#!/usr/bin/env bash
# Packs llmb-step-runner with its CUDA backend, and the libraries of CUDA that it loads, into one folder
# that runs wherever it is put: beside a driver, nothing of CUDA is asked of a node.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: deploy/package_gpu.sh [--build DIR] [--libraries DIR]... [--output DIR]

  --build DIR      pack the llmb-step-runner that DIR has, and build nothing (default: build/release,
                   whose target llmb-step-runner is built first)
  --libraries DIR  take CUDA's libraries from here only; may be given again (default: the toolkit that
                   the runner was built with, CUDA_HOME, /usr/local/cuda, where the system's loader
                   looks, Python's packages, PyTorch's among them)
  --output DIR     the folder (default: build/llmb-step-runner-gpu); what an earlier call put there goes

Writes llmb-step-runner; cuBLASLt, cuDNN, NCCL and NVRTC beside it, 1.4 GB with CUDA 13; check-node, which
says on a node what that node lacks; and SHA256SUMS of all of it.

Examples:
  deploy/package_gpu.sh
  tar -C build -c llmb-step-runner-gpu | ssh login-node tar -C /lustre/programs -x
  ssh login-node srun /lustre/programs/llmb-step-runner-gpu/check-node
  llmb-report submit … with `runner: /lustre/programs/llmb-step-runner-gpu/llmb-step-runner` in the
  configuration: a copy of the program alone (copy_runner) would leave its libraries behind

Environment: LLMB_BUILD_JOBS  compilers to run at once (default: one a core)
TEXT
}

fail() { echo "package_gpu.sh: $*" >&2; exit 1; }

build="" output=build/llmb-step-runner-gpu folders=()
while [ $# -gt 0 ]; do
  case "$1" in
    --build | --libraries | --output)
      [ $# -ge 2 ] || { echo "package_gpu.sh: $1 needs a value" >&2; exit 2; }
      case "$1" in
        --build) build="$(realpath -ms -- "$2")" ;;
        --libraries) folders+=("$(realpath -ms -- "$2")") ;;
        --output) output="$(realpath -ms -- "$2")" ;;
      esac
      shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "package_gpu.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
  esac
done
cd "$(dirname "$0")/.."

if [ -z "$build" ]; then
  build=build/release
  cmake --preset release -DBUILD_TESTING=OFF -DLLMB_BENCH=OFF
  cmake --build --preset release --target llmb-step-runner -j "${LLMB_BUILD_JOBS:-$(nproc)}"
fi
runner="$build/bin/llmb-step-runner" cache="$build/CMakeCache.txt"
[ -x "$runner" ] || fail "$build/bin has no llmb-step-runner: build that target first"
# built NAME: what cmake found when it made this build
built() { sed -n "s/^$1:[A-Z]*=//p" "$cache"; }
"$runner" --version | grep -q '^backends:.* cuda' || {
  why="$(built LLMB_NO_CUDA_BACKEND)"
  fail "$runner has no CUDA backend: ${why:-it was built with -DLLMB_CUDA_RUNNER=OFF}"
}

# The versions that the program was compiled for are those that it asks for.
# version FILE NAME: of NVIDIA's headers
version() {
  local value
  value="$(sed -n "s/^#define $2 *\([0-9][0-9]*\).*/\1/p" "$1" 2>/dev/null | head -n 1)"
  [ -n "$value" ] || fail "$1 does not say $2: the headers of this build are gone; build it anew"
  echo "$value"
}
cuda="$(($(version "$(built LLMB_CUDA_INCLUDE)/cuda.h" CUDA_VERSION) / 1000))"
cublas="$(version "$(built LLMB_CUBLASLT_INCLUDE)/cublas_api.h" CUBLAS_VER_MAJOR)"
cudnn="$(version "$(built LLMB_CUDNN_INCLUDE)/cudnn_version.h" CUDNN_MAJOR)"

shopt -s nullglob
if [ ${#folders[@]} -eq 0 ]; then
  folders=("$(dirname "$(built LLMB_CUDART)")")
  for home in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    [ -z "$home" ] || folders+=("$home/lib64")
  done
  folders+=(/usr/lib/*-linux-gnu /usr/lib64)
  for root in "${VIRTUAL_ENV:-}" "${CONDA_PREFIX:-}" "${HOME:-}/.local" /usr/local /usr /opt/conda; do
    [ -z "$root" ] || folders+=("$root"/lib/python3*/{site,dist}-packages/{nvidia/*/lib,torch/lib})
  done
fi

# place FILE: where it is; nothing where it is nowhere
place() {
  local folder
  for folder in "${folders[@]}"; do
    [ ! -e "$folder/$1" ] || { echo "$folder/$1"; return; }
  done
}
taken=() missing=()
# take TITLE FILE [PATTERN]: the library, and what its folder has of that pattern
take() {
  local path more
  path="$(place "$2")"
  [ -n "$path" ] || { missing+=("$1 ($2)"); return; }
  taken+=("$path")
  [ $# -gt 2 ] || return 0
  for more in "$(dirname "$path")"/$3; do taken+=("$more"); done
}
take cuBLASLt "libcublasLt.so.$cublas"
# cuDNN loads its parts when it needs them, and NVRTC for engines that it compiles on the node.
take cuDNN "libcudnn.so.$cudnn" "libcudnn_*.so.$cudnn"
take NCCL libnccl.so.2
take NVRTC "libnvrtc.so.$cuda" "libnvrtc-builtins.so.$cuda.*"
if [ ${#missing[@]} -gt 0 ]; then
  printf 'package_gpu.sh: this machine lacks %s\n' "${missing[@]}" >&2
  printf '  not in %s\n' "${folders[@]}" >&2
  echo "Install NVIDIA's packages or PyTorch for CUDA $cuda, or name their folder by --libraries." >&2
  exit 1
fi

mkdir -p "$output"
rm -f "$output"/lib*.so* "$output"/{llmb-step-runner,check-node,SHA256SUMS}
cp "$runner" "$output/llmb-step-runner"
for path in "${taken[@]}"; do
  # Under the name that it is asked for, whatever link that is here.
  cp --reflink=auto -L "$path" "$output/$(basename "$path")"
done
chmod 755 "$output"/*

# Each has to find the others in the folder, without anybody's LD_LIBRARY_PATH.
folder="$(realpath "$output")"
for file in "$folder"/lib*.so*; do
  while read -r name _ found _; do
    [ -e "$folder/$name" ] || continue
    [ "$found" = "$folder/$name" ] ||
      fail "$(basename "$file") does not find $name beside itself: its RUNPATH lacks \$ORIGIN;" \
        "patchelf --set-rpath '\$ORIGIN' gives it one"
  done < <(env -u LD_LIBRARY_PATH ldd "$file")
done

glibc="$(for file in "$folder"/{llmb-step-runner,lib*.so*}; do readelf --version-info --wide "$file"; done |
  grep -o 'GLIBC_2\.[0-9.]*' | sort -uV | tail -n 1)"
sed -e "s/@CUDA@/$cuda/; s/@GLIBC@/${glibc#GLIBC_}/; s/@MACHINE@/$(uname -m)/" deploy/check-node.in \
  >"$folder/check-node"
chmod 755 "$folder/check-node"
(cd "$folder" && sums="$(sha256sum -- *)" && echo "$sums" >SHA256SUMS && stat -c '%11s  %n' -- *)
