# The project's packages, exactly as locked. Installed again only when the lock file has changed.

ensure_packages() {
  local stamp=node_modules/.starling-lock
  cmp -s package-lock.json "$stamp" && return
  with_install_lock packages install_packages "$stamp"
}

install_packages() {
  cmp -s package-lock.json "$1" && return
  command -v npm >/dev/null || missing "npm" "install npm, for example: apt-get install npm"
  node dev/install/locked.ts before || missing "a package-lock.json that belongs to package.json" "run npm install, look at what it changes in the lock file, and keep both"
  # Run on the Node that will run the project: npm picks versions by it. Not `npm ci`: that refuses a lock
  # file without the binaries of platforms that were not there when it was written. What it would see to is seen to here.
  step "installing packages" node "$(readlink -f "$(command -v npm)")" install --no-save --no-audit --no-fund ||
    missing "the packages of package-lock.json" "npm install failed, as the log has it"
  node dev/install/locked.ts after || missing "the packages of package-lock.json" "others were installed; remove node_modules and start again"
  cp package-lock.json "$1"
}
