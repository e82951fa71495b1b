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
