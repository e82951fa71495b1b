#!/usr/bin/env bash
# Measures the voices and writes the tables of docs/voices.md anew, half an hour on two idle processors: dev/voices.sh
# [--sizes N,N], the paragraphs that the first voice and each of the others read. The report is kept in load-tests/results.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tools=${STARLING_TOOLS:-$root/.starling/tools}
for part in steps node; do source "dev/install/$part.sh"; done
ensure_node

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# A missed target is written down all the same.
./starling load voices voices cost --out "$out" "$@" || [[ -n $(ls "$out"/*.json) ]]
node load-tests/speech/voices-table.ts "$out"/*.json
mkdir -p load-tests/results
cp "$out"/* load-tests/results/
