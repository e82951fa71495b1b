/**
 * Who reaches whom: TCP connections tried from inside pods. Beside the fleet stand a stranger in a namespace that no
 * policy names, which listens itself, and a scraper in the namespace that the policies admit to metrics.
 */
import { applyObjects, kubectl, untilReady } from "./kubectl.ts"
import { callers, namespace, scripts } from "./outside.ts"

/** A pod by its workload, as `kubectl exec` takes it. */
export interface Pod {
  readonly namespace: string
  readonly workload: string
}

export interface Port {
  readonly address: string
  readonly port: number
}

export const stranger: Pod = { namespace: "strangers", workload: "deployment/stranger" }
export const scraper: Pod = { namespace: "monitoring", workload: "deployment/scraper" }
export const caller: Pod = { namespace: callers, workload: "deployment/caller" }

/** Where the stranger listens: the web's ports, by which some roles may leave, and one by which none may. */
export const strangerPorts = { http: 80, https: 443, other: 9_999 } as const

const listening = `for (const port of ${JSON.stringify(Object.values(strangerPorts))}) require("node:net").createServer((it) => it.end()).listen(port)`
const waiting = "setInterval(() => undefined, 60_000)"
const readyWithinMs = 120_000

export const startStrangers = async () => {
  await applyObjects([
    namespace(stranger.namespace),
    namespace(scraper.namespace),
    scripts("stranger", stranger.namespace, ["-e", listening], strangerPorts.other),
    scripts("scraper", scraper.namespace, ["-e", waiting])
  ])
  await untilReady(stranger.namespace, readyWithinMs)
  await untilReady(scraper.namespace, readyWithinMs)
}

export const removeStrangers = () =>
  kubectl("delete", "namespace", stranger.namespace, scraper.namespace, "--ignore-not-found", "--timeout=120s")

/** The address of one pod, by a label selector. */
export const addressOf = async (inNamespace: string, selector: string): Promise<string> => {
  const path = "jsonpath={.items[0].status.podIP}"
  const address = await kubectl("-n", inNamespace, "get", "pods", "-l", selector, "-o", path)
  if (address === "") throw new Error(`no pod ${selector} in ${inNamespace}`)
  return address
}

// A connection on one machine takes milliseconds; what a policy drops is never answered.
const connectWithinMs = 2_000

const trying = `
const { connect } = require("node:net")
const tries = JSON.parse(process.argv[1]).map(({ address, port }) => new Promise((resolve) => {
  const socket = connect({ host: address, port })
  const end = (passed) => { clearTimeout(timer); socket.destroy(); resolve(passed) }
  const timer = setTimeout(() => end(false), ${connectWithinMs})
  socket.on("connect", () => end(true)).on("error", () => end(false))
}))
Promise.all(tries).then((passed) => console.log(JSON.stringify(passed)))`

/** Whether a connection from the pod to each port comes about, tried all at once. */
export const reached = async (from: Pod, to: ReadonlyArray<Port>): Promise<ReadonlyArray<boolean>> => {
  const script = ["node", "-e", trying, JSON.stringify(to)]
  return JSON.parse(
    await kubectl("-n", from.namespace, "exec", from.workload, "--", ...script)
  ) as ReadonlyArray<boolean>
}
