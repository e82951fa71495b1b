/**
 * Values for the official chart of NATS: one release for everything, and one for money, whose servers write to disk
 * before they confirm. Gateways join the two brokers into one: a role connects to the first and reaches streams of
 * both.
 */
import { parties, type Topology, userOf } from "#bus"
import { accounts, passwordVariable, streamKeeper, systemUser } from "./users.ts"
import { containerSecurity, brokerSecurity } from "./objects.ts"
import { moneyCluster } from "./streams.ts"

const gib = (count: number) => `${count}Gi`

interface Release {
  readonly name: string
  readonly disk: number
  readonly memory: number
  readonly syncs: "always" | "2m"
}

const releases: ReadonlyArray<Release> = [
  { name: "nats", disk: 100, memory: 4, syncs: "2m" },
  { name: moneyCluster, disk: 20, memory: 2, syncs: "always" }
]

export const natsValues = (topology: Topology) =>
  releases.map((release) => ({ name: release.name, values: valuesOf(topology, release) }))

// The chart names cluster and gateway after the release, and a server after its pod: KEDA looks for a consumer's leader
// by the names in the cluster's routes, which are those of the pods.
const valuesOf = (topology: Topology, { name, disk, memory, syncs }: Release) => ({
  fullnameOverride: name,
  container: {
    image: { repository: "nats", tag: "2.15.1-alpine" },
    // Keeps the server below its limit by timely collection, so that it is not killed at the limit.
    env: { GOMEMLIMIT: `${Math.floor(memory * 0.8 * 1_024)}MiB`, ...passwords() },
    resources: { requests: { cpu: "1", memory: gib(memory) }, limits: { memory: gib(memory) } },
    merge: { securityContext: containerSecurity }
  },
  reloader: { merge: { securityContext: containerSecurity } },
  podTemplate: {
    merge: { spec: { automountServiceAccountToken: false, securityContext: brokerSecurity } },
    topologySpreadConstraints: {
      "topology.kubernetes.io/zone": { maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" },
      "kubernetes.io/hostname": { maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" }
    }
  },
  podDisruptionBudget: { enabled: true },
  promExporter: { enabled: true, podMonitor: { enabled: true }, merge: { securityContext: containerSecurity } },
  natsBox: { enabled: false },
  config: {
    cluster: { enabled: true, replicas: 3 },
    gateway: {
      enabled: true,
      merge: {
        gateways: releases.map((each) => ({ name: each.name, urls: [`nats://${each.name}-headless:7222`] }))
      }
    },
    jetstream: {
      enabled: true,
      // A fifth of the disk is left, for snapshots and compaction.
      fileStore: { enabled: true, pvc: { size: gib(disk) }, maxSize: gib(disk * 0.8) },
      // Speech chunks: 64 MiB at most, and the state of consumers.
      memoryStore: { enabled: true, maxSize: `${memory * 256}Mi` },
      merge: { sync_interval: syncs }
    },
    nats: { tls: { enabled: true, secretName: "nats-tls" } },
    monitor: { enabled: true, port: 8_222 },
    merge: {
      max_payload: "<< 1MB >>",
      max_pending: "<< 64MB >>",
      ping_interval: "20s",
      system_account: "SYS",
      accounts: accounts(topology, (variable) => `<< $${variable} >>`)
    }
  }
})

const passwords = () =>
  Object.fromEntries(
    [...parties.map(userOf), streamKeeper, systemUser].map((user) => [
      passwordVariable(user),
      { valueFrom: { secretKeyRef: { name: "starling-bus-passwords", key: user } } }
    ])
  )
