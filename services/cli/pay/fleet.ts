/** Where `pay` finds a gateway, a chain and a payer: what it was told, else what the fleet of this home has made ready. */
import { readFile } from "node:fs/promises"
import { Effect, Option, Redacted, Schema } from "effect"
import { Environment } from "#runtime"
import { readSettings } from "#fleet"
import type { PayOrder } from "./order.ts"
import { misused, noFleet } from "../refusals.ts"

export interface PayFleet {
  readonly gatewayUrl: string
  readonly rpcUrl: string
  /** As a wallet exports it. */
  readonly key: Redacted.Redacted
}

const Chains = Schema.Struct({
  evm: Schema.optionalKey(Schema.Struct({ rpc: Schema.String, payer: Schema.Struct({ privateKey: Schema.String }) })),
  solana: Schema.optionalKey(Schema.Struct({ rpc: Schema.String, payer: Schema.Struct({ secretKey: Schema.String }) }))
})
const Ready = Schema.fromJsonString(
  Schema.Struct({ gateway: Schema.optionalKey(Schema.String), chains: Schema.optionalKey(Chains) })
)
interface Ready extends Schema.Schema.Type<typeof Ready> {}

export const findPayFleet = Effect.fnUntraced(function* (order: PayOrder) {
  const { home } = yield* readSettings
  const ready = yield* isWholeWithout(order) ? Effect.succeed<Ready>({}) : readReady(home)
  const local = localOf(ready, order.chain)
  const gatewayUrl = order.gatewayUrl ?? ready.gateway
  if (gatewayUrl === undefined) {
    return yield* noFleet(`the fleet in ${home} sells no models; start one with the gateway, as ./starling up does`)
  }
  const rpcUrl = order.rpcUrl ?? local?.rpcUrl
  if (rpcUrl === undefined)
    return yield* noFleet(`the fleet in ${home} has no chain of its own; name a node with --rpc`)
  const key = order.keyVariable === undefined ? local?.key : yield* keyIn(order.keyVariable)
  if (key === undefined)
    return yield* noFleet(`the fleet in ${home} has no payer of its own; name a key with --key-env`)
  const fleet: PayFleet = { gatewayUrl, rpcUrl, key }
  return fleet
})

const isWholeWithout = (order: PayOrder) =>
  order.gatewayUrl !== undefined && order.rpcUrl !== undefined && order.keyVariable !== undefined

const readReady = Effect.fnUntraced(function* (home: string) {
  const text = yield* Effect.tryPromise({
    try: () => readFile(`${home}/ready.json`, "utf8"),
    catch: () => noFleet(`no fleet has run in ${home} yet; start it with ./starling up`)
  })
  return yield* Effect.mapError(Schema.decodeEffect(Ready)(text), () =>
    noFleet(`${home}/ready.json cannot be read; start the fleet again with ./starling up`)
  )
})

const localOf = ({ chains }: Ready, chain: PayOrder["chain"]) => {
  if (chain === "evm") {
    return chains?.evm && { rpcUrl: chains.evm.rpc, key: Redacted.make(chains.evm.payer.privateKey) }
  }
  return chains?.solana && { rpcUrl: chains.solana.rpc, key: Redacted.make(chains.solana.payer.secretKey) }
}

const keyIn = Effect.fnUntraced(function* (variable: string) {
  const value = Option.fromNullishOr((yield* Environment)[variable])
  if (Option.isNone(value) || value.value.trim() === "") return yield* misused(`${variable} is not set`)
  return Redacted.make(value.value.trim())
})
