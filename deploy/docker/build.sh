#!/usr/bin/env bash
# Builds the images with the packages of this machine: for engines without BuildKit and builds without a registry.
# The bundle holds native parts of this machine's platform, which must be Linux.
#   deploy/docker/build.sh [tag]     makes starling-fleet:<tag> and starling-speech:<tag>; the default is dev
# NODE_IMAGE names another base than the Dockerfile's, such as a mirror's.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
tag=${1:-dev}
[[ $(uname -s) == Linux ]] || { echo "build.sh: the bundle must be made on Linux; use docker build with BuildKit" >&2; exit 69; }
base=()
[[ -z ${NODE_IMAGE:-} ]] || base=(--build-arg NODE_IMAGE="$NODE_IMAGE")
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT

cd "$root"
tools=${STARLING_TOOLS:-$root/.starling/tools}
source dev/install/steps.sh
source dev/install/node.sh
ensure_node
node deploy/docker/bundle.ts "$context/dist"
# An engine without BuildKit would run the stage that nobody takes.
sed '/^FROM .* AS built$/,/^$/d' deploy/docker/Dockerfile >"$context/Dockerfile"
for target in fleet speech; do
  docker build --quiet --target "$target" --tag "starling-$target:$tag" --build-arg BUNDLE=prebuilt "${base[@]}" \
    --build-arg VERSION="$(node -p 'require("./package.json").version')" \
    --build-arg REVISION="$(git rev-parse HEAD 2>/dev/null || echo unknown)" \
    --build-arg CREATED="$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$context"
done
docker image ls --format '{{.Repository}}:{{.Tag}} {{.Size}}' | grep -E "^starling-(fleet|speech):$tag "
