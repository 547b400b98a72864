#!/usr/bin/env bash
# Prints what others ask to be said wherever their work is passed on: the copyrights and licences of
# all that deploy/package.sh links into the programs, as Debian and npm have them.
set -euo pipefail
cd "$(dirname "$0")/.."
source deploy/packages.sh

# notice NAME FILE
notice() {
  printf '\n%s\n%s\n\n' "$1" "${1//?/=}"
  cat "$2"
}

echo "llmb-report holds works of others. These are the packages that it is linked with or shows its"
echo "dashboard by, and what each says of its copyright and licence."
# Of what is built with, libraries only: compilers and tools leave nothing of theirs in a program, but
# for the C and the C++ library. The static programs have no PostgreSQL client.
for package in "${LLMB_BUILD_PACKAGES[@]}" libc6-dev libstdc++-12-dev; do
  case "$package" in
    libpq-dev) continue ;;
    lib* | zlib* | nlohmann*) ;;
    *) continue ;;
  esac
  copyright="/usr/share/doc/$package/copyright"
  [ -r "$copyright" ] || {
    echo "third_party_notices.sh: no $copyright, which the package $package brings along:" \
      "apt-get install --reinstall $package" >&2
    exit 1
  }
  notice "$package" "$copyright"
done
npm ls --prefix web --omit=dev --all --parseable | tail -n +2 | sort -u | while read -r folder; do
  notice "${folder##*/node_modules/}" "$(find "$folder" -maxdepth 1 -iname 'licen[cs]e*' | head -1)"
done
