#!/usr/bin/env bash
# Types and Effect diagnostics, lint, format and unit tests, side by side; then the topology.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bin=node_modules/.bin
failed=0

start() { # name command...
  local name=$1
  shift
  (
    began=$(date +%s%N)
    "$@" >"$folder/$name.out" 2>&1
    code=$?
    echo "$code $((($(date +%s%N) - began) / 1000000))" >"$folder/$name.end"
  ) &
}

report() { # name
  local code took
  wait "$2"
  read -r code took <"$folder/$1.end"
  if ((code == 0)); then printf '✓ %-8s %5d ms\n' "$1" "$took"; else
    printf '✗ %-8s %5d ms\n' "$1" "$took"
    cat "$folder/$1.out"
    failed=1
  fi
}

start types "$bin/tsc" --noEmit --project tsconfig.json; types=$!
start effect "$bin/effect-tsgo" diagnostics --project tsconfig.json; effect=$!
start lint "$bin/oxlint" --quiet; lint=$!
start format "$bin/oxfmt" --check libs services dev deploy/backup deploy/generate deploy/docker test load-tests vitest.config.ts; format=$!
start unit "$bin/vitest" run --project unit --reporter=dot --reporter=json --outputFile.json="${STARLING_UNIT_REPORT:-$folder/unit.json}"; unit=$!
start topology node services/fleet/main.ts topology; topology=$!

report types $types
report effect $effect
report lint $lint
report format $format
report unit $unit
report topology $topology
((failed == 0)) && cat "$folder/topology.out"
exit $failed
