#!/usr/bin/env bash
# Whether a Kubernetes can be brought up here: by a tool beside the checkout, as root, with images of a Docker engine.
# If not: one line that says what is skipped without it, and exit code 1.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
tool=${STARLING_CLUSTER_TOOL:-../shared/tools/offline-k8s.sh}
left_out() {
  echo "== kubernetes: left out, for $1: the overlays are not tried on a cluster"
  exit 1
}

[[ -x $tool ]] || left_out "no tool that brings a cluster up stands at $tool"
((EUID == 0)) || left_out "a cluster is brought up by root alone"
docker info >/dev/null 2>&1 || left_out "no Docker engine answers"
