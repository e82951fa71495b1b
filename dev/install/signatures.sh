# Bitcoin's own library of the curve secp256k1, by which a payment's signature is checked in a quarter of the time. From the
# system's packages, where they can be had without asking anybody; without it WebAssembly does the same.

signatures_debian=(libsecp256k1-1 libsecp256k1-2)

ensure_signatures() {
  [[ -e $tools/signatures ]] && return
  has_curve || with_install_lock system install_signatures || true
  # Asked once, whether or not it could be had.
  mkdir -p "$tools" && touch "$tools/signatures"
}

has_curve() {
  compgen -G "/usr/lib/*/libsecp256k1.so.*" >/dev/null || compgen -G "/usr/lib*/libsecp256k1.so.*" >/dev/null ||
    compgen -G "/usr/local/lib/libsecp256k1*" >/dev/null || compgen -G "/opt/homebrew/lib/libsecp256k1*" >/dev/null
}

install_signatures() {
  has_curve && return
  if command -v brew >/dev/null; then
    step "installing secp256k1" brew install --quiet secp256k1
    return
  fi
  command -v apt-get >/dev/null || return 0
  local root=() name
  if ((EUID != 0)); then
    command -v sudo >/dev/null && sudo -n true 2>/dev/null || return 0
    root=(sudo -n)
  fi
  local names="^(${signatures_debian[0]}|${signatures_debian[1]})\$"
  # A machine that has never installed anything has no lists.
  [[ -n $(apt-cache search --names-only "$names" 2>/dev/null) ]] ||
    step "reading the package lists" "${root[@]}" apt-get update -qq || true
  # Releases of the system have one of them.
  for name in "${signatures_debian[@]}"; do
    [[ -n $(apt-cache search --names-only "^$name\$" 2>/dev/null) ]] || continue
    step "installing $name" "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "$name"
    return
  done
  say "left out: libsecp256k1 (the system's packages have none)"
}
