#!/usr/bin/env bash
# What the tests would not notice: fetches what the tests of real processes need, where they are asked for, and tries mutants.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tools=${STARLING_TOOLS:-$root/.starling/tools}
for part in dev/install/*.sh; do source "$part"; done

if [[ " $* " == *processes* ]]; then
  side_by_side ensure_nats_server ensure_signatures ensure_speech ensure_voices
  ensure_nats_server
  ensure_voices
fi
# A mutant's code is another each time: nothing of it is kept.
unset NODE_COMPILE_CACHE
exec node dev/mutants/main.ts "$@"
