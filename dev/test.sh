#!/usr/bin/env bash
# Every test: the checks, what is known against the packages, what is pure but takes its time, then real servers, whole
# fleets, and the fleet in containers where there is a Docker engine. The last lines name what failed, and count them all.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

STARLING_REPORTS=$folder dev/check.sh || failed=1
if ! node dev/advisories.ts | tee "$folder/advisories"; then
  mv "$folder/advisories" "$folder/advisories.failed"
  failed=1
fi
rings=(thorough integration fleet)
without=$(dev/docker-engine.sh) && rings+=(containers) && without=$(dev/docker-compose.sh)

run() { # ring report files...
  local ring=$1 report=$2
  shift 2
  STARLING_FAILURES=$folder/$report.failures node_modules/.bin/vitest run --project "$ring" --reporter=verbose \
    --reporter=./dev/report-failures.ts --reporter=json --outputFile.json="$folder/$report.json" "$@"
}

# What is tried with real processes may fail because the machine stood still: see dev/second-run.ts.
again() { # ring
  local files
  [[ $1 != thorough ]] && files=$(node dev/unsteady.ts files "$folder" "$1") || return 1
  echo "== $1, once more: $files"
  # shellcheck disable=SC2086
  run "$1" "$1.again" $files && node dev/unsteady.ts hold "$folder" "$1"
}

for ring in "${rings[@]}"; do
  echo "== $ring"
  run "$ring" "$ring" && continue
  code=$?
  again "$ring" && continue
  rm -f "$folder/$ring.again".*
  echo "the run ended with exit code $code" >"$folder/$ring.failed"
  failed=1
done

[[ -n $without ]] && echo "$without"
node dev/count-tests.ts "$failed" "$folder"
exit $failed
