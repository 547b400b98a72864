# Sourced by up and down: starting daemons, remembering them, and ending exactly those.
# DIR/processes has a line for each: name, process id, and the start time of that process, by which
# it is told from a later process that got the same id.

start_time_of() {
  # The 22nd field of stat; the second one, in brackets, may hold anything.
  local stat
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  stat="${stat##*) }"
  # shellcheck disable=SC2086
  set -- $stat
  echo "${20}"
}

# start NAME COMMAND...: in the background, in a session of its own. LLMB_SLURM_DEV marks the daemons
# and what they start in their turn, so that down finds it.
start() {
  local name="$1" pid
  shift
  env -i --chdir="$directory/run" PATH=/usr/sbin:/usr/bin:/sbin:/bin LLMB_SLURM_DEV="$directory" \
    SLURM_CONF="$directory/slurm.conf" setsid "$@" \
    </dev/null >>"$directory/log/$name.out" 2>&1 &
  pid=$!
  echo "$name $pid $(start_time_of "$pid" || echo 0)" >>"$directory/processes"
  echo "started $name, process $pid"
}

# start_slurmd NODE: works below the node's own folder, by which its steps are told from others'.
start_slurmd() {
  start "slurmd-$1" env --chdir="$directory/spool/$1" slurmd -D -N "$1" -f "$directory/slurm.conf"
}

# wait_until SECONDS WHAT COMMAND...: tries again until the command succeeds.
wait_until() {
  local seconds="$1" what="$2" end
  shift 2
  end=$(($(date +%s) + seconds))
  until "$@" >/dev/null 2>&1; do
    if [ "$(date +%s)" -gt "$end" ]; then
      echo "${0##*/}: waited $seconds s in vain until $what; see the logs in $directory/log:" >&2
      tail -n 5 "$directory"/log/* >&2 || true
      [ -n "${LLMB_SLURM_KEEP:-}" ] || "$here/down" "$directory" >&2 || true
      return 1
    fi
    sleep 0.1
  done
}

# slurm COMMAND...: asks this cluster, and not for long.
slurm() { SLURM_CONF="$directory/slurm.conf" timeout 60 "$@"; }

# recorded_process NAME: process id and start time of the last one started under that name.
recorded_process() {
  awk -v name="$1" '$1 == name { last = $2 " " $3 } END { print last }' "$directory/processes"
}

is_recorded_process() {  # PID START_TIME
  [ "$(start_time_of "$1" || true)" = "$2" ]
}

any_recorded_process_lives() {
  local name pid started
  while read -r name pid started; do
    ! is_recorded_process "$pid" "$started" || return 0
  done <"$1/processes"
  return 1
}

# end_process NAME PID START_TIME: asks, then insists after five seconds.
end_process() {
  local turn
  is_recorded_process "$2" "$3" || return 0
  kill -TERM "$2" 2>/dev/null || true
  for turn in $(seq 200); do
    if ! is_recorded_process "$2" "$3"; then
      echo "stopped $1, process $2"
      return 0
    fi
    [ "$turn" -ne 100 ] || kill -KILL "$2" 2>/dev/null || true
    sleep 0.05
  done
  echo "${0##*/}: $1, process $2, does not end" >&2
  return 1
}

# Last started, first stopped; Slurm's own daemons need not wait for each other.
stop_recorded_processes() {
  local name pid started
  while read -r name pid started; do
    case "$name" in
      slurmd-* | slurmctld)
        ! is_recorded_process "$pid" "$started" || kill -TERM "$pid" 2>/dev/null || true
        ;;
    esac
  done <"$1/processes"
  while read -r name pid started; do
    end_process "$name" "$pid" "$started"
  done < <(tac "$1/processes")
}

# step_processes DIR [NODE]: every slurmstepd of this cluster (of one of its nodes), and all that
# runs below it. A step outlives its slurmd, and a job's processes bear no mark of ours: their
# environment is the submitter's.
step_processes() {
  local pid parent name rest
  local -A is_ours=()
  for pid in $(pgrep -x slurmstepd || true); do
    { tr '\0' '\n' <"/proc/$pid/environ" | grep -qxF "SLURM_CONF=$1/slurm.conf"; } 2>/dev/null || continue
    if [ -n "${2:-}" ]; then
      [ "$(readlink "/proc/$pid/cwd" 2>/dev/null)" = "$1/spool/$2" ] || continue
    fi
    is_ours[$pid]=1
  done
  # Oldest first, so that a parent comes before its children.
  while read -r pid parent; do
    [ -z "${is_ours[$parent]:-}" ] || is_ours[$pid]=1
  done < <(ps -eo pid=,ppid= --sort=start_time)
  echo "${!is_ours[@]}"
}

# A cancelled job's steps tell slurmctld that they have ended, and try for minutes without it.
wait_for_steps() {
  local end=$((SECONDS + 8))
  while [ -n "$(step_processes "$1")" ] && [ "$SECONDS" -lt "$end" ]; do
    sleep 0.05
  done
}

# What the daemons started and left: every process that bears this cluster's mark, every step.
stop_left_behind() {
  local entry pid
  for entry in $(grep -slzxF "LLMB_SLURM_DEV=$1" /proc/[0-9]*/environ || true); do
    pid="${entry#/proc/}" pid="${pid%/environ}"
    end_process "what a daemon left" "$pid" "$(start_time_of "$pid" || echo 0)"
  done
  for pid in $(step_processes "$1"); do
    ! kill -KILL "$pid" 2>/dev/null || echo "killed what a job left, process $pid"
  done
}
