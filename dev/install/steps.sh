# What the install steps share: progress on stderr, a log of what others print, a lock, and an end that says what is missing.

say() { printf 'starling: %s\n' "$*" >&2; }

# More than the package managers print in several installs.
install_log_bytes_max=1000000

# A step in one line with its time; what the command prints goes to a log. Where it fails, the line names the log, and the
# last of it follows: step "what it does" command...
step() {
  local what=$1 started=$SECONDS log=$tools/install.log code=0
  shift
  mkdir -p "$tools"
  [[ -f $log ]] && (($(wc -c <"$log") > install_log_bytes_max)) && rm -f "$log"
  printf '== %s\n' "$what" >>"$log"
  printf 'starling: %s ...' "$what" >&2
  "$@" >>"$log" 2>&1 || code=$?
  if ((code == 0)); then
    printf ' %s s\n' $((SECONDS - started)) >&2
    return
  fi
  printf ' failed after %s s; what it said is in %s, and ends with\n' $((SECONDS - started)) "$log" >&2
  tail -n 5 "$log" | sed 's/^/    /' >&2
  return $code
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
