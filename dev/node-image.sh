#!/usr/bin/env bash
# The base of the images that the tests run: what the Dockerfile names, by its digest, if the engine has it or can pull it.
# An engine without a registry may have one of the same Debian and Node that was made by hand: that is good enough for tests.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
pinned=$(sed -n 's/^ARG NODE_IMAGE=//p' deploy/docker/Dockerfile)
by_hand=node:24-bookworm-slim
has() { docker image inspect "$1" >/dev/null 2>&1; }

if ! has "$pinned" && ! timeout 120 docker pull --quiet "$pinned" >/dev/null 2>&1 && has "$by_hand"; then
  echo "$by_hand"
else
  echo "$pinned"
fi
