/** A disturbance of a fleet on a cluster while all three jobs run, and their reconciliation. */
import type { Survived } from "../../containers/chaos.ts"
import type { ClusterFleet } from "../fleet.ts"
import { applyObjects, pauseMs, untilReady } from "../kubectl.ts"
import { callers, scripts, worldName } from "../outside.ts"
import { type Outcome, trafficPort, type TrafficOrder } from "./order.ts"

const place = `http://traffic.${callers}:${trafficPort}`
const readyWithinMs = 120_000
// Work that was begun ends within its own limits, of which a paid call's is the longest.
const outcomeWithinMs = 600_000

/** The secret and the ConfigMap that docs/install-kubernetes.md has a publishing service's namespace get. */
const given = { password: "starling-bus", authority: "starling-bus-ca" } as const

/** Starts the pod of the traffic, as a service that publishes and calls. Its namespace has password and authority. */
export const startTraffic = async () => {
  const deployment = scripts("traffic", callers, ["test/kubernetes/traffic/pod.ts"], trafficPort)
  const { spec } = deployment.spec.template
  const env = [
    { name: "NODE_EXTRA_CA_CERTS", value: "/authority/ca.crt" },
    { name: "BUS_PASSWORD", valueFrom: { secretKeyRef: { name: given.password, key: "password" } } }
  ]
  const containers = spec.containers.map((container) => ({
    ...container,
    env,
    volumeMounts: [...container.volumeMounts, { name: "authority", mountPath: "/authority", readOnly: true }]
  }))
  const volumes = [...spec.volumes, { name: "authority", configMap: { name: given.authority } }]
  const template = { ...deployment.spec.template, spec: { ...spec, containers, volumes } }
  await applyObjects([
    { ...deployment, spec: { ...deployment.spec, template } },
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
  readonly readerPassword: string
}

/** `disturb` resolves when the fleet is as it was. Fails with the reason when something was lost or done twice. */
export const underTraffic = async (traffic: Traffic, disturb: () => Promise<unknown>): Promise<Survived> => {
  const { fleet, token, busUrl, readerPassword } = traffic
  const ask = <A>(path: string, body?: unknown) => fleet.send<A>("ask", { url: `${place}/${path}`, body })
  const order: TrafficOrder = { namespace: fleet.namespace, world: worldName, token, busUrl, readerPassword }
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
