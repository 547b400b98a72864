#!/usr/bin/env bash
# How fast an NCCL trace is added up beside rg, which only counts its lines: both on one log, in
# turn, from a pipe and from a file. For each form of what stands before a line (a host, the rank
# alone, srun's label, a collector's stamp, nothing), and for a trace among as many other lines, prints the medians of
# the per-round ratios, by wall clock and by the processor time of the process, which other work on
# the machine changes less; "reading" is what the reader takes for the bytes alone, before a look at
# them. Nothing here passes or fails by time; it does fail when the two count different lines.
#
#   tests/bench/nccl_bench.sh [BUILD_DIR] [ROUNDS] [BYTES]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
rounds=${2:-7}
bytes=${3:-1000000000}
[ -x "$build/bin/scan_bench" ] || {
  echo "$build/bin/scan_bench is missing: build it (cmake --build $build --target scan_bench)" >&2
  exit 1
}
command -v rg >/dev/null || { echo "rg is missing: apt-get install ripgrep" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/trace.out

# Eight ranks, four operations of several sizes, as a step of a sharded model prints them; repeated
# until the log is large enough.
make_part() {
  awk -v form="$1" 'BEGIN {
    split("AllReduce AllGather ReduceScatter Broadcast", operations, " ")
    for (i = 0; i < 20000; ++i) {
      rank = i % 8
      if (form == "host" || form == "mixed") {
        printf "node%02d:%d:%d [%d] ", int(rank / 4), 191369 + rank, 191420 + rank, rank
      }
      if (form == "stamp") printf "2026-01-02T03:04:05.%09dZ ", i * 37013 % 1000000000
      if (form == "rank" || form == "stamp") printf "[%d] ", rank
      if (form == "label") printf "%d: [%d] ", rank, rank
      operation = operations[i % 4 + 1]
      count = 1024 * (1 + int(i / 8) % 40)
      printf "NCCL INFO %s: opCount %x sendbuff 0x7f%08x00 recvbuff 0x7e%08x00 count %d datatype " \
             "%d op 0 root 0 comm 0x55e29%07x [nranks=%d] stream 0x55e29067e430\n",
             operation, int(i / 8), i, i + 7, count, i % 3 ? 9 : 7, rank * 4096, 8
      if (form == "mixed" && i % 8 == 7) {
        for (k = 0; k < 8; ++k) {
          print "    model.decoder.layers." k ".self_attention.linear_qkv.weight: shape (6144, " i ")"
        }
      }
    }
  }'
}
make_log() {
  : >"$log"
  make_part "$1" >"$work/part"
  while [ "$(stat -c %s "$log")" -lt "$bytes" ]; do
    for ((i = 0; i < 16; ++i)); do cat "$work/part"; done >>"$log"
  done
}

# measure SOURCE NAME COMMAND...: appends the seconds that the command takes on the log (elapsed,
# and of a processor) to SOURCE.NAME.times.
TIMEFORMAT='%R %U %S'
measure() {
  local source=$1 name=$2
  shift 2
  case $source in
    pipe) cat "$log" | { time "$@" >"$work/$name.count"; } 2>"$work/time" ;;
    file) { time "$@" <"$log" >"$work/$name.count"; } 2>"$work/time" ;;
  esac
  awk '{ print $1, $2 + $3 }' "$work/time" >>"$work/$source.$name.times"
}
# ratio SOURCE NAME COLUMN: the median over the rounds of how many times faster than rg it was.
ratio() {
  paste -d' ' "$work/$1.$2.times" "$work/$1.rg.times" |
    awk -v c="$3" '{ printf "%.3f\n", $(c + 2) / $c }' | sort -g |
    awk '{ v[NR] = $1 } END { printf "%.2f", v[int((NR + 1) / 2)] }'
}

for form in host rank label stamp none mixed; do
  make_log "$form"
  rm -f "$work"/*.times
  for ((round = 0; round < rounds; ++round)); do
    for source in pipe file; do
      measure $source rg rg --no-config -j1 -c 'NCCL INFO' -
      measure $source reader "$build/bin/scan_bench" --nccl
      cmp -s "$work/rg.count" "$work/reader.count" ||
        { echo "rg and the reader count different lines in the form $form" >&2; exit 1; }
      measure $source reading "$build/bin/scan_bench" --read
    done
  done
  echo "$form: so many times faster than rg by wall clock (by processor time):"
  for source in pipe file; do
    echo "  from a $source: $(ratio $source reader 1) ($(ratio $source reader 2))," \
      "reading alone $(ratio $source reading 1) ($(ratio $source reading 2))"
  done
done
