#!/usr/bin/env bash
# Whether deploy/package.sh packs what it says, of the programs that a build has, and whether
# cmake --install puts the same below a prefix. Argument: the build's folder.
# Exits with 77, and says why, where there is no dpkg-deb.
set -euo pipefail
source_tree="$(realpath "$(dirname "$0")/../..")" build="$(realpath "$1")"
command -v dpkg-deb >/dev/null || { echo "Skipped: no dpkg-deb here."; exit 77; }
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
# holds FILE PATTERN
holds() { grep -qE -- "$2" "$1" || fail "$1 has no line with $2"; }

# Folders are the caller's.
ln -s "$build" "$folder/build"
(cd "$folder" && "$source_tree/deploy/package.sh" --build build --output package)
(cd "$folder/package" && sha256sum --check --strict SHA256SUMS)
[ "$(wc -l <"$folder/package/SHA256SUMS")" -eq 4 ] || fail "SHA256SUMS does not name four files"
version="$("$build/bin/llmb-report" --version | cut -d' ' -f1)"
[ "$(echo "$folder"/package/llmb-report-"$version"-linux-*)" != "" ]
dpkg-deb -x "$folder"/package/llmb-report_"$version"_*.deb "$folder/deb"
dpkg-deb -f "$folder"/package/*.deb >"$folder/control"
holds "$folder/control" "^Version: $version$"
! grep -q '^Depends' "$folder/control" || fail "the package depends on others"
[ "$("$folder/deb/usr/bin/llmb-report" --version)" = "$("$build/bin/llmb-report" --version)" ] ||
  fail "the packed llmb-report is of another version"
"$folder/deb/usr/bin/llmb-step-runner" --version | grep -qx 'backends: cpu' ||
  fail "the packed llmb-step-runner is not the one for CPUs"
cmp "$folder/deb/usr/share/doc/llmb-report/third-party-notices.gz" "$folder/package/third-party-notices.gz"
gzip -dc "$folder/package/third-party-notices.gz" >"$folder/notices"
for words in 'Boost Software License' 'The RE2 Authors' 'OpenBLAS' 'The OpenSSL Project' uPlot Preact; do
  grep -qi "$words" "$folder/notices" || fail "the notices of others do not name $words"
done
gzip -dc "$folder/deb/usr/share/man/man1/llmb-report.1.gz" >"$folder/manual"
holds "$folder/manual" '^\.TH LLMB'
bash -n "$folder/deb/usr/share/bash-completion/completions/llmb-report"
holds "$folder/deb/usr/share/zsh/vendor-completions/_llmb-report" '^#compdef llmb-report'
unit="$folder/deb/usr/lib/systemd/system/llmb-report.service"
holds "$unit" '^ExecStart=/usr/bin/llmb-report serve '

cmake --install "$build" --prefix "$folder/prefix" >/dev/null
[ "$("$folder/prefix/bin/llmb-report" --version)" = "$("$build/bin/llmb-report" --version)" ] ||
  fail "the installed llmb-report is of another version"
"$folder/prefix/bin/llmb-step-runner" --version >/dev/null
cmp "$folder/manual" "$folder/prefix/share/man/man1/llmb-report.1"
holds "$folder/prefix/lib/systemd/system/llmb-report.service" \
  "^ExecStart=$folder/prefix/bin/llmb-report serve "
if command -v systemd-analyze >/dev/null; then
  systemd-analyze verify --man=no "$folder/prefix/lib/systemd/system/llmb-report.service" ||
    fail "systemd does not take the unit"
else
  echo "not asked: systemd, which is not here"
fi
