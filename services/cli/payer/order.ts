/** The payer's limits, gateway and key, from the command line, otherwise from the fleet of this home. */
import { Effect, Redacted } from "effect"
import { chainFamilyOf, knownTokens, type PaymentSchemeName } from "#payments/contract"
import { readSettings } from "#fleet"
import type { Payer as PayingKey } from "#payments"
import { misused, noFleet, textIn } from "../console.ts"
import { readReady } from "../home-fleet.ts"
import { isWebUrl, keyIn, localOf, microUsdOf, Ready } from "../pay/order.ts"
import type { PayerTerms } from "./choose-offer.ts"

/** As given on the command line. */
export interface PayerGiven {
  readonly keyFile: string | undefined
  readonly keyVariable: string | undefined
  readonly gateway: string | undefined
  readonly rpc: string | undefined
  readonly port: number
  readonly perCall: string
  readonly perHour: string
  readonly allow: ReadonlyArray<string>
  readonly network: ReadonlyArray<string>
  readonly scheme: ReadonlyArray<PaymentSchemeName>
  readonly mainnet: boolean
}

export interface PayerOrder {
  readonly gatewayUrl: string
  readonly port: number
  readonly perCall: bigint
  readonly perHour: bigint
  readonly terms: PayerTerms
  readonly key: PayingKey
}

export const readPayerOrder = Effect.fnUntraced(function* (given: PayerGiven) {
  for (const [name, url] of [
    ["--gateway", given.gateway],
    ["--rpc", given.rpc]
  ] as const) {
    if (url !== undefined && !isWebUrl(url)) return yield* misused(`${name} ${url}? it is a URL of http or https`)
  }
  const perCall = yield* dollarsOf("--per-call", given.perCall)
  const perHour = yield* dollarsOf("--per-hour", given.perHour)
  const schemes = given.scheme.length === 0 ? (["exact"] as const) : given.scheme
  const networks = given.network.length === 0 ? undefined : yield* networksOf(given)
  const { gatewayUrl, key } = yield* findPlaces(given, schemes.includes("upto"))
  const hosts = [new URL(gatewayUrl).hostname, ...given.allow]
  const terms = { schemes, networks, isMainnet: given.mainnet, hosts }
  const order: PayerOrder = { gatewayUrl, port: given.port, perCall, perHour, terms, key }
  return order
})

const dollarsOf = Effect.fnUntraced(function* (name: string, text: string) {
  const found = microUsdOf(text)
  return found ?? (yield* misused(`${name} ${text}? it is dollars with at most six decimals, like 0.05`))
})

const tokens = knownTokens.filter(({ network }) => chainFamilyOf(network) === "evm")

const networksOf = ({ network: names, mainnet }: PayerGiven) =>
  Effect.forEach(names, (name) => {
    const token = tokens.find(({ network, plainName }) => network === name || plainName === name)
    if (token === undefined) {
      return misused(`--network ${name}? it is one of ${tokens.map(({ plainName }) => plainName).join(", ")}`)
    }
    return token.isTest === true || mainnet
      ? Effect.succeed(token.network)
      : misused(`--network ${name}: its dollars are real, which takes --mainnet too`)
  })

/** The gateway and the key; those of this home's fleet if the command line names none. */
const findPlaces = Effect.fnUntraced(function* (given: PayerGiven, readsChain: boolean) {
  const { keyFile, keyVariable } = given
  if (keyFile !== undefined && keyVariable !== undefined) {
    return yield* misused("the key is in --key-file or in --key-env, not in both")
  }
  const { home } = yield* readSettings
  const hasKey = keyFile !== undefined || keyVariable !== undefined
  const isComplete = given.gateway !== undefined && hasKey && (given.rpc !== undefined || !readsChain)
  const ready = isComplete ? {} : yield* readReady(home, Ready)
  const local = localOf(ready, "evm")
  const gatewayUrl = given.gateway?.replace(/(?<!\/)\/+$/u, "") ?? ready.gateway
  if (gatewayUrl === undefined) {
    return yield* noFleet(`the fleet in ${home} sells no models; name a gateway with --gateway`)
  }
  const named = yield* keyOf(given)
  const key = named ?? local?.key
  if (key === undefined)
    return yield* noFleet(`the fleet in ${home} has no payer of its own; name a key with --key-env`)
  const rpcUrl = given.rpc ?? local?.rpcUrl
  if (rpcUrl === undefined && readsChain) return yield* misused("upto reads the chain: name a node of it with --rpc")
  // An exact payment is signed without consulting the chain.
  return { gatewayUrl, key: { key, rpcUrl: rpcUrl ?? "" } }
})

const keyOf = Effect.fnUntraced(function* ({ keyFile, keyVariable }: PayerGiven) {
  if (keyFile !== undefined) return Redacted.make((yield* textIn(keyFile)).trim())
  return keyVariable === undefined ? undefined : yield* keyIn(keyVariable)
})
