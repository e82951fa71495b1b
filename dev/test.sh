#!/usr/bin/env bash
# Every test: the checks, what is pure but takes its time, then real servers, whole fleets, and the fleet in
# containers where there is a Docker engine. The last lines name what failed, and count them all.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

STARLING_REPORTS=$folder dev/check.sh || failed=1
rings=(thorough integration fleet)
without=$(dev/docker-engine.sh) && rings+=(containers) && without=$(dev/docker-compose.sh)
for ring in "${rings[@]}"; do
  echo "== $ring"
  STARLING_FAILURES=$folder/$ring.failures node_modules/.bin/vitest run --project "$ring" --reporter=verbose \
    --reporter=./dev/report-failures.ts --reporter=json --outputFile.json="$folder/$ring.json" || {
    echo "the run ended with exit code $?" >"$folder/$ring.failed"
    failed=1
  }
done

[[ -n $without ]] && echo "$without"
node dev/count-tests.ts "$failed" "$folder"
exit $failed
