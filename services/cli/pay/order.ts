/** Reads what `pay` is asked for. What cannot be meant is told before anything is sent. */
import { Effect } from "effect"
import { misused } from "../refusals.ts"

/** As it is written on the command line. */
export interface PayGiven {
  readonly words: ReadonlyArray<string>
  readonly model: string
  readonly chain: ChainKind
  readonly maxUsd: string
  readonly keyVariable: string | undefined
  readonly rpc: string | undefined
  readonly gateway: string | undefined
  readonly whole: boolean
  readonly json: boolean
}

export type ChainKind = "evm" | "solana"

export interface PayOrder {
  readonly prompt: string
  readonly model: string
  readonly chain: ChainKind
  /** Dearer quotes are not signed. In millionths of a dollar. */
  readonly microUsdMax: bigint
  /** Names the variable that holds the payer's key; without it the local chain's payer pays. */
  readonly keyVariable: string | undefined
  /** A node of the chain; without it the local one. */
  readonly rpcUrl: string | undefined
  /** Without it the gateway of the fleet in this home. */
  readonly gatewayUrl: string | undefined
  readonly isStreamed: boolean
  readonly isJson: boolean
}

const promptCharactersMax = 1_000_000
const usd = /^(\d{1,7})(?:\.(\d{1,6}))?$/u

export const readOrder = Effect.fnUntraced(function* (given: PayGiven) {
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
    model: given.model,
    chain: given.chain,
    microUsdMax,
    keyVariable: given.keyVariable,
    rpcUrl: given.rpc,
    gatewayUrl: given.gateway?.replace(/\/+$/u, ""),
    isStreamed: !given.whole,
    isJson: given.json
  }
  return order
})

const microUsdOf = (text: string) => {
  const found = usd.exec(text)
  return found === null ? undefined : BigInt(`${found[1]}${(found[2] ?? "").padEnd(6, "0")}`)
}

const isWebUrl = (text: string) => URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol)
