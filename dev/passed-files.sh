# shellcheck shell=bash
# Files that passed a tool which judges each by its content are not judged again before they change, or what they are
# judged by. A fresh checkout has no list of such files, and is judged whole.

sums_of() { # names of files come in, each ended by a zero byte
  if command -v sha256sum >/dev/null; then xargs -0 sha256sum; else xargs -0 shasum -a 256; fi
}

# A tool leaves out what git ignores only where it is given the folder, so reports of load tests are left out here.
files_in() { # paths...
  local path file
  for path in "$@"; do
    git ls-files --cached --others --exclude-standard -z -- "$path" 2>/dev/null || find "$path" -type f -print0
  done | while IFS= read -rd '' file; do [[ ! -f $file ]] || printf '%s\0' "$file"; done
}

# The first line of a list says what files were judged by; one for each that passed follows. The last path is a file,
# which always goes along: a tool may refuse to run for nothing.
judge_changed() { # list "what files are judged by" "paths" command...
  local passed=$1 by=$2 paths=$3 now
  shift 3
  now=$(mktemp)
  # shellcheck disable=SC2086
  {
    echo "$* $paths" "$(printf '%s\0' $by | sums_of | tr '\n' ' ')"
    files_in $paths | sums_of
  } >"$now"
  if [[ -s $passed && $(head -n 1 "$now") == "$(head -n 1 "$passed")" ]]; then
    { grep -Fxvf "$passed" "$now"; tail -n 1 "$now"; } | cut -c 67- | tr '\n' '\0' | xargs -0 "$@"
  else
    # shellcheck disable=SC2086
    "$@" $paths
  fi || { rm -f "$now"; return 1; }
  mkdir -p "$(dirname "$passed")"
  mv "$now" "$passed"
}
