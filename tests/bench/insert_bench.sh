#!/usr/bin/env bash
# How fast step rows are stored beside `sqlite3 .import` of the same rows: each round puts them into
# two fresh databases of the same schema and pragmas, one after the other, and prints the median of
# the per-round ratios. Nothing here passes or fails by time; it does fail when the rows differ.
#
#   tests/bench/insert_bench.sh [BUILD_DIR] [ROUNDS] [ROWS]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
rounds=${2:-7}
rows=${3:-500000}
bench=$build/bin/insert_bench
[ -x "$bench" ] ||
  { echo "$bench is missing: build it (cmake --build $build --target insert_bench)" >&2; exit 1; }
command -v sqlite3 >/dev/null || { echo "sqlite3 is missing: apt-get install sqlite3" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$bench" csv "$rows" >"$work/steps.csv"

# measure NAME COMMAND...: appends the seconds that the command takes to NAME.times.
measure() {
  local name=$1 began ended
  shift
  began=$EPOCHREALTIME
  "$@" >/dev/null
  ended=$EPOCHREALTIME
  awk -v b="$began" -v e="$ended" 'BEGIN { printf "%.6f\n", e - b }' >>"$work/$name.times"
}

# The pragmas of storage/writer.cpp and storage/sqlite_connection.cpp.
import_csv() {
  sqlite3 -batch "$1" \
    'PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;' \
    'PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 2000;' \
    'PRAGMA journal_size_limit = 16777216;' \
    ".import --csv $work/steps.csv step_sample"
}

# How many rows stand in one database and not in the other; their count must be right as well.
differences() {
  sqlite3 -batch "$work/ours.db" "ATTACH '$work/theirs.db' AS theirs;
    SELECT (SELECT count(*) FROM (SELECT * FROM main.step_sample EXCEPT
                                  SELECT * FROM theirs.step_sample))
         + (SELECT count(*) FROM (SELECT * FROM theirs.step_sample EXCEPT
                                  SELECT * FROM main.step_sample))
         + abs($rows - (SELECT count(*) FROM main.step_sample));"
}

for ((round = 0; round < rounds; ++round)); do
  rm -f "$work"/*.db*
  "$bench" prepare "$rows" "$work/ours.db"
  "$bench" prepare "$rows" "$work/theirs.db"
  if ((round % 2 == 0)); then
    measure ours "$bench" insert "$rows" "$work/ours.db"
    measure theirs import_csv "$work/theirs.db"
  else
    measure theirs import_csv "$work/theirs.db"
    measure ours "$bench" insert "$rows" "$work/ours.db"
  fi
  if ((round == 0)); then
    [ "$(differences)" = 0 ] || { echo "the two databases hold different rows" >&2; exit 1; }
  fi
done

median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
ratio=$(paste "$work/ours.times" "$work/theirs.times" | awk '{ printf "%.3f\n", $2 / $1 }' | median)
rate() { awk -v n="$rows" '{ printf "%.0f\n", n / $1 }' "$work/$1.times" | median; }
echo "$rows step rows, $rounds rounds:"
echo "  Writer::commit   $(rate ours) rows/s"
echo "  sqlite3 .import  $(rate theirs) rows/s"
echo "  ratio            $ratio x"
