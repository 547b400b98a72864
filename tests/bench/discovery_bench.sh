#!/usr/bin/env bash
# Discovery of 100,000 files against `find -printf '%p %s %T@\n'`, in pairs, whole processes both;
# prints the median ratio (bar: 1.3). Two trees: one as the recipes leave it, where one file in
# ten is a log, and one of logs alone, where every file must be examined.
#   usage: discovery_bench.sh [BUILD_DIR] [PAIRS] [FILES]
set -euo pipefail
build=${1:-build/release} pairs=${2:-11} files=${3:-100000}
bench=$build/bin/discovery_bench
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

seconds() { # runs a command, prints how long it took
  local begin end
  begin=$(date +%s%N)
  "$@" >/dev/null
  end=$(date +%s%N)
  echo $((end - begin))
}

for shape in recipes logs; do
  "$bench" make "$shape" "$folder/$shape" "$files"
  "$bench" walk "$folder/$shape"
  find "$folder/$shape" -printf '%p %s %T@\n' >/dev/null
  for ((i = 0; i < pairs; i++)); do
    echo "$(seconds find "$folder/$shape" -printf '%p %s %T@\n') $(seconds "$bench" walk "$folder/$shape")"
  done | awk '{ printf "%.3f %.1f %.1f\n", $1 / $2, $1 / 1e6, $2 / 1e6 }' | sort -n |
    awk -v shape="$shape" '{ line[NR] = $0 }
      END { split(line[int((NR + 1) / 2)], m, " ")
            printf "discovery, tree of %s: %.2fx of find (median of %d pairs: find %s ms, walk %s ms)\n",
                   shape, m[1], NR, m[2], m[3] }'
done
