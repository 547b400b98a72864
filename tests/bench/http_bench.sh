#!/usr/bin/env bash
# http_bench: cached JSON over keep-alive against nginx serving the same bytes from a file. Both have
# one thread on the same core, wrk has another; rounds alternate, and the ratio of each pair counts.
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
  exec 3>&- || true
  [ -z "${ours_pid:-}" ] || wait "$ours_pid" 2>/dev/null || true
  [ -z "${nginx_pid:-}" ] || kill "$nginx_pid" 2>/dev/null || true
  [ -z "${nginx_pid:-}" ] || wait "$nginx_pid" 2>/dev/null || true
  rm -rf "$folder"
}
trap cleanup EXIT

mkdir -p "$folder/api/v1"
body=$folder/api/v1/runs
awk -v n="$body_bytes" 'BEGIN {
  printf "[0"; size = 2
  for (i = 1; size + length(i) + 2 <= n; ++i) { printf ",%d", i; size += length(i) + 1 }
  printf "]" }' > "$body"

# Our server ends when its standard input, descriptor 3 of this shell, does.
mkfifo "$folder/input" "$folder/output"
taskset -c "$server_core" "$programs/http_bench_server" "$body" <"$folder/input" >"$folder/output" &
ours_pid=$!
exec 3>"$folder/input"
read -r our_port <"$folder/output"

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

requests_per_s() {
  taskset -c "$client_core" wrk -t1 -c16 -d"${seconds}s" "http://127.0.0.1:$1/api/v1/runs" > "$folder/wrk"
  if grep -qE 'Non-2xx|Socket errors' "$folder/wrk"; then cat "$folder/wrk" >&2; exit 1; fi
  awk '/Requests\/sec/ { print $2 }' "$folder/wrk"
}
requests_per_s "$our_port" > /dev/null  # warm
requests_per_s "$nginx_port" > /dev/null
for round in $(seq "$rounds"); do
  if (( round % 2 )); then
    nginx=$(requests_per_s "$nginx_port"); ours=$(requests_per_s "$our_port")
  else
    ours=$(requests_per_s "$our_port"); nginx=$(requests_per_s "$nginx_port")
  fi
  awk -v o="$ours" -v n="$nginx" 'BEGIN { printf "%.3f %d %d\n", o / n, o, n }'
done | sort -n | tee "$folder/ratios" | awk '{ print "  llmb-report " $2 "/s, nginx " $3 "/s, ratio " $1 }'
awk -v bytes="$(stat -c %s "$body")" '{ ratio[NR] = $1 } END {
  printf "cached JSON of %d bytes, keep-alive: %.2fx nginx (median of %d pairs; bar 0.85x)\n", bytes,
    ratio[int((NR + 1) / 2)], NR }' "$folder/ratios"
