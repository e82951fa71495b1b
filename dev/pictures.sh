#!/usr/bin/env bash
# Makes the pictures of docs/pictures anew, with a browser and a filled fleet of its own.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tools=${STARLING_TOOLS:-$root/.starling/tools}
for part in steps node packages nats-server; do source "dev/install/$part.sh"; done
ensure_node
ensure_packages
ensure_nats_server

STARLING_PORTRAITS=$root/docs/pictures exec node_modules/.bin/vitest run --project processes \
  test/page/pictures.fleet.test.ts
