/** A disturbance of a fleet on a cluster while all three jobs run, and their reconciliation. */
import type { Survived } from "../containers/chaos.ts"
import { within } from "./cluster.ts"
import type { ClusterFleet } from "./fleet.ts"
import { applyObjects, kubectl, pauseMs, untilReady } from "./kubectl.ts"
import { callers, scripts, worldName } from "./outside.ts"
import { type Outcome, trafficPort, type TrafficOrder } from "./traffic-order.ts"

const place = `http://traffic.${callers}:${trafficPort}`
const readyWithinMs = 120_000
const drainWithinMs = 180_000
// Three brokers one after the other, each until it has caught up.
const rolloutWithinMs = 300_000
// Work that was begun ends within its own limits, of which a paid call's is the longest.
const outcomeWithinMs = 300_000

/** The policy that admits services of other namespaces to the broker. */
export const servicesWayIn = "internal-services"

const wayInTo = (fleet: string) => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: servicesWayIn, namespace: fleet },
  spec: {
    podSelector: { matchLabels: { "app.kubernetes.io/name": "nats" } },
    policyTypes: ["Ingress"],
    ingress: [
      {
        from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": callers } } }],
        ports: [{ port: 4_222, protocol: "TCP" }]
      }
    ]
  }
})

/** Starts the pod of the traffic as a service at the edge, with the authority of the broker's certificate. */
export const startTraffic = async (fleet: string) => {
  const authority = await kubectl("-n", fleet, "get", "configmap", "starling-bus-ca", "-o", "jsonpath={.data.ca\\.crt}")
  const [deployment, volume] = [scripts("traffic", callers, ["test/kubernetes/traffic.ts"], trafficPort), "authority"]
  const { spec } = deployment.spec.template
  const containers = spec.containers.map((container) => ({
    ...container,
    env: [{ name: "NODE_EXTRA_CA_CERTS", value: "/authority/ca.crt" }],
    volumeMounts: [...container.volumeMounts, { name: volume, mountPath: "/authority", readOnly: true }]
  }))
  const volumes = [...spec.volumes, { name: volume, configMap: { name: volume } }]
  await applyObjects([
    wayInTo(fleet),
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: volume, namespace: callers },
      data: { "ca.crt": authority }
    },
    {
      ...deployment,
      spec: { ...deployment.spec, template: { ...deployment.spec.template, spec: { ...spec, containers, volumes } } }
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "traffic", namespace: callers },
      spec: { selector: { app: "traffic" }, ports: [{ port: trafficPort }] }
    }
  ])
  await untilReady(callers, readyWithinMs)
}

export interface Traffic {
  readonly fleet: ClusterFleet
  readonly token: string
  readonly busUrl: string
  /** By user of the bus: `operator` and `internal-services`. */
  readonly passwords: Readonly<Record<string, string>>
}

/** `disturb` resolves when the fleet is as it was. Fails with the reason when something was lost or done twice. */
export const underTraffic = async (traffic: Traffic, disturb: () => Promise<unknown>): Promise<Survived> => {
  const { fleet, token, busUrl, passwords } = traffic
  const ask = <A>(path: string, body?: unknown) => fleet.send<A>("ask", { url: `${place}/${path}`, body })
  const order: TrafficOrder = { namespace: fleet.namespace, world: worldName, token, busUrl, passwords }
  await ask("begin", order)
  try {
    await disturb()
  } finally {
    await ask("end")
  }
  const outcome = await outcomeFrom(() => ask<Outcome | null>("outcome"))
  if ("failure" in outcome) throw new Error(outcome.failure)
  return outcome.survived
}

const outcomeFrom = async (ask: () => Promise<Outcome | null>): Promise<Outcome> => {
  const untilMs = performance.now() + outcomeWithinMs
  for (;;) {
    const outcome = await ask()
    if (outcome !== null) return outcome
    if (performance.now() > untilMs) throw new Error(`the traffic has not ended within ${outcomeWithinMs / 1_000} s`)
    await pauseMs(500)
  }
}

/** Each role's pods, exchanged as after a change of its Deployment: the new ones are ready before the old ones go. */
export const restart = async (namespace: string, workloads: ReadonlyArray<string>) => {
  for (const workload of workloads) {
    await kubectl("-n", namespace, "rollout", "restart", workload)
    await rolledOut(namespace, workload)
  }
}

export const rolledOut = (namespace: string, workload: string) =>
  within("kubectl", ["-n", namespace, "rollout", "status", workload], { withinMs: rolloutWithinMs })

/** Killed with no time to finish: one pod of each role, one role after the other, until its successor is ready. */
export const killPods = async (namespace: string, roles: ReadonlyArray<string>) => {
  for (const role of roles) {
    const of = ["-l", `app.kubernetes.io/name=${role}`]
    const pod = (await kubectl("-n", namespace, "get", "pods", ...of, "-o", "name")).split("\n")[0] ?? ""
    await kubectl("-n", namespace, "delete", pod, "--grace-period=0", "--force")
    await rolledOut(namespace, `deployment/${role}`)
  }
}

/** A node's pods leave, as before its maintenance; it takes pods again afterwards. */
export const drainNode = async (node: string, selection: ReadonlyArray<string>) => {
  try {
    const how = ["--ignore-daemonsets", "--delete-emptydir-data", ...selection]
    await within("kubectl", ["drain", node, ...how], { withinMs: drainWithinMs })
  } finally {
    await kubectl("uncordon", node)
  }
}
