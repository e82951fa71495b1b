/** What each role takes on the cluster: its memory and processor as the kubelets see them, and its time to be ready. */
import { fleetDeployments } from "../../../deploy/generate/roles.ts"
import { nodes } from "../cluster.ts"
import { kubectl } from "../kubectl.ts"

export interface Size {
  /** The largest working set of one pod, which its limit must hold. */
  readonly memoryBytesMax: number
  /** The most that one pod used in a kubelet's interval. */
  readonly processorsMax: number
}

/** By role. */
export type Sizes = Readonly<Record<string, Size>>

const nothing: Size = { memoryBytesMax: 0, processorsMax: 0 }

interface Summary {
  readonly pods: ReadonlyArray<{
    readonly podRef: { readonly name: string; readonly namespace: string }
    readonly cpu?: { readonly usageNanoCores?: number }
    readonly memory?: { readonly workingSetBytes?: number }
  }>
}

interface Pods {
  readonly items: ReadonlyArray<{
    readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
    readonly status?: {
      readonly conditions?: ReadonlyArray<{
        readonly type: string
        readonly status: string
        readonly lastTransitionTime: string
      }>
      readonly containerStatuses?: ReadonlyArray<{
        readonly restartCount: number
        readonly state?: { readonly running?: { readonly startedAt: string } }
      }>
    }
  }>
}

const larger = (one: Size, other: Size): Size => ({
  memoryBytesMax: Math.max(one.memoryBytesMax, other.memoryBytesMax),
  processorsMax: Math.max(one.processorsMax, other.processorsMax)
})

/** The larger of both, role by role. Pure. */
export const largerOf = (one: Sizes, other: Sizes): Sizes =>
  Object.fromEntries(fleetDeployments.map(({ name }) => [name, larger(one[name] ?? nothing, other[name] ?? nothing)]))

const startMs = ({ status }: Pods["items"][number]) => {
  const ready = status?.conditions?.find(({ type, status: is }) => type === "Ready" && is === "True")
  const startedAt = status?.containerStatuses?.[0]?.state?.running?.startedAt
  return ready === undefined || startedAt === undefined
    ? 0
    : Math.max(0, Date.parse(ready.lastTransitionTime) - Date.parse(startedAt))
}

const podsOf = async (namespace: string) =>
  (JSON.parse(await kubectl("-n", namespace, "get", "pods", "-o", "json")) as Pods).items

const roleOf = ({ metadata }: Pods["items"][number]) => metadata.labels?.["app.kubernetes.io/name"] ?? ""

/** From a container's start to its pod's readiness, the longest of each role; true only before a pod was unready again. */
export const readStartMs = async (namespace: string): Promise<Readonly<Record<string, number>>> => {
  const longest: Record<string, number> = {}
  for (const pod of await podsOf(namespace)) {
    longest[roleOf(pod)] = Math.max(longest[roleOf(pod)] ?? 0, startMs(pod))
  }
  return longest
}

/** What the pods of a namespace take now. */
export const readSizes = async (namespace: string): Promise<Sizes> => {
  const items = await podsOf(namespace)
  const summaries = await Promise.all(
    nodes.map(
      async (node) => JSON.parse(await kubectl("get", "--raw", `/api/v1/nodes/${node}/proxy/stats/summary`)) as Summary
    )
  )
  const used = new Map(
    summaries.flatMap(({ pods }) =>
      pods.flatMap(({ podRef, cpu, memory }) =>
        podRef.namespace === namespace ? [[podRef.name, { cpu, memory }] as const] : []
      )
    )
  )
  return items.reduce<Sizes>((sizes, pod) => {
    const { cpu, memory } = used.get(pod.metadata.name) ?? {}
    const size = {
      memoryBytesMax: memory?.workingSetBytes ?? 0,
      processorsMax: (cpu?.usageNanoCores ?? 0) / 1e9
    }
    return largerOf(sizes, { [roleOf(pod)]: size })
  }, {})
}

/** A line for each role, for the table of docs/operations.md. */
export const tellSize = (role: string, { memoryBytesMax, processorsMax }: Size = nothing, startMsMax = 0) => {
  const figures = [
    `${Math.round(memoryBytesMax / 1e6)} MB`,
    `${processorsMax.toFixed(2)} processors`,
    `ready after ${Math.round(startMsMax / 1_000)} s`
  ]
  process.stdout.write(`kubernetes: ${role} took at most ${figures.join(", ")}\n`)
}
