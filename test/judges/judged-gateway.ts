/**
 * A gateway with a chain, made once for a file of tests: four kinds of models, given away and sold, namely a lax one, one
 * as strict as OpenAI, a reasoner, and one as strict as Claude; and two payers for clients that know no x402.
 */
import { Cause, Context, Deferred, Effect, Layer, type Scope } from "effect"
import { createWalletClient, http, maxUint256, parseAbi, publicActions } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { baseSepolia } from "viem/chains"
import { isSameAddress, type Receipt } from "#payments/contract"
import { type LocalChain, permit2Address as permit2 } from "../../dev/chain/evm/LocalEvmChain.ts"
import type { LocalUpstream, UpstreamCall } from "../../dev/upstream/LocalUpstream.ts"
import { eventually } from "../../dev/fixtures/eventually.ts"
import type { JudgedWay } from "../../services/model-gateway/judged-clients.ts"
import { emptyHome, startCommand } from "../support/command.ts"
import { evmBalance } from "../support/paid-fleet.ts"
import { type ChannelFleet, withChannels } from "../support/channel-fleet.ts"
import { startFront } from "./front.ts"
import type { Parts } from "../support/payment-fleet.ts"

export const judgedModels = ["echo", "strict", "reasoner", "claude"] as const
export type JudgedModel = (typeof judgedModels)[number]

/** One pixel, which the scripts' tools and the agents' files give. */
export const picture =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

/** What the models were asked after a call, of those that are still known. */
export const since = ({ calls }: LocalUpstream, call: UpstreamCall | undefined) =>
  calls.slice(call === undefined ? 0 : calls.lastIndexOf(call) + 1)

/** Whose wallet is looked at, and how it pays where the client does so itself. */
export interface NativePay {
  readonly scheme: "exact" | "upto" | "batch-settlement"
  readonly key: `0x${string}`
  readonly rpcUrl: string
}

export interface Reach {
  /** Of the gateway, or of a payer. */
  readonly url: string
  readonly apiKey: string
  readonly pays?: NativePay
  readonly account: Account | undefined
}

/** The books of one wallet, in the smallest unit. */
export interface Account {
  /** What the gateway's receipts say that it paid. */
  readonly receipts: Effect.Effect<ReadonlyArray<Receipt>>
  /** What it has lost, deposits among it. */
  readonly lost: Effect.Effect<bigint>
  /** What the payer has told of its calls; none of a wallet that pays by itself. */
  readonly lines: () => ReadonlyArray<PayerLine>
}

export interface PayerLine {
  readonly path: string
  /** In millionths of a dollar, as the next one. */
  readonly price: bigint
  /** Undefined where the payer does not know. */
  readonly charged: bigint | undefined
  readonly text: string
}

export class Judged extends Context.Service<
  Judged,
  { readonly fleet: ChannelFleet; readonly reach: (way: JudgedWay) => Reach }
>()("test/judges/Judged") {
  static readonly layer = Layer.effect(
    Judged,
    Effect.gen(function* () {
      const opened = yield* Deferred.make<(typeof Judged)["Service"]>()
      const running = withChannels(
        (fleet) =>
          Effect.gen(function* () {
            yield* Deferred.succeed(opened, { fleet, reach: yield* reaches(fleet) })
            return yield* Effect.never
          }),
        // Each quote names the one settler, which has its key by then.
        { configure, chain: { settlerCount: 1 }, payments: { SettleWaitSeconds: 60 } }
      )
      yield* Effect.forkScoped(Effect.tapCause(running, (cause) => Deferred.die(opened, Cause.squash(cause))))
      return yield* Deferred.await(opened)
    })
  )
}

const price = { InputMicroUsdPerMillionTokens: 100_000, OutputMicroUsdPerMillionTokens: 200_000 }
/** Of the models with a little context: more than an agent's own instructions take. */
export const littleTokens = 60_000

const upstreams = {
  echo: { Provider: "lax", Model: "demo/echo" },
  strict: { Provider: "strict", Model: "demo/strict" },
  reasoner: { Provider: "reasoner", Model: "demo/reasoner", MaxTokensParameter: "max_completion_tokens" },
  claude: { Provider: "claude", Model: "demo/strict-claude" }
} as const

const configure = ({ chain, upstream, configuration, environment }: Parts) => {
  const { Payments, ModelGateway } = configuration as {
    readonly Payments: { readonly Networks: ReadonlyArray<object> }
    readonly ModelGateway: object
  }
  const FacilitatorAddresses = chain.settlers.map(({ address }) => address)
  const Networks = Payments.Networks.map((entry) => ({ ...entry, Schemes: ["exact", "upto"], FacilitatorAddresses }))
  const at = { BaseUrl: `${upstream.url}/v1` }
  const Providers = [
    { Name: "lax", ...at },
    { Name: "strict", ...at, Parameters: "openai", Thoughts: "none" },
    { Name: "reasoner", ...at, Parameters: "common", Thoughts: "required" },
    { Name: "claude", ...at, Kind: "anthropic" }
  ]
  const sold = [
    ["free", { Free: true, ContextTokens: 1_000_000 }],
    ["paid", { ...price, ContextTokens: 1_000_000 }],
    ["little", { Free: true, ContextTokens: littleTokens }]
  ] as const
  const Models = sold.flatMap(([family, terms]) =>
    judgedModels.map((name) => ({ Id: `${family}/${name}`, Upstreams: [upstreams[name]], ...terms }))
  )
  const TrustedProxies = ["127.0.0.0/8"]
  return {
    configuration: {
      ...configuration,
      Payments: { ...Payments, Networks },
      ModelGateway: { ...ModelGateway, Providers, Models, TrustedProxies }
    },
    environment
  }
}

