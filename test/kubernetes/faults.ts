/** The reasons why workloads of a namespace are not ready, by object. Pure. */

/** An object from the API server, of any kind that is read here. */
export interface Observed {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly generation?: number; readonly deletionTimestamp?: string }
  readonly spec?: { readonly replicas?: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly readyReplicas?: number
    readonly phase?: string
    readonly conditions?: ReadonlyArray<{ readonly type: string; readonly status: string; readonly message?: string }>
    readonly containerStatuses?: ReadonlyArray<ContainerStatus>
  }
  readonly type?: string
  readonly message?: string
  readonly lastTimestamp?: string | null
  readonly involvedObject?: { readonly kind: string; readonly name: string }
}

interface ContainerStatus {
  readonly name: string
  readonly ready: boolean
  readonly restartCount: number
  readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } }
}

export interface Fault {
  readonly kind: string
  readonly name: string
  readonly why: string
}

/** Kinds of controllers that say by the condition `Ready` whether they have made the object. */
const ofControllers = new Set(["Stream", "Consumer", "KeyValue", "ObjectStore", "ScaledObject"])

/** Workloads first, then what controllers make, then pods; the cluster's warnings stand with their object. */
export const faultsOf = (observed: ReadonlyArray<Observed>): ReadonlyArray<Fault> => {
  const workloads = observed.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
  if (workloads.length === 0) return [{ kind: "Namespace", name: "", why: "no workloads" }]
  const faulty = [
    ...workloads.flatMap(faultOfWorkload),
    ...observed.filter(({ kind }) => ofControllers.has(kind)).flatMap(faultOfMade),
    ...observed.filter(({ kind }) => kind === "Pod").flatMap(faultOfPod)
  ]
  const isSettled = !faulty.some(({ kind }) => kind !== "Pod")
  // A pod that a finished rollout lets go of keeps nothing.
  return isSettled ? [] : faulty.map((fault) => withWarning(fault, observed))
}

const faultOfWorkload = ({ kind, metadata, spec, status }: Observed): ReadonlyArray<Fault> => {
  const wanted = spec?.replicas ?? 1
  const ready = status?.readyReplicas ?? 0
  const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  const isUpdated = (status?.updatedReplicas ?? 0) === wanted && (status?.replicas ?? 0) === wanted
  if (isSeen && isUpdated && ready === wanted) return []
  const refused = status?.conditions?.find(({ type, status: is }) => type === "ReplicaFailure" && is === "True")
  const why = `${ready} of ${wanted} ready${refused?.message === undefined ? "" : `; ${refused.message}`}`
  return [{ kind, name: metadata.name, why }]
}

const faultOfMade = ({ kind, metadata, status }: Observed): ReadonlyArray<Fault> => {
  const ready = status?.conditions?.find(({ type }) => type === "Ready")
  if (ready?.status === "True") return []
  return [{ kind, name: metadata.name, why: ready?.message ?? "its controller has not said anything" }]
}

const faultOfPod = ({ kind, metadata, status }: Observed): ReadonlyArray<Fault> => {
  if (metadata.deletionTimestamp !== undefined || status?.phase === "Succeeded") return []
  const containers = status?.containerStatuses ?? []
  const unready = containers.filter(({ ready }) => !ready)
  if (containers.length > 0 && unready.length === 0) return []
  const unscheduled = status?.conditions?.find(({ type, status: is }) => type === "PodScheduled" && is === "False")
  const why = unready.map(({ name, restartCount, state }) => {
    const { reason = "not ready", message } = state?.waiting ?? {}
    return `${name} ${reason}${message === undefined ? "" : ` (${message})`}, started again ${restartCount} times`
  })
  return [{ kind, name: metadata.name, why: unscheduled?.message ?? (why.join("; ") || (status?.phase ?? "unknown")) }]
}

const withWarning = (fault: Fault, observed: ReadonlyArray<Observed>): Fault => {
  const warnings = observed
    .filter(({ kind, type, involvedObject }) => {
      const isAbout = involvedObject?.kind === fault.kind && involvedObject.name === fault.name
      return kind === "Event" && type === "Warning" && isAbout
    })
    .toSorted((a, b) => (a.lastTimestamp ?? "").localeCompare(b.lastTimestamp ?? ""))
  const last = warnings.at(-1)?.message
  return last === undefined ? fault : { ...fault, why: `${fault.why}; ${last}` }
}
