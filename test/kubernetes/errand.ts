/**
 * One call of the fleet, made from a pod of its cluster: `node errand.ts <errand> <order as JSON>`. Prints the result
 * as JSON.
 */
import { arrivalsAt } from "../containers/arrivals.ts"
import { payOnce } from "../containers/load-payments.ts"
import { hearOnce } from "../containers/load-speech.ts"
import { payee, payOnSolana } from "../containers/pay-on-solana.ts"
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
}

const fleetOf = ({ namespace, token }: Order) => ({
  of: (role: string) => ({ url: `http://${role}.${namespace}` }),
  token
})

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
  speak: (order) => hearOnce(fleetOf(order), order.text)
}

const [name = "", order = "{}"] = process.argv.slice(2)
const errand = errands[name]
if (errand === undefined) throw new Error(`no errand ${name}; there are ${Object.keys(errands).join(", ")}`)
process.stdout.write(`${JSON.stringify(await errand(JSON.parse(order) as Order))}\n`)
