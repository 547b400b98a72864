#!/usr/bin/env bash
# clang-tidy over the program's own C++ files, as .clang-tidy says. Arguments: build folder, jobs.
# In a unity build (preset check) it reads the joined sources, and the headers of sixteen once: a fifth
# of the time. In the preset dev it reads each file alone, and so finds what a file does not include
# itself. Tests are left out: GoogleTest's macros cost most of the time, and the compiler reads
# them too.
# A file that passed before is read again only where something has changed that clang-tidy sees: the
# file, a header that it includes, its compile command, the checks, or clang-tidy itself.
set -euo pipefail
build="${1:?build folder}" jobs="${2:-1}"
passed="${XDG_CACHE_HOME:-$HOME/.cache}/llmb-report/clang-tidy"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$passed" "$work/seen"
find "$passed" -type f -mtime +30 -delete

# The files that git tracks and those that join them, without what only GCC knows: its precompiled
# headers and its warnings.
git ls-files '*.cpp' ':!tests' | jq -R --arg root "$PWD/" '$root + .' >"$work/tracked.json"
jq --slurpfile tracked "$work/tracked.json" '
  INDEX($tracked[]; .) as $wanted
  | [unique_by(.file)[] | select($wanted[.file] or (.file | test("/Unity/unity_") and (test("/build/[^/]+/tests/") | not)))
     | .command |= gsub(" -Winvalid-pch| -fpch-preprocess| -Wno-(restrict|stringop-[a-z]+|subobject-linkage)| -include [^ ]*cmake_pch.hxx"; "")]
' "$build/compile_commands.json" >"$work/compile_commands.json"

# For each file a line with everything that it includes, itself first; then one file of what
# clang-tidy would see of it, whose hash is the name under which the file is known to have passed.
clang-scan-deps-14 --compilation-database="$work/compile_commands.json" -j "$jobs" |
  awk '{ line = line $0 } !sub(/\\$/, "", line) { sub(/^[^:]*: */, "", line); print line; line = "" }' \
    >"$work/includes"
tr -s ' ' '\n' <"$work/includes" | sort -u | grep . >"$work/sources"
{
  grep -v /Unity/unity_ "$work/sources" | xargs -d '\n' sha256sum
  # What joins others names them with the folder of this clone.
  sed -n '\#/Unity/unity_#p' "$work/sources" | while read -r joined; do
    echo "$(sed "s#$PWD/##" "$joined" | sha256sum | cut -d ' ' -f 1)  $joined"
  done
} >"$work/hashes"
jq -r --arg root "$PWD" '.[] | .file + " " + (.command | gsub($root; ""))' \
  "$work/compile_commands.json" >"$work/commands"
setting="$(clang-tidy --version; sha256sum .clang-tidy)"
awk -v seen="$work/seen" -v setting="$setting" '
  FILENAME ~ /hashes$/ { hash[$2] = $1; next }
  FILENAME ~ /commands$/ { command[$1] = $0; sub(/^[^ ]* /, "", command[$1]); next }
  {
    file = seen "/" FNR
    print setting "\n" command[$1] >file
    for (i = 1; i <= NF; ++i) print hash[$i] >file
    close(file)
    print $1 >(seen "/files")
  }' "$work/hashes" "$work/commands" "$work/includes"

# The path analysis is the shallow one: the deep one takes as long again as all other checks together.
# Reserved names are the compiler's to find: the check of clang-tidy looks through every header for them.
read_file() {
  clang-tidy --quiet -p "$work" --checks=-bugprone-suspicious-include --extra-arg=-Wreserved-identifier --extra-arg=-Xclang --extra-arg=-analyzer-config \
    --extra-arg=-Xclang --extra-arg=mode=shallow "$2" 2> >(grep -v 'warnings generated' >&2) &&
    touch "$passed/$1"
}
export -f read_file
export work passed
nl -w 1 -s ' ' "$work/seen/files" | while read -r number file; do
  key="$(sha256sum <"$work/seen/$number")"
  [ -e "$passed/${key%% *}" ] || printf '%s\0%s\0' "${key%% *}" "$file"
done >"$work/to_read"
echo "$(tr -cd '\0' <"$work/to_read" | wc -c | awk '{ print $1 / 2 }') of $(wc -l <"$work/seen/files") sources to read; the others passed before as they are."
xargs -0 -r -n 2 -P "$jobs" bash -c 'read_file "$@"' clang-tidy <"$work/to_read"
