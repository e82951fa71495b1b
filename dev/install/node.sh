# Node 24: the machine's own when it is new enough, else the pinned one from its npm package.

node_version=24.21.0

node_is_new_enough() {
  local version
  version=$("$1" --version 2>/dev/null) || return 1
  version=${version#v}
  ((${version%%.*} >= 24))
}

ensure_node() {
  local own=$tools/node-$node_version/bin
  if [[ -x $own/node ]]; then
    PATH=$own:$PATH
  elif ! node_is_new_enough node; then
    command -v npm >/dev/null || missing "npm" "install Node.js with npm (any version from 18 on), for example: apt-get install nodejs npm"
    with_install_lock node install_node
    PATH=$own:$PATH
  fi
  export PATH
}

install_node() {
  [[ -x $tools/node-$node_version/bin/node ]] && return
  local partial=$tools/node-$node_version.partial
  rm -rf "$partial"
  step "fetching Node $node_version" npm install --no-save --no-audit --no-fund --prefix "$partial" "node@$node_version" ||
    missing "Node $node_version" "npm could not fetch it; install Node 24 by hand and put it on the PATH"
  mkdir -p "$partial/bin"
  mv "$partial/node_modules/node/bin/node" "$partial/bin/node"
  rm -rf "$partial/node_modules" "$partial"/package*.json
  "$partial/bin/node" --version >/dev/null || missing "Node $node_version" "what npm fetched does not run on this machine"
  mv "$partial" "$tools/node-$node_version"
}
