#!/usr/bin/env bash
# Packs llmb-report for machines that have nothing of it: the programs with every library in their one
# file, and a Debian package of them. Safe to run again: what is built already is not built twice.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: deploy/package.sh [--check] [--machine ARCH] [--build DIR] [--output DIR]

  --check       also start the programs in an empty root folder (root, or user namespaces)
  --machine ARCH  aarch64: for Grace login nodes, compiled on x86-64 (default: this machine's own)
  --build DIR   pack the programs that DIR has, and build nothing (default: build/portable, which is
                built first, after what it needs was installed from Debian)
  --output DIR  where to (default: build/package)

Writes, for that architecture:
  llmb-report-VERSION-linux-ARCH       the one file
  llmb-step-runner-VERSION-linux-ARCH  the step runner, for CPUs
  llmb-report_VERSION_ARCH.deb         both, with manual page, completions and a systemd unit
  third-party-notices.gz               copyrights and licences of what is linked into them: goes along
                                       wherever they are passed on, and is in the .deb too
  SHA256SUMS                           of all files there

Examples:
  deploy/package.sh --check
  deploy/package.sh --check --machine aarch64
  scp build/package/llmb-report-*-linux-x86_64 login-node:llmb-report
  ssh login-node ./llmb-report parse /lustre/llmb/workloads/pretrain_grok1
  (cd build/package && sha256sum --check SHA256SUMS)
  sudo apt install ./build/package/llmb-report_*.deb

Environment: LLMB_BUILD_JOBS  compilers to run at once (default: one a core)
TEXT
}

# Of llmb-report itself; the runner has OpenBLAS's kernels for every CPU beside it.
bytes_max=20000000
check=0 build="" output=build/package machine="$(uname -m)"
while [ $# -gt 0 ]; do
  case "$1" in
    --check) check=1; shift ;;
    --build | --output | --machine)
      [ $# -ge 2 ] || { echo "package.sh: $1 needs a value" >&2; exit 2; }
      case "$1" in
        --build) build="$(realpath -ms -- "$2")" ;;
        --output) output="$(realpath -ms -- "$2")" ;;
        --machine) machine="$2" ;;
      esac
      shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "package.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
  esac
done
cd "$(dirname "$0")/.."
source deploy/packages.sh

# What starts a program of that architecture, here and in a root folder that has nothing.
emulator=() carried=()
preset=portable architecture="$(dpkg --print-architecture)"
if [ "$machine" != "$(uname -m)" ]; then
  [ "$machine" = aarch64 ] && [ "$architecture" = amd64 ] || {
    echo "package.sh: programs for $machine cannot be made here; only those for $(uname -m)," \
      "and on x86-64 those for aarch64" >&2
    exit 2
  }
  preset=aarch64 architecture=arm64
  emulator=("$LLMB_UNPACKED_FOLDER/usr/bin/qemu-aarch64-static")
  carried=(--emulator "${emulator[0]}")
fi

if [ -z "$build" ]; then
  build="build/$preset"
  say "Packages"
  install_missing "${LLMB_BUILD_PACKAGES[@]}"
  install_node
  [ "$preset" != aarch64 ] || prepare_aarch64
  say "Build ($preset; the first time takes some minutes)"
  cmake --preset "$preset"
  cmake --build --preset "$preset" --target llmb-report-static llmb-step-runner-static \
    -j "${LLMB_BUILD_JOBS:-$(nproc)}"
fi
for program in llmb-report llmb-step-runner; do
  [ -x "$build/static/$program" ] || {
    echo "package.sh: $build/static has no $program: build its targets llmb-report-static and" \
      "llmb-step-runner-static; where there are none, cmake has said why" >&2
    exit 1
  }
done

say "Package"
version="$("${emulator[@]}" "$build/static/llmb-report" --version | cut -d' ' -f1)"
tree="$(mktemp -d)"
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"  # becomes the mode of ./ in the package
mkdir -p "$output"
rm -f "$output"/llmb-*-linux-"$machine" "$output"/llmb-report_*_"$architecture".deb
DESTDIR="$tree" cmake --install "$build" --prefix /usr --component portable >/dev/null
for program in llmb-report llmb-step-runner; do
  file="$tree/usr/bin/$program"
  if readelf --program-headers --wide "$file" | grep -q INTERP; then
    echo "package.sh: $program asks for a loader, so it is not static" >&2
    exit 1
  fi
  cp "$file" "$output/$program-$version-linux-$machine"
done
size="$(stat -c %s "$output/llmb-report-$version-linux-$machine")"
if [ "$size" -gt "$bytes_max" ]; then
  echo "package.sh: llmb-report has $size bytes, more than the $bytes_max that it may have" >&2
  exit 1
fi

notices="$tree/usr/share/doc/llmb-report/third-party-notices.gz"
mkdir -p "$(dirname "$notices")"
deploy/third_party_notices.sh | gzip -9n >"$notices"
cp "$notices" "$output"

# What Debian does otherwise than a prefix of one's own, and its description of the package.
gzip -9n "$tree/usr/share/man/man1/llmb-report.1"
mv "$tree/usr/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions"
mkdir "$tree/DEBIAN"
cat >"$tree/DEBIAN/control" <<TEXT
Package: llmb-report
Version: $version
Architecture: $architecture
Maintainer: The llmb-report project <llmb-report@project.invalid>
Installed-Size: $(du -sk "$tree/usr" | cut -f1)
Section: science
Priority: optional
Suggests: slurm-client
Description: how fast a GPU cluster trains LLMs, read from its logs
 Watches trees of training logs, and shows step times and TFLOPS per GPU on a
 dashboard, by a JSON API and on the command line. Depends on no other package.
TEXT
cat >"$tree/DEBIAN/postinst" <<'TEXT'
#!/bin/sh
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload
[ ! -d /run/systemd/system ] || [ -z "$2" ] || systemctl try-restart llmb-report.service
TEXT
cat >"$tree/DEBIAN/prerm" <<'TEXT'
#!/bin/sh
set -e
[ "$1" != remove ] || [ ! -d /run/systemd/system ] || systemctl disable --now llmb-report.service
TEXT
chmod 755 "$tree/DEBIAN/postinst" "$tree/DEBIAN/prerm"
# The same bytes from the same programs: no file is younger than the commit.
SOURCE_DATE_EPOCH="$(git log -1 --format=%ct 2>/dev/null || echo 0)"
export SOURCE_DATE_EPOCH
# Level 1 takes a fifth of the time of level 6, for a tenth of the size.
dpkg-deb --root-owner-group -Zxz -z1 --build "$tree" "$output/llmb-report_${version}_$architecture.deb" >/dev/null
(cd "$output" && rm -f SHA256SUMS && sha256sum -- * >"$tree/sums" && cp "$tree/sums" SHA256SUMS)
echo "In $output:"
(cd "$output" && stat -c '%10s  %n' -- *)

if [ "$check" -eq 1 ]; then
  say "In an empty root folder"
  tests/deploy/empty_root.sh "${carried[@]}" "$output/llmb-report-$version-linux-$machine" deploy/sample-tree \
    "$output/llmb-step-runner-$version-linux-$machine"
fi
