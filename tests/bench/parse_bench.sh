#!/usr/bin/env bash
# One-shot parse of a 1,000-log tree against the shell parser's equivalent in shell and gawk
# (tests/server/compat/shell_equivalent.sh), in turn, wall clock; prints medians and ratios.
# Arguments: folder of the programs (build/release/bin), rounds (5).
set -euo pipefail
bin=$(realpath "${1:-build/release/bin}") rounds=${2:-5}
here=$(dirname "$(realpath "$0")")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

for i in $(seq 59); do "$bin/llmb-report" sample "$tree/tree$i" >/dev/null; done
logs=$(find "$tree" -name '*.out' ! -name 'sbatch_*' | wc -l)
echo "$logs logs, $(du -sm "$tree" | cut -f1) MiB"

seconds() {  # of running "$@", whatever it exits with
  local start end
  start=$(date +%s.%N)
  "$@" >/dev/null 2>&1 || true
  end=$(date +%s.%N)
  gawk -v a="$start" -v b="$end" 'BEGIN { printf "%.4f\n", b - a }'
}

median() { sort -n | gawk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

for family in nemo@25.07 mbridge@25.10; do
  : >"$tree/shell" && : >"$tree/parse" && : >"$tree/compat" && : >"$tree/ratio"
  for _ in $(seq "$rounds"); do
    shell=$(seconds "$here/../server/compat/shell_equivalent.sh" ${family%@*} ${family#*@} table "$tree")
    parse=$(seconds "$bin/llmb-report" parse "$tree")
    compat=$(seconds "$bin/llmb-report" parse --compat $family "$tree")
    echo "$shell" >>"$tree/shell"; echo "$parse" >>"$tree/parse"; echo "$compat" >>"$tree/compat"
    gawk -v a="$shell" -v b="$parse" 'BEGIN { print a / b }' >>"$tree/ratio"
  done
  printf '%s: shell and gawk %s s, parse %s s, parse --compat %s s; shell over parse, paired: %.0fx\n' \
    "$family" "$(median <"$tree/shell")" "$(median <"$tree/parse")" \
    "$(median <"$tree/compat")" "$(median <"$tree/ratio")"
done
