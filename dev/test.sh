#!/usr/bin/env bash
# Every test: the checks, and beside them the advisories against the packages and what is fetched for the rest; then real
# servers, whole fleets, and the fleet in containers if there is a Docker engine, up to four files at once, and beside them
# the pure but slow tests. The last lines name the failures and the flaky tests, and count all tests.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tools=${STARLING_TOOLS:-$root/.starling/tools}
for part in dev/install/*.sh; do source "$part"; done

# One package manager, which locks itself.
ensure_system_packages() { ensure_signatures && ensure_speech && ensure_prometheus; }
fetch_for_processes() { side_by_side ensure_nats_server ensure_system_packages ensure_voices ensure_hearing; }
use_what_was_fetched() {
  fetched=yes
  ensure_nats_server
  ensure_prometheus
  ensure_voices
  ensure_hearing
  # For the example in Go of the webhooks' verification.
  find_go
}
# Building kustomize takes longer than all else, and only the thorough tests and a cluster need it.
fetch_for_manifests() { side_by_side ensure_kustomize ensure_schemas; }

if [[ ${1:-} == --kubernetes ]]; then
  side_by_side fetch_for_processes fetch_for_manifests || exit
  use_what_was_fetched
  ensure_kustomize
  ensure_schemas
  exec dev/test-kubernetes.sh "${@:2}"
fi
# Clients of others, at their newest versions: what they think of us may change by the day, so they are asked by hand. With
# STARLING_JUDGES_RECORD a whole run notes the versions with which all passed, for docs/compatibility.md.
if [[ ${1:-} == --judges ]]; then
  ensure_nats_server || exit
  exec node_modules/.bin/vitest run --project judges "${@:2}"
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# A process may prepare the system beside this, its packages and its Docker engine: the checks do not wait for it.
system_is_ready() {
  [[ -n ${STARLING_SYSTEM_PID:-} ]] || return 0
  while kill -0 "$STARLING_SYSTEM_PID" 2>/dev/null; do sleep 0.2; done
}

# The images are built beside the checks and the first tests, of which those in containers wait for `images.made`.
make_images() {
  system_is_ready && dev/docker-engine.sh >/dev/null || return
  if NODE_IMAGE=$(dev/node-image.sh) deploy/docker/build.sh containers >"$folder/images" 2>&1; then mv "$folder/images" "$folder/images.made"; else
    mv "$folder/images" "$folder/images.failed"
  fi
}
[[ -n ${STARLING_IMAGES:-} ]] || make_images &
images=$!

(system_is_ready && fetch_for_processes) &
fetching=$!
(renice -n 19 "$BASHPID" >/dev/null && system_is_ready && fetch_for_manifests) &
# A registry is waited for.
node dev/advisories.ts >"$folder/advisories" 2>&1 &
advisories=$!
STARLING_REPORTS=$folder dev/check.sh || failed=1
wait "$advisories"
code=$?
cat "$folder/advisories"
if ((code != 0)); then
  mv "$folder/advisories" "$folder/advisories.failed"
  failed=1
fi

wait "$fetching" || exit
use_what_was_fetched

# A worker starts up to a thousand processes, and each start copies the table of its memory's pages, which is short for one
# arena of huge pages. What it starts does not inherit that: see vitest.config.ts.
run() { # report words...
  local report=$1
  shift
  GLIBC_TUNABLES=glibc.malloc.hugetlb=1 MALLOC_ARENA_MAX=1 STARLING_FAILURES=$folder/$report.failures \
    node_modules/.bin/vitest run --reporter=verbose --reporter=./dev/report-failures.ts \
    --reporter=json --outputFile.json="$folder/$report.json" "$@"
}

ended() { # report code
  echo "the run ended with exit code $2" >"$folder/$1.failed"
  failed=1
}

# Tests with real processes leave half of a machine idle: one thread of pure tests takes that, and gives way to them. It
# ends long before the fleets that are held to a pace begin.
(
  renice -n 19 "$BASHPID" >/dev/null
  # Waits for the locks of the installs that began beside the checks.
  fetched=
  ensure_kustomize
  ensure_schemas
  run thorough --project thorough --maxWorkers=1
) >"$folder/thorough" 2>&1 &
thorough=$!

processes=(--project processes --project processes-alone)
if without=$(dev/docker-engine.sh); then
  without=$(dev/docker-compose.sh)
  processes+=(--project containers)
  [[ -n ${STARLING_IMAGES:-} ]] || export STARLING_IMAGES=containers STARLING_IMAGES_END=$folder/images
fi

# Tests with real processes may fail because the machine stood still: see dev/second-run.ts. A few files are tried
# again, one by one.
again() {
  local files held=0
  files=$(node dev/flaky.ts files "$folder" processes) || return
  echo "== once more: $files"
  # shellcheck disable=SC2086
  STARLING_TEST_FILES_AT_ONCE=1 run processes.again "${processes[@]}" $files || held=1
  node dev/flaky.ts hold "$folder" processes && return "$held"
}

echo "== integration, fleet, containers"
run processes "${processes[@]}"
code=$?
if ((code != 0)) && ! again; then
  rm -f "$folder/processes.again".*
  ended processes $code
fi

wait "$images"
[[ ! -e $folder/images.failed ]] || failed=1

echo "== thorough"
wait "$thorough"
code=$?
cat "$folder/thorough"
((code == 0)) || ended thorough $code

# How much a stranger reads to follow a call, which may only become less. Beside other work it would be more.
echo "== walks"
dev/walks.sh >"$folder/walks" 2>"$folder/walks.log"
code=$?
cat "$folder/walks"
if ((code != 0)); then
  cat "$folder/walks.log"
  mv "$folder/walks" "$folder/walks.failed"
  failed=1
fi

[[ -n $without ]] && echo "$without"
browser=
for path in ${STARLING_CHROMIUM:-/usr/bin/chromium-headless-shell /usr/bin/chromium}; do
  [[ ! -x $path ]] || browser=$path
done
[[ -n $browser ]] ||
  echo "== page: left out, for there is no Chromium at ${STARLING_CHROMIUM:-/usr/bin}: the console's page is not tried in a browser"
node dev/count-tests.ts "$failed" "$folder"
exit $failed
