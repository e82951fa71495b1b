#!/usr/bin/env bash
# How much a stranger reads to follow a call: the lines of the files that each kind of call runs through.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
export STARLING_HOME=${STARLING_HOME:-$root/.starling}
tools=${STARLING_TOOLS:-$root/.starling/tools}
for part in dev/install/*.sh; do source "$part"; done

ensure_node
side_by_side ensure_packages ensure_nats_server ensure_speech
ensure_nats_server
export UV_THREADPOOL_SIZE=16
unset NODE_COMPILE_CACHE
exec node load-tests/walks/main.ts "$@"
