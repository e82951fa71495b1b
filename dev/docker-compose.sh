#!/usr/bin/env bash
# Whether Docker Compose is installed, and new enough for deploy/docker/compose.yaml. If not: one line that says what is
# skipped without it, and exit code 1.
set -uo pipefail

oldest=2.24.0
version=$(docker compose version --short 2>/dev/null) || version=none
version=${version#v}
[[ $version != none && $(printf '%s\n' "$oldest" "$version" | sort -V | head -1) == "$oldest" ]] && exit 0
echo "== compose: left out, for docker compose $oldest or later is needed (here: $version): deploy/docker/compose.yaml is not tried"
exit 1
