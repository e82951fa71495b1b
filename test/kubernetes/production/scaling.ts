/** What KEDA does in production: pods of each role, and the figures that the autoscalers have read. */
import { fleetDeployments } from "../../../deploy/generate/roles.ts"
import { kubectl, pauseMs } from "../kubectl.ts"

export interface Scaled {
  readonly readyPods: Readonly<Record<string, number>>
  /** Figures from outside of the cluster's own metrics: the first from the broker, through KEDA's server of metrics. */
  readonly figures: number
}

interface Read {
  readonly items: ReadonlyArray<{
    readonly metadata: { readonly name: string }
    readonly spec?: {
      readonly triggers?: ReadonlyArray<{ readonly type: string; readonly metadata: Readonly<Record<string, string>> }>
    }
    readonly status?: {
      readonly readyReplicas?: number
      readonly currentMetrics?: ReadonlyArray<{
        readonly external?: { readonly current?: { readonly averageValue?: string } }
      }> | null
    }
  }>
}

const read = async (namespace: string, kind: string) =>
  (JSON.parse(await kubectl("-n", namespace, "get", kind, "-o", "json")) as Read).items

/** With the figures of one autoscaler. */
const observe = async (namespace: string, autoscaler: string): Promise<Scaled> => {
  const deployments = await read(namespace, "deployments")
  const autoscalers = await read(namespace, "horizontalpodautoscalers")
  const ready = (name: string) => deployments.find(({ metadata }) => metadata.name === name)?.status?.readyReplicas ?? 0
  const metrics = autoscalers.find(({ metadata }) => metadata.name === autoscaler)?.status?.currentMetrics ?? []
  return {
    readyPods: Object.fromEntries(fleetDeployments.map(({ name }) => [name, ready(name)])),
    figures: metrics.filter(({ external }) => external?.current?.averageValue !== undefined).length
  }
}

// The overlay's times are an operator's, minutes; these let a test see both ways.
const atOnce = { stabilizationWindowSeconds: 0, policies: [{ type: "Pods", value: 4, periodSeconds: 15 }] }

/** Lets the broker's figures alone choose between one and three pods of a role, by the shortest backlog, without waits. */
export const scaleQuickly = async (namespace: string, role: string) => {
  const [scaled] = (await read(namespace, "scaledobjects")).filter(({ metadata }) => metadata.name === role)
  const fromBroker = (scaled?.spec?.triggers ?? []).filter(({ type }) => type === "nats-jetstream")
  const triggers = fromBroker.map((trigger) => ({
    ...trigger,
    metadata: { ...trigger.metadata, lagThreshold: "1", activationLagThreshold: "0" }
  }))
  const spec = {
    minReplicaCount: 1,
    maxReplicaCount: 3,
    pollingInterval: 2,
    advanced: { horizontalPodAutoscalerConfig: { behavior: { scaleUp: atOnce, scaleDown: atOnce } } },
    triggers
  }
  const patch = JSON.stringify({ spec })
  await kubectl("-n", namespace, "patch", "scaledobject", role, "--type=merge", "--patch", patch)
}

/** Waits until it is as wanted; returns what it saw last, as wanted or not. */
export const untilScaled = async (
  {
    namespace,
    autoscaler,
    withinMs
  }: { readonly namespace: string; readonly autoscaler: string; readonly withinMs: number },
  isWanted: (scaled: Scaled) => boolean
): Promise<Scaled> => {
  const beganMs = performance.now()
  for (;;) {
    const seen = await observe(namespace, autoscaler)
    if (isWanted(seen) || performance.now() - beganMs > withinMs) return seen
    await pauseMs(1_000)
  }
}
