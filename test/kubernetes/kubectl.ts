/** kubectl, as an operator calls it, and waits for facts in its output. */
import { within } from "./cluster.ts"
import { type Fault, faultsOf, type Observed } from "./faults.ts"

/** Its standard output. Fails with the program's message. */
export const kubectl = (...parameters: ReadonlyArray<string>) => within("kubectl", parameters)

export const applyObjects = (objects: ReadonlyArray<object>) =>
  within("kubectl", ["apply", "-f", "-"], { input: JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }) })

/** Objects of some kinds, separated by commas, in a namespace. */
export const objectsOf = async (namespace: string, kinds: string): Promise<ReadonlyArray<Observed>> => {
  const { items } = JSON.parse(await kubectl("-n", namespace, "get", kinds, "-o", "json")) as {
    readonly items: ReadonlyArray<Observed>
  }
  return items
}

export const pauseMs = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A container's last lines: of the run before, when it has just restarted. */
const lastWords = async (namespace: string, pod: string) => {
  const log = (...more: ReadonlyArray<string>) =>
    kubectl("-n", namespace, "logs", pod, "--all-containers", "--tail=4", ...more).catch(() => "")
  return ((await log("--previous")) || (await log())).trim().slice(-1_200)
}

// An API server on a busy machine leaves a question unanswered now and then: that is looked at again, like any fault.
const unanswered = (error: unknown): ReadonlyArray<Fault> => [
  { kind: "API server", name: "", why: error instanceof Error ? error.message : String(error) }
]

const watched = "deployments,statefulsets,pods,events"

/**
 * Waits until every workload of a namespace has all its pods ready, and objects of `more` kinds are ready too. Returns
 * how long it took. At the timeout, names the reason for each object that is not ready.
 */
export const untilReady = async (namespace: string, withinMs: number, more?: string): Promise<number> => {
  const beganMs = performance.now()
  for (;;) {
    const faults = await faultsIn(namespace, more)
    const tookMs = performance.now() - beganMs
    if (faults.length === 0) return tookMs
    if (tookMs > withinMs)
      throw new Error(`not ready in ${namespace} within ${withinMs / 1_000} s:\n${await tell(namespace, faults)}`)
    await pauseMs(1_000)
  }
}

const faultsIn = (namespace: string, more?: string) =>
  objectsOf(namespace, more === undefined ? watched : `${watched},${more}`).then(faultsOf, unanswered)

const tell = async (namespace: string, faults: ReadonlyArray<Fault>) => {
  const unready = faults.flatMap(({ kind, name }) => (kind === "Pod" ? [name] : []))
  const words = unready.slice(0, 5).map(async (pod) => `${pod} said:\n${await lastWords(namespace, pod)}`)
  const said = faults.map(({ kind, name, why }) => `${kind} ${name}: ${why}`)
  return [...said, ...(await Promise.all(words))].join("\n")
}

/** What is not ready in a namespace now, by object; empty when everything is. */
export const whatIsWrong = async (namespace: string, more?: string) =>
  await tell(namespace, await faultsIn(namespace, more))
