# What the install steps share: progress on stderr, a log of what others print, locks, and an end that says what is missing.

say() { printf 'starling: %s\n' "$*" >&2; }

# More than the package managers print in several installs.
install_log_bytes_max=1000000

# A step in one line with its time; what the command prints goes to a log. Where it fails, the line names the log, and the
# last of it follows: step "what it does" command... Beside others the line is repeated with the time.
step() {
  local what=$1 started=$SECONDS log=$tools/install.log code=0 said began
  shift
  mkdir -p "$tools"
  said=$(mktemp "$tools/install.XXXXXX")
  printf -v began 'starling: %s ...' "$what"
  if [[ -n ${beside_others:-} ]]; then printf '%s\n' "$began" >&2; else
    printf '%s' "$began" >&2
    began=
  fi
  "$@" >"$said" 2>&1 || code=$?
  [[ -f $log ]] && (($(wc -c <"$log") > install_log_bytes_max)) && rm -f "$log"
  { printf '== %s\n' "$what" && cat "$said"; } >>"$log"
  if ((code == 0)); then printf '%s %s s\n' "$began" $((SECONDS - started)) >&2; else
    printf '%s failed after %s s; what it said is in %s, and ends with\n%s\n' "$began" $((SECONDS - started)) "$log" \
      "$(tail -n 5 "$said" | sed 's/^/    /')" >&2
  fi
  rm -f "$said"
  return $code
}

# Runs functions side by side that fetch what does not need each other: a fetch mostly waits for others. Each runs in a
# shell of its own, and so sets no variable here: called once more, it finds what was fetched. Fails when one does.
side_by_side() {
  local code=0 fetch running=()
  for fetch in "$@"; do
    (beside_others=yes && "$fetch") &
    running+=($!)
  done
  for fetch in "${running[@]}"; do wait "$fetch" || code=$?; done
  # What is missing now has been tried.
  fetched=yes
  return $code
}

# Exit code 69: something this machine lacks, and how to get it.
missing() {
  printf 'starling: missing: %s\nstarling: %s\n' "$1" "$2" >&2
  exit 69
}

# Two launchers at once install a part one after the other. A lock whose holder is gone is taken over:
# with_install_lock part command...
with_install_lock() {
  local lock=$tools/$1.lock waited=0 holder
  shift
  [[ -n ${fetched:-} ]] && return 1
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
  # The holder may be one of several shells that this launcher waits for.
  echo "${BASHPID:-$(exec sh -c 'echo $PPID')}" >"$lock/pid"
  local result=0
  "$@" || result=$?
  rm -rf "$lock"
  return $result
}

checksum() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}
