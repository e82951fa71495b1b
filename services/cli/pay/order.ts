/**
 * The order of `pay`, with its gateway, chain and payer: from the command line, otherwise from the fleet of this home.
 * A faulty order is refused before anything is sent.
 */
import { Effect, Option, Redacted, Schema } from "effect"
import { readSettings } from "#fleet"
import { Environment } from "#runtime"
import type { ChainKind, Payer, PayScheme } from "#payments"
import { misused, noFleet } from "../console.ts"
import { readReady } from "../home-fleet.ts"

/** The order as given on the command line. */
export interface PayFlags {
  readonly words: ReadonlyArray<string>
  readonly model: string | undefined
  readonly chain: ChainKind
  readonly maxUsd: string
  readonly scheme: PayScheme | undefined
  readonly keyVariable: string | undefined
  readonly rpc: string | undefined
  readonly gateway: string | undefined
  readonly whole: boolean
  readonly json: boolean
}

export interface PayOrder {
  readonly prompt: string
  /** Empty for a refund, and until the gateway has listed its models. */
  readonly model: string
  readonly chain: ChainKind
  /** The highest quote that is signed, in millionths of a dollar. */
  readonly microUsdMax: bigint
  /** The payment scheme; by default the first that the gateway offers. */
  readonly scheme: PayScheme | undefined
  /** The variable with the payer's key; without it the local chain's payer pays. */
  readonly keyVariable: string | undefined
  /** A node of the chain; by default the local one. */
  readonly rpcUrl: string | undefined
  /** Default: the gateway of this home's fleet. */
  readonly gatewayUrl: string | undefined
  readonly isStreamed: boolean
  readonly isJson: boolean
}

const promptCharactersMax = 1_000_000
const usd = /^(\d{1,7})(?:\.(\d{1,6}))?$/u

export const readOrder = Effect.fnUntraced(function* (given: PayFlags) {
  const prompt = given.words.join(" ")
  if (prompt.trim() === "") return yield* misused('pay for what? give a "prompt"')
  if (prompt.length > promptCharactersMax) {
    return yield* misused(`that is ${prompt.length} characters long, ${promptCharactersMax} are sent at most`)
  }
  const microUsdMax = microUsdOf(given.maxUsd)
  if (microUsdMax === undefined) {
    return yield* misused(`--max-usd ${given.maxUsd}? it is dollars with at most six decimals, like 0.05`)
  }
  for (const [name, url] of [
    ["--rpc", given.rpc],
    ["--gateway", given.gateway]
  ] as const) {
    if (url !== undefined && !isWebUrl(url)) return yield* misused(`${name} ${url}? it is a URL of http or https`)
  }
  const order: PayOrder = {
    prompt,
    model: given.model ?? "",
    chain: given.chain,
    microUsdMax,
    scheme: given.scheme,
    keyVariable: given.keyVariable,
    rpcUrl: given.rpc,
    gatewayUrl: given.gateway?.replace(/(?<!\/)\/+$/u, ""),
    isStreamed: !given.whole,
    isJson: given.json
  }
  return order
})

export const microUsdOf = (text: string) => {
  const found = usd.exec(text)
  return found === null ? undefined : BigInt(`${found[1]}${(found[2] ?? "").padEnd(6, "0")}`)
}

export const isWebUrl = (text: string) => URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol)

export interface PayFleet extends Payer {
  readonly gatewayUrl: string
}

const Chains = Schema.Struct({
  evm: Schema.optionalKey(Schema.Struct({ rpc: Schema.String, payer: Schema.Struct({ privateKey: Schema.String }) })),
  solana: Schema.optionalKey(Schema.Struct({ rpc: Schema.String, payer: Schema.Struct({ secretKey: Schema.String }) }))
})
/** A running fleet's facts about its gateway and its chains. */
export const Ready = Schema.Struct({ gateway: Schema.optionalKey(Schema.String), chains: Schema.optionalKey(Chains) })
export interface Ready extends Schema.Schema.Type<typeof Ready> {}

export const findPayFleet = Effect.fnUntraced(function* (order: PayOrder) {
  const { home } = yield* readSettings
  const ready = yield* isCompleteWithout(order) ? Effect.succeed<Ready>({}) : readReady(home, Ready)
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

const isCompleteWithout = (order: PayOrder) =>
  order.gatewayUrl !== undefined && order.rpcUrl !== undefined && order.keyVariable !== undefined

export const localOf = ({ chains }: Ready, chain: PayOrder["chain"]) => {
  if (chain === "evm") {
    return chains?.evm && { rpcUrl: chains.evm.rpc, key: Redacted.make(chains.evm.payer.privateKey) }
  }
  return chains?.solana && { rpcUrl: chains.solana.rpc, key: Redacted.make(chains.solana.payer.secretKey) }
}

export const keyIn = Effect.fnUntraced(function* (variable: string) {
  const value = Option.fromNullishOr((yield* Environment)[variable])
  if (Option.isNone(value) || value.value.trim() === "") return yield* misused(`${variable} is not set`)
  return Redacted.make(value.value.trim())
})
