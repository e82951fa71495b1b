# nats-server: from the PATH when it is new enough, else the pinned one. On Debian and Ubuntu it comes from
# the Debian pool, unpacked without touching the system; elsewhere from the release archive.

nats_version=2.15.1
nats_deb_version=2.15.1-1
nats_deb_sha256_amd64=31ef4ceaa84e8248d449e508472e3770c17c3695cb5cb0ee96e03912724ea884

nats_is_new_enough() {
  local version major minor patch
  version=$("$1" --version 2>/dev/null) || return 1
  version=${version##*v}
  IFS=. read -r major minor patch <<<"${version%%-*}"
  ((major > 2 || (major == 2 && (minor > 14 || (minor == 14 && patch >= 3)))))
}

ensure_nats_server() {
  if [[ -n ${STARLING_NATS_SERVER:-} ]]; then return; fi
  local own=$tools/nats-server-$nats_version/nats-server
  if [[ ! -x $own ]]; then
    if command -v nats-server >/dev/null && nats_is_new_enough nats-server; then
      own=$(command -v nats-server)
    else
      with_install_lock nats-server install_nats_server
    fi
  fi
  export STARLING_NATS_SERVER=$own
}

install_nats_server() {
  [[ -x $tools/nats-server-$nats_version/nats-server ]] && return
  local partial=$tools/nats-server-$nats_version.partial
  rm -rf "$partial"
  mkdir -p "$partial"
  if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
    step "fetching nats-server $nats_version from the Debian pool" nats_from_debian "$partial" || nats_from_release "$partial"
  else
    nats_from_release "$partial"
  fi
  "$partial/nats-server" --version >/dev/null || missing "nats-server $nats_version" "what was fetched does not run on this machine; put nats-server 2.14.3 or later on the PATH"
  mv "$partial" "$tools/nats-server-$nats_version"
}

# A private apt configuration: its own list, its own cache, no change to the system, no root needed.
nats_from_debian() {
  local into=$1 apt=$1/apt suite keyring mirror deb
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  [[ -r $keyring ]] || return 1
  mirror=$(awk '/^URIs:/ {print $2; exit} /^deb / {for (i = 2; i <= NF; i++) if ($i ~ /^http/) {print $i; exit}}' \
    /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null)
  [[ $mirror == *debian* ]] || return 1
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  chmod -R a+rwX "$apt"
  local options=(-o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::State::Lists="$apt/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$apt/cache"
    -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1)
  for suite in forky sid; do
    echo "deb [signed-by=$keyring] $mirror $suite main" >"$apt/sources.list"
    apt-get "${options[@]}" update -qq >/dev/null 2>&1 || continue
    (cd "$apt" && apt-get "${options[@]}" download -qq "nats-server=$nats_deb_version" >/dev/null 2>&1) && break
  done
  deb=$(find "$apt" -maxdepth 1 -name 'nats-server_*.deb' | head -n 1)
  [[ -n $deb ]] || return 1
  # The signed package index vouches for every architecture; for this one we also know the sum ourselves.
  if [[ $(dpkg --print-architecture) == amd64 && $(checksum "$deb") != "$nats_deb_sha256_amd64" ]]; then
    say "nats-server: wrong checksum, not used"
    return 1
  fi
  dpkg-deb -x "$deb" "$apt/root" && mv "$(find "$apt/root" -name nats-server -type f -perm -u+x | head -n 1)" "$into/nats-server" && rm -rf "$apt"
}

nats_from_release() {
  local into=$1 os arch name base
  os=$(uname -s | tr '[:upper:]' '[:lower:]')
  case $(uname -m) in x86_64 | amd64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) arch=unknown ;; esac
  name=nats-server-v$nats_version-$os-$arch
  base=https://github.com/nats-io/nats-server/releases/download/v$nats_version
  local how="put nats-server 2.14.3 or later on the PATH (brew install nats-server, or $base/$name.tar.gz)"
  command -v curl >/dev/null || missing "nats-server" "$how"
  step "fetching nats-server $nats_version from its release" curl -fsSL --max-time 300 -o "$into/$name.tar.gz" "$base/$name.tar.gz" || missing "nats-server" "$how"
  curl -fsSL --max-time 60 -o "$into/SHA256SUMS" "$base/SHA256SUMS" || missing "nats-server's checksums" "$how"
  [[ $(awk -v file="$name.tar.gz" '$2 == file {print $1}' "$into/SHA256SUMS") == $(checksum "$into/$name.tar.gz") ]] ||
    missing "a nats-server that matches its checksum" "$how"
  tar -xzf "$into/$name.tar.gz" -C "$into" --strip-components 1 "$name/nats-server" && rm "$into/$name.tar.gz"
}
