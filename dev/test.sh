#!/usr/bin/env bash
# Every test: the checks, what is pure but takes its time, then real servers, whole fleets, and the fleet in
# containers where there is a Docker engine. The last line counts them all.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

STARLING_UNIT_REPORT=$folder/unit.json dev/check.sh || failed=1
rings=(thorough integration fleet)
without=$(dev/docker-engine.sh) && rings+=(containers)
for ring in "${rings[@]}"; do
  echo "== $ring"
  node_modules/.bin/vitest run --project "$ring" --reporter=verbose --reporter=json --outputFile.json="$folder/$ring.json" || failed=1
done

[[ -n $without ]] && echo "$without"
node dev/count-tests.ts "$failed" "$folder"/*.json
exit $failed
