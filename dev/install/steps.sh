# What the install steps share: progress on stderr, a lock, and an end that says what is missing.

say() { printf 'starling: %s\n' "$*" >&2; }

# A step with its time: step "what it does" command...
step() {
  local what=$1 started=$SECONDS
  shift
  say "$what ..."
  "$@" || return
  say "$what: done in $((SECONDS - started)) s"
}

# Exit code 69: something this machine lacks, and how to get it.
missing() {
  say "missing: $1"
  say "$2"
  exit 69
}

# Two launchers at once install one after the other. A lock whose holder is gone is taken over.
with_install_lock() {
  local lock=$tools/install.lock waited=0 holder
  mkdir -p "$tools"
  until mkdir "$lock" 2>/dev/null; do
    holder=$(cat "$lock/pid" 2>/dev/null || true)
    if [[ -n $holder ]] && ! kill -0 "$holder" 2>/dev/null; then
      rm -rf "$lock"
      continue
    fi
    ((waited++ > 600)) && missing "the install lock" "another install holds $lock; remove it if none runs"
    sleep 0.5
  done
  echo $$ >"$lock/pid"
  local result=0
  "$@" || result=$?
  rm -rf "$lock"
  return $result
}

checksum() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}
