# What speech needs of the system: ffmpeg to encode and decode, espeak-ng and flite to speak, pocketsphinx to hear
# whether a consent was read. From the system's packages.

speech_debian=(ffmpeg libespeak-ng1 espeak-ng-data libflite1 pocketsphinx pocketsphinx-en-us)
speech_brew=(ffmpeg espeak-ng flite)

ensure_speech() {
  speech_is_here && return
  with_install_lock system install_speech
}

speech_is_here() {
  command -v "${AUDIO_FFMPEG_PATH:-ffmpeg}" >/dev/null && has_library libespeak-ng && has_library libflite && has_recogniser
}

# brew has none that suits: there consents cannot be verified until one is named in the configuration.
has_recogniser() {
  ! command -v apt-get >/dev/null || {
    command -v "${VOICE_CLONING_POCKETSPHINX_PATH:-pocketsphinx_batch}" >/dev/null &&
      [[ -r ${VOICE_CLONING_POCKETSPHINX_MODEL_FOLDER:-/usr/share/pocketsphinx/model/en-us}/cmudict-en-us.dict ]]
  }
}

has_library() {
  compgen -G "/usr/lib/*/$1.so.1" >/dev/null || compgen -G "/usr/lib*/$1.so.1" >/dev/null ||
    compgen -G "/usr/local/lib/$1*" >/dev/null || compgen -G "/opt/homebrew/lib/$1*" >/dev/null
}

install_speech() {
  speech_is_here && return
  local how="install them, for example: apt-get install ${speech_debian[*]}   or: brew install ${speech_brew[*]}"
  if command -v apt-get >/dev/null; then
    local root=()
    if ((EUID != 0)); then
      command -v sudo >/dev/null && sudo -n true 2>/dev/null || missing "ffmpeg, espeak-ng, flite or pocketsphinx, and the right to install them" "$how"
      root=(sudo -n)
    fi
    step "reading the package lists" "${root[@]}" apt-get update -qq || say "the package lists could not be read anew"
    step "installing ${speech_debian[*]}" "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${speech_debian[@]}" || missing "ffmpeg, espeak-ng, flite or pocketsphinx" "$how"
  elif command -v brew >/dev/null; then
    step "installing ${speech_brew[*]}" brew install --quiet "${speech_brew[@]}" || missing "ffmpeg, espeak-ng, flite or pocketsphinx" "$how"
  fi
  speech_is_here || missing "ffmpeg, espeak-ng, flite or pocketsphinx" "$how"
}
