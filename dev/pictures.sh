#!/usr/bin/env bash
# Makes the pictures of docs/pictures anew, with a browser and a fleet of its own: the stories of how the page looks.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tools=${STARLING_TOOLS:-$root/.starling/tools}
for part in steps node packages nats-server; do source "dev/install/$part.sh"; done
ensure_node
ensure_packages
ensure_nats_server

STARLING_PORTRAITS=$root/docs/pictures exec node_modules/.bin/vitest run --project processes \
  test/page/looks.fleet.test.ts -t "four jobs|picture is made"
