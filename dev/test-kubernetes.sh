#!/usr/bin/env bash
# Tests the overlays on a cluster of their own: a separate stage, for it needs root and a cluster. Its last lines name
# the failures, and count the tests.
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
# No test can report why the cluster did not start.
((code == 0)) || { sed 's/\x1b\[[0-9;]*m//g' "$folder/said" | grep 'Error: ' || echo "the run ended with exit code $code"; } >"$folder/$ring.failed"
node dev/count-tests.ts "$code" "$folder" "$ring: "
exit $((code != 0))
