#!/usr/bin/env bash
# Whether deploy/quickstart.sh builds without what wants a package of the tests, and serves
# what its caller names from where that is: with a cmake, and programs, that only say what they are told.
set -euo pipefail
source_tree="$(realpath "$(dirname "$0")/../..")"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*" >&2; cat "$folder/said" >&2; exit 1; }

mkdir -p "$folder/tree/deploy" "$folder/bin" "$folder/work"
cp "$source_tree"/deploy/{quickstart,packages}.sh "$folder/tree/deploy"
# program NAME LINE...: in PATH
program() {
  printf '#!/bin/sh\n' >"$folder/bin/$1"
  printf '%s\n' "${@:2}" >>"$folder/bin/$1"
  chmod 755 "$folder/bin/$1"
}
program dpkg-query 'echo installed'
program npm ':'
program node 'echo 18'
program cmake 'echo "cmake $*"' 'mkdir -p build/release/bin' 'cd build/release/bin' \
  'printf "#!/bin/sh\necho \"in \$PWD: \$*\"\n" >llmb-report' 'chmod 755 llmb-report'
# quickstart WORKLOAD ARGUMENT...
quickstart() {
  (cd "$folder/work" && env -u STAGE_PATH PATH="$folder/bin:$PATH" LLMB_BUILD_JOBS=1 HOME="$folder/home" \
    XDG_STATE_HOME= LLMB_WORKLOAD="$1" ../tree/deploy/quickstart.sh "${@:2}") >"$folder/said" 2>&1 ||
    fail "quickstart.sh ended with $?"
}
says() { grep -qxF -- "$1" "$folder/said" || fail "it does not say: $1"; }

quickstart tree -- --db runs.db
says "cmake --preset release -DBUILD_TESTING=OFF -DLLMB_BENCH=OFF"
says "cmake --build --preset release --target llmb-report llmb-step-runner -j 1"
says "in $folder/work: serve --db runs.db tree"
quickstart "" -- --db runs.db
state="$folder/home/.local/state/llmb-report"
says "in $folder/work: serve --db $state/sample.db --db runs.db $folder/tree/deploy/sample-tree"
