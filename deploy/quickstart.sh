#!/usr/bin/env bash
# From a fresh Debian 12 to a dashboard: installs what is missing, builds, and serves.
# Serves $LLMB_WORKLOAD (or the older $STAGE_PATH) when it is set, the sample tree otherwise.
# Safe to run again: what is done already is not done twice.
set -euo pipefail
# Whoever calls means paths from here.
caller="$PWD"
cd "$(dirname "$0")/.."
source deploy/packages.sh

usage() {
  cat <<'TEXT'
Usage: deploy/quickstart.sh [--live] [--build-only] [-- SERVE-OPTIONS...]

  --live        let one run of the sample tree grow while you look at it
  --build-only  install and build, and do not serve
  --            everything after it goes to `llmb-report serve` (see its --help)

Environment: LLMB_WORKLOAD    the tree to serve instead of the sample tree
             LLMB_BUILD_JOBS  compilers to run at once (default: one a core)
TEXT
}

live=0 build_only=0
while [ $# -gt 0 ]; do
  case "$1" in
    --live) live=1 ;;
    --build-only) build_only=1 ;;
    -h | --help) usage; exit 0 ;;
    --) shift; break ;;
    *) echo "quickstart.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
  esac
  shift
done

say "1/3 Packages"
install_missing "${LLMB_BUILD_PACKAGES[@]}"
install_node

say "2/3 Build (the first time takes some minutes)"
# Users have nothing installed for tests and benchmarks. Whoever configures the preset himself has them
# again: it names both.
cmake --preset release -DBUILD_TESTING=OFF -DLLMB_BENCH=OFF
cmake --build --preset release --target llmb-report llmb-step-runner \
  -j "${LLMB_BUILD_JOBS:-$(nproc)}"
program="$PWD/build/release/bin/llmb-report" sample_tree="$PWD/deploy/sample-tree"
echo "Built llmb-report and llmb-step-runner. To have them at hand:"
echo "  export PATH=$PWD/build/release/bin:\$PATH"
[ "$build_only" -eq 0 ] || exit 0

say "3/3 Serve"
cd "$caller"
workload="${LLMB_WORKLOAD:-${STAGE_PATH:-}}"
if [ -n "$workload" ]; then
  [ "$live" -eq 0 ] || echo "--live grows the sample tree only; \$LLMB_WORKLOAD is served as it is."
  exec "$program" serve "$@" "$workload"
fi

echo "LLMB_WORKLOAD is not set, so the sample tree is served. Stop with Ctrl-C."
state="${XDG_STATE_HOME:-$HOME/.local/state}/llmb-report"
mkdir -p "$state"
if [ "$live" -eq 0 ]; then
  exec "$program" serve --db "$state/sample.db" "$@" "$sample_tree"
fi

# A copy grows, so that the repository's tree stays as it is.
tree="$(mktemp -d)"
"$program" sample --live "$tree" &
writer=$!
"$program" serve --db "$tree/live.db" "$@" "$tree" &
server=$!
trap 'kill "$server" "$writer" 2>/dev/null || true' INT TERM
trap 'kill "$writer" 2>/dev/null || true; rm -rf "$tree"' EXIT
wait "$server"
