# What the tests of deploy/ need beside Node: kustomize, which kubectl has in it, to render; Prometheus to try the rules and to
# scrape a fleet; the schemas of Kubernetes and of the controllers. Each is left out in one clear line where it cannot be
# had: they test what is deployed, and the fleet runs without them.

kustomize_version=v5.7.1
# Schemas come as Go modules, whose checksums Go verifies.
schema_modules=(k8s.io/kubernetes@v1.33.5 github.com/kedacore/keda/v2@v2.21.0 github.com/prometheus-operator/prometheus-operator@v0.85.0)

# Where Go's own archive is unpacked, which a bare PATH does not name.
find_go() { command -v go >/dev/null || PATH=$PATH:/usr/local/go/bin; }

# Said once: who fetches beside others leaves it to the second call.
left_out() { [[ -n ${beside_others:-} ]] || say "left out: $1 ($2)"; }

ensure_kustomize() {
  find_go
  [[ -n ${STARLING_KUSTOMIZE:-} ]] && return
  local own=$tools/kustomize-$kustomize_version/kustomize
  if [[ ! -x $own ]]; then
    if command -v kustomize >/dev/null; then
      own=$(command -v kustomize)
    elif kubectl version --client 2>/dev/null | grep -q '^Kustomize Version: v5'; then
      export STARLING_KUSTOMIZE="kubectl kustomize"
      return
    elif ! command -v go >/dev/null || ! with_install_lock kustomize install_kustomize; then
      left_out "rendering deploy/k8s" "needs kustomize, a kubectl with version 5 of it, or Go to build it with"
      return
    fi
  fi
  export STARLING_KUSTOMIZE="$own build"
}

install_kustomize() {
  local folder=$tools/kustomize-$kustomize_version
  [[ -x $folder/kustomize ]] && return
  rm -rf "$folder.partial"
  mkdir -p "$folder.partial"
  step "building kustomize $kustomize_version" env GOBIN="$folder.partial" GOFLAGS=-mod=mod \
    go install "sigs.k8s.io/kustomize/kustomize/v5@$kustomize_version" || return
  mv "$folder.partial" "$folder"
}

ensure_prometheus() {
  [[ -n ${STARLING_PROMTOOL:-} && -n ${STARLING_PROMETHEUS:-} ]] && return
  local own=$tools/prometheus
  if [[ ! -x $own/prometheus-alertmanager ]]; then
    if command -v promtool >/dev/null && command -v prometheus >/dev/null; then
      own=$(dirname "$(command -v prometheus)")
    elif ! { command -v apt-get && command -v dpkg-deb; } >/dev/null || ! with_install_lock system install_prometheus; then
      left_out "trying the alerts" "needs Prometheus: apt-get install prometheus, or brew install prometheus"
      return
    fi
  fi
  export STARLING_PROMTOOL=$own/promtool STARLING_PROMETHEUS=$own/prometheus
  [[ ! -x $own/prometheus-alertmanager ]] || export STARLING_ALERTMANAGER=$own/prometheus-alertmanager
}

# Unpacked without touching the system: only the programs are wanted, not the service.
install_prometheus() {
  [[ -x $tools/prometheus/prometheus-alertmanager ]] && return
  local partial=$tools/prometheus.partial
  rm -rf "$partial"
  mkdir -p "$partial"
  chmod a+rwx "$partial"
  (cd "$partial" && step "fetching Prometheus from the system's packages" apt-get download -qq prometheus prometheus-alertmanager) || return
  local package
  for package in "$partial"/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$partial" ./usr/bin || return
  done
  mv "$partial"/usr/bin/{prometheus,promtool,prometheus-alertmanager} "$partial"
  rm -rf "$partial/usr" "$partial"/*.deb
  "$partial/prometheus" --version >/dev/null 2>&1 && rm -rf "$tools/prometheus" && mv "$partial" "$tools/prometheus"
}

ensure_schemas() {
  find_go
  [[ -n ${STARLING_SCHEMAS:-} ]] && return
  local folder=$tools/schemas-1
  if [[ ! -d $folder ]]; then
    if ! command -v go >/dev/null || ! with_install_lock schemas install_schemas; then
      left_out "checking deploy/k8s against the schemas" "needs Go and its module proxy, once"
      return
    fi
  fi
  export STARLING_SCHEMAS=$folder
}

install_schemas() {
  local folder=$tools/schemas-1 partial=$tools/schemas.partial module found
  [[ -d $folder ]] && return
  rm -rf "$partial"
  mkdir -p "$partial"
  for module in "${schema_modules[@]}"; do
    step "fetching the schemas of ${module%@*}" fetch_module "$module" "$partial/module.json" || return
    found=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).Dir' "$partial/module.json") || return
    case $module in
      k8s.io/*) cp "$found/api/openapi-spec/swagger.json" "$partial/kubernetes.json" ;;
      *keda*) cp "$found/config/crd/bases/keda.sh_scaledobjects.yaml" "$partial/" ;;
      *prometheus-operator*) cp "$found"/example/prometheus-operator-crd/monitoring.coreos.com_{podmonitors,prometheusrules}.yaml "$partial/" ;;
    esac || return
  done
  rm "$partial/module.json"
  chmod -R u+w "$partial"
  mv "$partial" "$folder"
}

fetch_module() { (cd / && go mod download -json "$1") >"$2"; }
