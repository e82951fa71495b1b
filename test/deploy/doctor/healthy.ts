/** Production as it is generated, and a cluster that lacks nothing for it. */
import { parseAllDocuments } from "yaml"
import type { Cluster, Workload } from "../../../deploy/doctor/cluster.ts"
import type { Rendered } from "../../../deploy/doctor/plan.ts"
import { planOf } from "../../../deploy/doctor/plan.ts"
import { generatedFiles } from "../../../deploy/generate/files.ts"
import { scaled } from "../../../deploy/generate/scaling.ts"

const isApplied = (path: string) =>
  /\/(?:base|scaling|nats|monitoring)\/[^/]+\.yaml$/u.test(path) && !/kustomization|values-/u.test(path)

export const configuration = (sections: Readonly<Record<string, unknown>> = {}): Rendered => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "starling-configuration-abc", namespace: "starling" },
  data: {
    "starling.config.json": JSON.stringify({
      Bus: { Url: "nats://nats.starling.svc:4222", Topology: "verify", Replicas: 3 },
      ...sections
    })
  }
})

/** The overlay `prod`, as kustomize would render it. */
export const production = (sections: Readonly<Record<string, unknown>> = {}): ReadonlyArray<Rendered> => [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "starling" } },
  configuration(sections),
  ...manifests
]

const withoutReplicas = (object: Rendered): Rendered => {
  if (object.kind !== "Deployment" || !scaled.some(({ role }) => role === object.metadata.name)) return object
  const spec = Object.entries(object["spec"] as Readonly<Record<string, unknown>>)
  return { ...object, spec: Object.fromEntries(spec.filter(([key]) => key !== "replicas")) }
}

// Read once: it takes a tenth of a second, and the tests ask for a dozen configurations.
const manifests: ReadonlyArray<Rendered> = generatedFiles()
  .filter(({ path }) => isApplied(path))
  .flatMap(({ content }) => parseAllDocuments(content).map((document) => document.toJS() as Rendered))
  .map((object) => ({ ...object, metadata: { ...object.metadata, namespace: "starling" } }))
  .map(withoutReplicas)

export const plan = planOf(production())

interface Running {
  readonly name: string
  readonly namespace: string
  readonly image: string
  readonly kind?: string
  readonly args?: ReadonlyArray<string>
  readonly labels?: Readonly<Record<string, string>>
  readonly replicas?: number
  readonly env?: ReadonlyArray<{ readonly name: string; readonly value: string }>
}

export const running = ({
  name,
  namespace,
  image,
  kind = "Deployment",
  args = [],
  labels = {},
  replicas = 1,
  env = []
}: Running): Workload => ({
  kind,
  metadata: { name, namespace },
  spec: {
    replicas,
    template: {
      metadata: { labels },
      spec: { containers: [{ name: kind === "StatefulSet" ? "nats" : name, image, args, env }] }
    }
  },
  status: { readyReplicas: replicas }
})

export const brokerSet = (name: string): Workload =>
  running({
    name,
    namespace: "starling",
    image: "nats:2.15.1-alpine",
    kind: "StatefulSet",
    replicas: 3,
    env: [{ name: "SERVER_NAME", value: "$(POD_NAME)" }]
  })

export const nack = (changes: Partial<Running> = {}) =>
  running({
    name: "nack",
    namespace: "starling",
    image: "natsio/jetstream-controller:0.19.1",
    args: ["-s=nats://nats:4222", "--control-loop"],
    labels: { "app.kubernetes.io/name": "nack" },
    ...changes
  })

export const base64 = (text: string) => Buffer.from(text).toString("base64")

export const secret = (name: string, texts: Readonly<Record<string, string>>) => ({
  metadata: { name, namespace: "starling" },
  data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, base64(text)]))
})

export const passwords = Object.fromEntries(plan.users.map((user) => [user, `p-${user}`]))

const node = (name: string) => ({
  metadata: { name },
  spec: {},
  status: { allocatable: { cpu: "16", memory: "64Gi" } }
})

export const healthy: Cluster = {
  version: "v1.35.4",
  resources: [
    "streams.jetstream.nats.io",
    "consumers.jetstream.nats.io",
    "scaledobjects.keda.sh",
    "podmonitors.monitoring.coreos.com",
    "prometheusrules.monitoring.coreos.com",
    "pods.metrics.k8s.io"
  ],
  namespaces: [
    { metadata: { name: "starling", labels: { "pod-security.kubernetes.io/enforce": "restricted" } } },
    { metadata: { name: "monitoring" } }
  ],
  workloads: [
    nack(),
    running({ name: "keda-operator", namespace: "keda", image: "ghcr.io/kedacore/keda:2.20.2" }),
    running({
      name: "operator",
      namespace: "monitoring",
      image: "quay.io/prometheus-operator/prometheus-operator:v0.85.0"
    }),
    brokerSet("nats"),
    brokerSet("nats-payments")
  ],
  secrets: [secret("starling-bus-passwords", passwords)],
  configMaps: [
    {
      metadata: { name: "nats-config" },
      data: { "nats.conf": '{"accounts": {"FLEET": {"users": [{"user": "operator"}]}}}' }
    },
    {
      metadata: { name: "nats-payments-config" },
      data: { "nats.conf": '{"jetstream": {"sync_interval": "always"}, "users": [{"user": "operator"}]}' }
    }
  ],
  policies: [],
  storageClasses: [
    { metadata: { name: "fast", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } } }
  ],
  nodes: ["one", "two", "three"].map(node),
  services: [{ metadata: { name: "prometheus-operated", namespace: "monitoring" } }],
  prometheuses: [
    { metadata: { name: "main", namespace: "monitoring" }, spec: { podMonitorSelector: {}, ruleSelector: {} } }
  ],
  requested: []
}
