#!/usr/bin/env bash
# Whether the static programs need nothing beside themselves: in a root folder that holds them, a tree
# of logs and a place for databases, and nothing else, llmb-report parses, ingests, serves, plans jobs
# and examines itself, and llmb-step-runner trains.
# Exits with 77, and says why, where it cannot be found out.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: tests/deploy/empty_root.sh [--like PROGRAM] [--under COMMAND] [--emulator FILE]
                                  LLMB-REPORT TREE [LLMB-STEP-RUNNER]

  --like PROGRAM   another llmb-report, which has to print the same of the tree
  --under COMMAND  what enters the root folder: a kernel that lacks calls
  --emulator FILE  what starts the programs there, which are of another architecture: it is copied
                   beside them, and needs nothing either
TEXT
}

like="" under=() emulator=""
while [ $# -gt 0 ]; do
  case "$1" in
    --like) like="$(realpath "$2")"; shift 2 ;;
    --under) read -ra under <<<"$2"; shift 2 ;;
    --emulator) emulator="$(realpath "$2")"; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) break ;;
  esac
done
[ $# -ge 2 ] || { usage >&2; exit 2; }
program="$(realpath "$1")" tree="$(realpath "$2")" runner="${3:+$(realpath "$3")}"

root="$(mktemp -d)"
said="$(mktemp)"  # what the last program printed
started=()
cleanup() {
  local process
  for process in "${started[@]}"; do
    kill "$process" 2>/dev/null && wait "$process" 2>/dev/null || true
  done
  rm -rf "$root" "$said"
}
trap cleanup EXIT
mkdir "$root/tree" "$root/state"
cp "$program" "$root/llmb-report"
[ -z "$runner" ] || cp "$runner" "$root/llmb-step-runner"
cp -r "$tree/." "$root/tree/"

# As root by chroot; otherwise as the root of a user namespace, where such are allowed.
PATH="$PATH:/usr/sbin:/sbin"
enter=("${under[@]}" "$(command -v chroot)" "$root")
if [ "$(id -u)" -ne 0 ]; then
  enter=("${under[@]}" "$(command -v unshare)" --user --map-root-user "$(command -v chroot)" "$root")
fi
if [ -n "$emulator" ]; then
  cp "$emulator" "$root/emulator"
  enter+=(/emulator)
fi
status=0
timeout 180 env -i "${enter[@]}" /llmb-report --version >"$said" 2>&1 || status=$?
if [ "$status" -ne 0 ]; then
  cat "$said" >&2
  if [ "$status" -eq 77 ] || grep -qE '(chroot|unshare): .*([Nn]ot permitted|denied)' "$said"; then
    echo "Skipped: no other root folder can be entered here." >&2
    exit 77
  fi
  exit 1
fi

# inside WHAT VARIABLE=VALUE… /PROGRAM ARGUMENT…: its words go to $said; it has to end with 0.
inside() {
  local what="$1" variables=()
  shift
  while [[ "$1" == *=* && "$1" != /* ]]; do variables+=("$1"); shift; done
  timeout 120 env -i "${variables[@]}" "${enter[@]}" "$@" >"$said" 2>&1 && return
  echo "FAILED: $what ended with $?, and said:" >&2
  cat "$said" >&2
  exit 1
}
# said WHAT PATTERN: the last program printed a line like that.
said() {
  grep -qE -- "$2" "$said" || {
    echo "FAILED: $1: no line has $2 of:" >&2
    head -c 4000 "$said" >&2
    exit 1
  }
  echo "ok: $1"
}
# until_true SECONDS COMMAND…: waits for it.
until_true() {
  local left=$(($1 * 10))
  shift
  until "$@"; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || return 1
    sleep 0.1
  done
}

inside parse /llmb-report parse --format=csv tree
said parse complete
if [ -n "$like" ]; then
  (cd "$root" && "$like" parse --format=csv tree) >"$root/state/like" 2>&1
  cmp "$said" "$root/state/like"
  echo "ok: parse, the same words as the ordinary program's"
fi
inside "parse --explain" /llmb-report parse --explain tree/"$(cd "$tree" && find . -name '*.out' | sort | head -n 1)"
inside ingest /llmb-report ingest --once --db /state/runs.db /tree
said "ingest --once" '[1-9][0-9]* steps stored'
inside doctor /llmb-report doctor --db /state/runs.db /tree
said "doctor" 'integrity +ok'
inside "submit --dry-run" LLMB_WORKLOAD=/tree /llmb-report submit --dry-run --db /state/jobs.db \
  --backend cuda -w pretrain_grok1 -s 314b --dtype fp8 --gpu-type gb200 --scale 128
said "submit --dry-run" "^'sbatch'.*--nodes=32"

# serve NAME ARGUMENT…: sets $port.
serve() {
  local log="$root/state/$1.log"
  shift
  env -i "${enter[@]}" /llmb-report serve --listen 127.0.0.1:0 "$@" /tree >"$log" 2>&1 &
  started+=($!)
  until_true 60 grep -qsE '127\.0\.0\.1:[0-9]+' "$log" || { cat "$log" >&2; exit 1; }
  port="$(grep -oE '127\.0\.0\.1:[0-9]+' "$log" | head -n 1 | cut -d: -f2)"
}
ask() {
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' "$1" >&3
  cat <&3 >"$said"
  exec 3>&-
}
has_runs() { ask '/api/v1/runs?limit=1' && grep -q '"step_time_s_mean"' "$said"; }
serve plain --db /state/serve.db
ask /healthz
said "serve, /healthz" '^HTTP/1.1 200'
ask /
said "serve, the dashboard" '<html'
until_true 60 has_runs || { echo "FAILED: no run reached the API" >&2; exit 1; }
said "serve, /api/v1/runs" '"status"'
server="${started[-1]}"
kill "$server"
wait "$server" || { echo "FAILED: serve ended with $? by SIGTERM" >&2; exit 1; }
echo "ok: serve ends by SIGTERM"

# The machine's openssl.cnf may name modules, which a static program cannot load.
if command -v openssl >/dev/null; then
  mkdir -p "$root/usr/lib/ssl"
  printf '%s\n' 'config_diagnostics = 1' 'openssl_conf = all' '[all]' 'providers = list' \
    '[list]' 'fips = fips' '[fips]' 'module = /none.so' 'activate = 1' >"$root/usr/lib/ssl/openssl.cnf"
  openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 2 \
    -keyout "$root/state/key.pem" -out "$root/state/cert.pem" 2>/dev/null
  serve tls --db /state/tls.db --tls-cert /state/cert.pem --tls-key /state/key.pem
  printf 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' |
    timeout 180 openssl s_client -quiet -verify_return_error -CAfile "$root/state/cert.pem" \
      -connect "127.0.0.1:$port" >"$said" 2>/dev/null || true
  said "serve over TLS" '^HTTP/1.1 200'
else
  echo "not asked: serve over TLS, for there is no openssl here"
fi

[ -n "$runner" ] || exit 0
inside "llmb-step-runner --version" /llmb-step-runner --version
said "llmb-step-runner --version" '^backends: cpu$'
# Two ranks that find each other by a name of /etc/hosts. A port that is taken is not asked again.
mkdir -p "$root/etc"
echo '127.0.0.1 node1' >"$root/etc/hosts"
proxy=(-w pretrain_llama3.1 -s 8b --backend cpu --steps 3 --dp 2 --tp 1 --pp 1 --cp 1
  --num-layers 2 --hidden-size 32 --num-attention-heads 2 --num-query-groups 1 --head-size 16
  --ffn-hidden-size 64 --vocab-size 64 --seq-length 32 --micro-batch-size 1 --global-batch-size 2)
train() {  # train PORT
  local place=(OMP_NUM_THREADS=1 WORLD_SIZE=2 MASTER_ADDR=node1 MASTER_PORT="$1") first=0 second=0
  timeout 120 env -i "${place[@]}" RANK=1 "${enter[@]}" /llmb-step-runner "${proxy[@]}" \
    >"$root/state/rank1.log" 2>&1 &
  started+=($!)
  timeout 120 env -i "${place[@]}" RANK=0 "${enter[@]}" /llmb-step-runner "${proxy[@]}" \
    >"$said" 2>&1 || first=$?
  wait "${started[-1]}" || second=$?
  [ "$first" -eq 0 ] && [ "$second" -eq 0 ]
}
for attempt in 1 2 3 4 5; do
  train $((15000 + (RANDOM % 15000))) && break
  [ "$attempt" -lt 5 ] || cat "$root/state/rank1.log" >>"$said"
done
said "llmb-step-runner, two ranks that train" 'train_step_timing|elapsed time'
if [ -n "$emulator" ]; then
  echo "not asked: llmb-report starts llmb-step-runner, for the kernel starts no such program"
  exit 0
fi
# Outside, where /proc is: llmb-report finds the runner beside it, starts it and reads its answer.
mkdir "$root/beside"
cp "$program" "$root/beside/llmb-report"
cp "$runner" "$root/beside/llmb-step-runner"
timeout 180 env -i LLMB_WORKLOAD="$root/tree" "${under[@]}" "$root/beside/llmb-report" submit --dry-run \
  --db "$root/state/jobs.db" -w pretrain_grok1 -s 314b --dtype fp8 --gpu-type gb200 --scale 128 \
  --proxy >"$said" 2>&1 || true
said "llmb-report asks llmb-step-runner" "^#   backend = cpu"
