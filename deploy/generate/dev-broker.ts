/**
 * The development overlay's broker: one server without users that keeps nothing. Its disk is somewhat larger than what
 * the topology reserves: a stream with a limit is only made where all of its bytes have room.
 */
import { configsOf, reservedBytes, type Topology } from "#bus"
import { containerSecurity, type KubernetesObject, brokerSecurity } from "./objects.ts"

const gib = 1_024 ** 3

/** For all streams without a limit of their own. */
const roomGib = 8

/** For speech chunks, and the state of consumers. */
const memoryMib = 256

/** Whole GiB. */
export const diskGib = (topology: Topology): number =>
  Math.ceil(reservedBytes(configsOf(topology, 1), "file") / gib) + roomGib

export const brokerRequests = { cpu: "250m", memory: "256Mi" }

/** The server's file. Kustomize names the ConfigMap after its content, so that an edit restarts the server. */
export const devBrokerFile = (topology: Topology): string =>
  [
    "# Made by `node deploy/generate/main.ts` from deploy/generate. Change it there.",
    "listen: 0.0.0.0:4222",
    "http: 0.0.0.0:8222",
    `jetstream { store_dir: /data, max_file_store: ${diskGib(topology)}GiB, max_memory_store: ${memoryMib}MiB }`,
    ""
  ].join("\n")

const labels = { "app.kubernetes.io/name": "nats" }

export const devBroker = (topology: Topology): ReadonlyArray<KubernetesObject> => [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "nats" },
    spec: { selector: labels, ports: [{ name: "nats", port: 4_222 }] }
  },
  {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "nats", labels },
    spec: {
      serviceName: "nats",
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: pod(topology) }
    }
  }
]

const pod = (topology: Topology) => ({
  automountServiceAccountToken: false,
  securityContext: brokerSecurity,
  containers: [
    {
      name: "nats",
      image: "nats:2.15.1",
      args: ["-c", "/etc/nats/nats.conf"],
      ports: [
        { name: "nats", containerPort: 4_222 },
        { name: "monitor", containerPort: 8_222 }
      ],
      readinessProbe: { httpGet: { path: "/healthz?js-server-only=true", port: "monitor" }, periodSeconds: 2 },
      livenessProbe: { httpGet: { path: "/healthz?js-enabled-only=true", port: "monitor" }, periodSeconds: 10 },
      resources: { requests: brokerRequests, limits: { memory: "1Gi" } },
      securityContext: containerSecurity,
      volumeMounts: [
        { name: "configuration", mountPath: "/etc/nats", readOnly: true },
        { name: "data", mountPath: "/data" },
        { name: "tmp", mountPath: "/tmp" }
      ]
    }
  ],
  volumes: [
    { name: "configuration", configMap: { name: "nats" } },
    { name: "data", emptyDir: { sizeLimit: `${diskGib(topology)}Gi` } },
    { name: "tmp", emptyDir: { sizeLimit: "64Mi" } }
  ]
})
