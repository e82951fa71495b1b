/** Reads what `pay` is asked for. What cannot be meant is told before anything is sent. */
import { Effect } from "effect"
import { misused } from "./say-stopped.ts"
import { readParameters } from "./parameters.ts"

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

// What wallets' own libraries sign without asking.
const usdMaxDefault = "1"
const promptCharactersMax = 1_000_000
const usd = /^(\d{1,7})(?:\.(\d{1,6}))?$/u

export const readOrder = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const { values, positionals } = yield* read(parameters)
  const prompt = positionals.join(" ")
  if (prompt.trim() === "") return yield* misused('pay for what? give a "prompt"')
  if (prompt.length > promptCharactersMax) {
    return yield* misused(`that is ${prompt.length} characters long, ${promptCharactersMax} are sent at most`)
  }
  const { chain } = values
  if (chain !== "evm" && chain !== "solana") return yield* misused(`--chain ${chain}? it is evm or solana`)
  const microUsdMax = microUsdOf(values["max-usd"])
  if (microUsdMax === undefined) {
    return yield* misused(`--max-usd ${values["max-usd"]}? it is dollars with at most six decimals, like 0.05`)
  }
  for (const [name, url] of [
    ["--rpc", values.rpc],
    ["--gateway", values.gateway]
  ] as const) {
    if (url !== undefined && !isWebUrl(url)) return yield* misused(`${name} ${url}? it is a URL of http or https`)
  }
  const order: PayOrder = {
    prompt,
    model: values.model,
    chain,
    microUsdMax,
    keyVariable: values["key-env"],
    rpcUrl: values.rpc,
    gatewayUrl: values.gateway?.replace(/\/+$/u, ""),
    isStreamed: values.whole !== true,
    isJson: values.json === true
  }
  return order
})

const read = (parameters: ReadonlyArray<string>) =>
  readParameters({
    args: [...parameters],
    allowPositionals: true,
    options: {
      model: { type: "string", default: "demo/echo" },
      chain: { type: "string", default: "evm" },
      "max-usd": { type: "string", default: usdMaxDefault },
      "key-env": { type: "string" },
      rpc: { type: "string" },
      gateway: { type: "string" },
      whole: { type: "boolean" },
      json: { type: "boolean" }
    }
  }).pipe(Effect.mapError(({ reason }) => misused(reason)))

const microUsdOf = (text: string) => {
  const found = usd.exec(text)
  return found === null ? undefined : BigInt(`${found[1]}${(found[2] ?? "").padEnd(6, "0")}`)
}

const isWebUrl = (text: string) => URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol)
