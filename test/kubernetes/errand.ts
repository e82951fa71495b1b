/**
 * One call of the fleet, made from a pod of its cluster: `node errand.ts <errand> <order as JSON>`. Prints the result
 * as JSON.
 */
import { arrivalsAt } from "../containers/arrivals.ts"
import { payOnce } from "../containers/load-payments.ts"
import { hearOnce } from "../containers/load-speech.ts"
import { payee, payOnSolana } from "../containers/pay-on-solana.ts"
import { pauseMs } from "../containers/worker.ts"
import { payTo, worldPorts } from "../containers/world-places.ts"
import { localEvmAsset } from "../../dev/chain/evm/LocalEvmChain.ts"
import { evmBalance, solanaBalance } from "../support/paid-fleet.ts"

/** A caller's knowledge of the fleet. */
export interface Order {
  /** Namespace of the called services. */
  readonly namespace: string
  /** Name of the outside world. */
  readonly world: string
  readonly token: string
  readonly text: string
  /** Of a request of its own. */
  readonly url: string
  /** Posted as JSON. */
  readonly body: unknown
}

const fleetOf = ({ namespace, token }: Order) => ({
  of: (role: string) => ({ url: `http://${role}.${namespace}` }),
  token
})

// More listeners than one synthesizer serves without a backlog.
const crowdSize = 16
const refusedPauseMs = 500

/** One text after the other until the pod is deleted. A refused or broken one is asked for again. */
const hearOn = async (fleet: ReturnType<typeof fleetOf>, text: string): Promise<never> => {
  for (;;) await hearOnce(fleet, text).catch(() => pauseMs(refusedPauseMs))
}

const errands: Readonly<Record<string, (order: Order) => Promise<unknown>>> = {
  arrivals: ({ world }) => arrivalsAt(`http://${world}:${worldPorts.hooks}`).all(),
  payOnEvm: async (order) => {
    const taken = () => evmBalance(`http://${order.world}:${worldPorts.evm}`, localEvmAsset, payTo)
    const before = await taken()
    const answer = await payOnce(fleetOf(order), "ann", order.text)
    return { answer, taken: String((await taken()) - before) }
  },
  payOnSolana: async (order) => {
    const rpc = `http://${order.world}:${worldPorts.solana}`
    const before = await solanaBalance(rpc, payee)
    const answer = await payOnSolana(fleetOf(order), rpc, order.text)
    return { answer, taken: String((await solanaBalance(rpc, payee)) - before) }
  },
  speak: (order) => hearOnce(fleetOf(order), order.text),
  crowd: (order) => Promise.all(Array.from({ length: crowdSize }, () => hearOn(fleetOf(order), order.text))),
  read: async ({ url, token }) => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    return { status: response.status, text: await response.text() }
  },
  ask: async ({ url, body }) => {
    const response = await fetch(url, { method: "POST", body: JSON.stringify(body ?? null) })
    const said = await response.text()
    if (!response.ok) throw new Error(`${url}: ${response.status} ${said}`)
    return JSON.parse(said) as unknown
  }
}

const [name = "", order = "{}"] = process.argv.slice(2)
const errand = errands[name]
if (errand === undefined) throw new Error(`no errand ${name}; there are ${Object.keys(errands).join(", ")}`)
process.stdout.write(`${JSON.stringify(await errand(JSON.parse(order) as Order))}\n`)
