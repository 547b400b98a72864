#!/usr/bin/env bash
# http_bench: cached JSON over keep-alive against nginx serving the same bytes from a file. Both have
# one thread on the same core, wrk has another; rounds alternate, and the ratio of each pair counts.
# On a busy machine run it under "chrt -f 5": else it measures what the others leave over.
# Usage: http_bench.sh PROGRAM_FOLDER [BODY_BYTES] [ROUNDS] [SECONDS]
set -euo pipefail
programs=${1:?usage: http_bench.sh PROGRAM_FOLDER [BODY_BYTES] [ROUNDS] [SECONDS]}
body_bytes=${2:-8192}
rounds=${3:-7}
seconds=${4:-3}
server_core=0
client_core=1
for tool in nginx wrk taskset; do
  command -v "$tool" >/dev/null || { echo "http_bench needs $tool, which is not installed" >&2; exit 1; }
done

folder=$(mktemp -d)
cleanup() {
  for pid in ${ours_pid:-} ${nginx_pid:-}; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$folder"
}
trap cleanup EXIT

mkdir -p "$folder/api/v1"
body=$folder/api/v1/runs
awk -v n="$body_bytes" 'BEGIN {
  printf "[0"; size = 2
  for (i = 1; size + length(i) + 2 <= n; ++i) { printf ",%d", i; size += length(i) + 1 }
  printf "]" }' > "$body"

mkfifo "$folder/output"
taskset -c "$server_core" "$programs/http_bench_server" "$body" >"$folder/output" &
ours_pid=$!
our_port=
while read -r line; do  # the server may log before it says its port
  if [[ $line =~ ^[0-9]+$ ]]; then our_port=$line; break; fi
done <"$folder/output"
[ -n "$our_port" ] || { echo "http_bench_server did not start" >&2; exit 1; }

nginx_port=$((our_port > 40000 ? our_port - 7919 : our_port + 7919))
cat > "$folder/nginx.conf" <<CONF
daemon off;
master_process off;
worker_processes 1;
pid $folder/nginx.pid;
error_log $folder/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  default_type application/json;
  sendfile on;
  tcp_nopush on;
  tcp_nodelay on;
  open_file_cache max=16;
  keepalive_requests 1000000000;
  client_body_temp_path $folder/t1; proxy_temp_path $folder/t2; fastcgi_temp_path $folder/t3;
  uwsgi_temp_path $folder/t4; scgi_temp_path $folder/t5;
  server { listen 127.0.0.1:$nginx_port; root $folder; }
}
CONF
taskset -c "$server_core" nginx -c "$folder/nginx.conf" -p "$folder" 2>/dev/null &
nginx_pid=$!

wait_for() {
  for _ in $(seq 100); do
    if (exec 4<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
    sleep 0.05
  done
  echo "nothing listens on port $1" >&2; cat "$folder/error.log" >&2 || true; exit 1
}
wait_for "$our_port"
wait_for "$nginx_port"

cpu_ns() { cat "/proc/$1/task/"*/schedstat | awk '{ sum += $1 } END { printf "%.0f", sum }'; }

# Prints requests per second, and microseconds of the server's processor time for each.
measure() {  # PORT PID
  local before after
  before=$(cpu_ns "$2")
  taskset -c "$client_core" wrk -t1 -c16 -d"${seconds}s" "http://127.0.0.1:$1/api/v1/runs" > "$folder/wrk"
  after=$(cpu_ns "$2")
  if grep -qE 'Non-2xx|Socket errors' "$folder/wrk"; then cat "$folder/wrk" >&2; exit 1; fi
  awk -v cpu_us="$(((after - before) / 1000))" '
    / requests in / { count = $1 } /Requests\/sec/ { rate = $2 }
    END { printf "%d %.2f\n", rate, cpu_us / count }' "$folder/wrk"
}
ask_ours() { measure "$our_port" "$ours_pid"; }
ask_nginx() { measure "$nginx_port" "$nginx_pid"; }
ask_ours > /dev/null  # warm
ask_nginx > /dev/null
for round in $(seq "$rounds"); do
  if (( round % 2 )); then theirs=$(ask_nginx); mine=$(ask_ours); else mine=$(ask_ours); theirs=$(ask_nginx); fi
  awk -v ours="$mine" -v nginx="$theirs" 'BEGIN {
    split(ours, o); split(nginx, n)
    printf "%.3f %.3f\n", o[1] / n[1], n[2] / o[2] >> "'"$folder"'/ratios"
    printf "  llmb-report %d/s at %.1f us, nginx %d/s at %.1f us\n", o[1], o[2], n[1], n[2] }'
done
median() { cut -d' ' -f"$1" "$folder/ratios" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
printf 'cached JSON of %d bytes, keep-alive: %.2fx the requests of nginx, %.2fx for each second of processor ' \
  "$(stat -c %s "$body")" "$(median 1)" "$(median 2)"
printf '(medians of %d pairs; bar 0.85x)\n' "$rounds"
