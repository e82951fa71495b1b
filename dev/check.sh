#!/usr/bin/env bash
# Types with Effect diagnostics, the page's types, the fence between the rooms, lint, format, the time that regular
# expressions take, and unit tests, side by side: a line each, and the output of a failed one. When STARLING_REPORTS names
# a folder, the report of the unit tests and the failures are left there.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
source dev/passed-files.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
reports=${STARLING_REPORTS:-$folder}
bin=node_modules/.bin
failed=0
# The compiler's checkers and the tests' threads each repeat some of the work: with two cores, beside all else, one of
# each is the quickest.
cores=$(getconf _NPROCESSORS_ONLN)
threads=$((cores < 4 ? 1 : cores < 8 ? cores / 2 : 4))

# One compiler reports TypeScript's errors and Effect's, so that types are computed once: the TypeScript of the
# Effect package, a build of the very version that is installed. Its findings are cached with hashes of everything that
# it read, in a file of its own: a plain tsc would drop Effect's findings from a shared one.
read -r version platform < <(
  node --print '`${require("typescript/package.json").version} ${process.platform}-${process.arch}`'
)
compiler=node_modules/@effect/tsgo-$platform/artifacts/typescript/$version/tsc
findings=.starling/cache/check.tsbuildinfo
# It lives for seconds: most garbage collection would be in vain, and is a third of its work.
# It peaks at 1.8 GB without collection; beyond this limit it collects again.
# Its suggestions are many and no faults.
types_check() {
  GOGC=off GOMEMLIMIT=2500MiB "$compiler" --noEmit --project tsconfig.json --incremental \
    --tsBuildInfoFile "$findings" --checkers "$threads" | { grep -v ": suggestion TS" || true; }
}

# The page runs in browsers, whose globals nothing else may see.
page_types() {
  GOGC=off GOMEMLIMIT=1500MiB "$compiler" --noEmit --project page/tsconfig.json --incremental --checkers 1
}

code="libs services dev load-tests test page"
judged_by="package.json package-lock.json .gitignore"

# What lint asks of the files that one imports, the compiler asks too; a circle is found from the file that closes it.
lint() {
  judge_changed .starling/cache/lint.passed "$judged_by .oxlintrc.json" "$code deploy vitest.config.ts" \
    "$bin/oxlint" --quiet
}

well_formed() {
  judge_changed .starling/cache/format.passed "$judged_by .oxfmtrc.json" \
    "$code deploy/backup deploy/generate deploy/docker deploy/package vitest.config.ts" "$bin/oxfmt" --check
}

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
    cp "$folder/$1.out" "$reports/$1.failed"
    failed=1
  fi
}

start types types_check; types=$!
start page page_types; page=$!
start fence node dev/fence/main.ts; fence=$!
start lint lint; lint=$!
start format well_formed; format=$!
start patterns node dev/patterns/main.ts; patterns=$!
start unit env NO_COLOR=1 STARLING_FAILURES="$reports/unit.failures" "$bin/vitest" run --project unit \
  --maxWorkers="$threads" --reporter=dot --reporter=./dev/report-failures.ts \
  --reporter=json --outputFile.json="$reports/unit.json"; unit=$!

report types $types
report page $page
report fence $fence
report lint $lint
report format $format
report patterns $patterns
report unit $unit
exit $failed
