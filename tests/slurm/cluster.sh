#!/usr/bin/env bash
# Brings up and takes down the two Slurm clusters of tests/slurm: one with accounting, one without.
#   cluster.sh up|down FILE
# FILE remembers the folder that holds both. Exit status 77: they cannot be had here, and why.
set -euo pipefail
slurm_dev="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../deploy/slurm-dev" && pwd)"
action="$1" file="$2"

skip() {
  echo "Skipped: $*"
  exit 77
}

take_down() {
  [ -s "$file" ] || return 0
  local folder cluster
  folder="$(cat "$file")"
  case "$folder" in /tmp/llmb-slurm.*) ;; *) echo "$file names $folder" >&2; exit 1 ;; esac
  for cluster in "$folder"/accounting "$folder"/plain; do
    [ ! -d "$cluster" ] || timeout 180 "$slurm_dev/down" --remove "$cluster" &
  done
  wait
  rm -rf "$folder" "$file"
}

take_down  # also what a run that was broken off has left
[ "$action" = up ] || exit 0

[ "$(id -u)" -eq 0 ] || skip "slurmd and munged have to be started by root"
for program in munged slurmctld slurmd sbatch slurmdbd mariadbd; do
  command -v "$program" >/dev/null ||
    skip "$program is not installed; deploy/test.sh installs it, or: apt-get install" \
      "munge slurmctld slurmd slurm-client slurmdbd mariadb-server"
done

folder="$(mktemp -d /tmp/llmb-slurm.XXXXXX)"
echo "$folder" >"$file"
# Names of their own keep the ports apart that ranks derive from the cluster's name and job ids.
export LLMB_SLURM_CLUSTER="test$(basename "$folder" | tr -dc 'A-Za-z0-9' | tr 'A-Z' 'a-z')"
LLMB_SLURM_CLUSTER+=a timeout 600 "$slurm_dev/up" --no-install --accounting "$folder/accounting" &
accounting=$!
LLMB_SLURM_CLUSTER+=p timeout 600 "$slurm_dev/up" --no-install "$folder/plain" &
plain=$!
failed=0
wait "$accounting" || failed=1
wait "$plain" || failed=1
[ "$failed" -eq 0 ] || take_down
exit "$failed"
