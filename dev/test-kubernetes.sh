#!/usr/bin/env bash
# The development overlay on a cluster of the tests' own: a stage of its own, for it needs root and a cluster. Its last
# lines name what failed, and count its tests.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
dev/kubernetes-cluster.sh || exit 0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ring=kubernetes

echo "== $ring"
STARLING_FAILURES=$folder/$ring.failures node_modules/.bin/vitest run --project "$ring" --reporter=verbose \
  --reporter=./dev/report-failures.ts --reporter=json --outputFile.json="$folder/$ring.json" "$@" 2>&1 | tee "$folder/said"
code=${PIPESTATUS[0]}
# Where the cluster did not stand up, no test can say why.
((code == 0)) || { sed 's/\x1b\[[0-9;]*m//g' "$folder/said" | grep 'Error: ' || echo "the run ended with exit code $code"; } >"$folder/$ring.failed"
node dev/count-tests.ts "$code" "$folder" "$ring: "
exit $((code != 0))