const funds = 1_000_000_000n

const reaches = Effect.fnUntraced(function* (fleet: ChannelFleet) {
  const payers = { exact: yield* startPayer(fleet, "exact"), upto: yield* startPayer(fleet, "upto") }
  const own = {
    "own exact": yield* payingItself(fleet, "exact"),
    "own upto": yield* payingItself(fleet, "upto"),
    "own channel": yield* payingItself(fleet, "batch-settlement")
  }
  const free: Reach = { url: yield* startFront(fleet.url), apiKey: "none", account: undefined }
  return (way: JudgedWay): Reach => ({ free, ...payers, ...own })[way]
})

const newAccount = Effect.fnUntraced(function* (fleet: ChannelFleet, lines: Account["lines"] = () => []) {
  const { chain } = fleet
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  yield* Effect.orDie(chain.fund(address, funds))
  yield* approvePermit2(chain, key)
  const account: Account = {
    receipts: Effect.map(fleet.receipts, (all) =>
      all.filter(({ network, payer }) => isSameAddress(network, payer, address))
    ),
    lost: Effect.promise(async () => funds - (await evmBalance(chain.rpcUrl, chain.asset, address))),
    lines
  }
  return { key, account }
})

/** Once for a wallet: otherwise each call by upto signs an approval of its own, and of two at once one is refused. */
const approvePermit2 = ({ rpc, rpcUrl, asset }: LocalChain, key: `0x${string}`) =>
  Effect.gen(function* () {
    const account = privateKeyToAccount(key)
    yield* Effect.orDie(rpc("anvil_setBalance", [account.address, "0xde0b6b3a7640000"]))
    const wallet = createWalletClient({ account, chain: baseSepolia, transport: http(rpcUrl) }).extend(publicActions)
    const abi = parseAbi(["function approve(address spender, uint256 amount)"])
    yield* Effect.promise(async () => {
      const hash = await wallet.writeContract({
        address: asset,
        abi,
        functionName: "approve",
        args: [permit2, maxUint256]
      })
      await wallet.waitForTransactionReceipt({ hash, pollingInterval: 10 })
    })
  })

const payingItself = Effect.fnUntraced(function* (fleet: ChannelFleet, scheme: NativePay["scheme"]) {
  const { key, account } = yield* newAccount(fleet)
  const reach: Reach = {
    url: fleet.url,
    apiKey: "none",
    pays: { scheme, key, rpcUrl: fleet.chain.rpcUrl },
    account
  }
  return reach
})

/** `./starling payer`, as its user starts it. */
const startPayer = Effect.fnUntraced(function* (
  fleet: ChannelFleet,
  scheme: "exact" | "upto"
): Effect.fn.Return<Reach, never, Scope.Scope> {
  const said: { text: () => string } = { text: () => "" }
  const { key, account } = yield* newAccount(fleet, () => linesIn(said.text()))
  const words = ["payer", "--gateway", fleet.url, "--rpc", fleet.chain.rpcUrl, "--key-env", "A_KEY", "--port", "0"]
  const limits = ["--scheme", scheme, "--per-call", "1", "--per-hour", "1000"]
  const home = yield* emptyHome
  const command = yield* Effect.acquireRelease(
    Effect.sync(() => startCommand([...words, ...limits], { STARLING_HOME: home, A_KEY: key })),
    ({ signal }) => Effect.sync(() => signal("SIGTERM"))
  )
  said.text = command.said
  yield* eventually(() => command.said().includes("limits:"))
  const [, url = "", token = ""] = /^payer: +(\S+) → \S+\ntoken: +(\S+)\n/u.exec(command.said()) ?? []
  return { url, apiKey: token, account }
})

const linesIn = (said: string): ReadonlyArray<PayerLine> =>
  said.split("\n").flatMap((text) => {
    const path = /^\d{4}-\S+ (\/\S*) /u.exec(text)?.[1]
    if (path === undefined) return []
    return [
      { path, text, price: amountIn(text, "price") ?? 0n, charged: isPaid(text) ? amountIn(text, "charged") : 0n }
    ]
  })

const isPaid = (text: string) => text.includes(" price ")

const amountIn = (text: string, name: string): bigint | undefined => {
  const found = new RegExp(` ${name} (\\d+)\\.(\\d{6}) `, "u").exec(text)
  return found === null ? undefined : BigInt(`${found[1]}${found[2]}`)
}
