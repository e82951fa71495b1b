/**
 * A wallet made from a payer's key: it has an address and a balance, and signs quotes. It protects the payer's money:
 * it signs a quote only for the dollar token of the expected chain, at an allowed price, which under `upto` is the
 * maximum that can be charged.
 */
import { randomBytes } from "node:crypto"
import { Clock, Context, Effect, Redacted, Result, Schema } from "effect"
import {
  chainFamilyOf,
  type channelScheme,
  isSameAddress,
  knownTokenOf,
  type PaymentPayload,
  PaymentRequired,
  type PaymentRequirements,
  type PaymentSchemeName,
  type Voucher
} from "#payments/contract"
import { channelQuestions, channelsAddress } from "../chains/evm/channels/contract.ts"
import { checksummed, hexOf } from "../chains/evm/encoding.ts"
import { permit2Address } from "../chains/evm/permit2.ts"
import { chainIdOf } from "../chains/evm/settings.ts"
import { readSettlerKey as readEvmKey, signAuthorization } from "../chains/evm/signature.ts"
import { signApproval, signPermit, uptoProxyAddress } from "../chains/evm/upto/proxy.ts"
import { readSettlerKey as readSvmKey } from "../chains/solana/keys.ts"
import { signTransfer } from "../chains/solana/sign-transfer.ts"
import { channelIdFor, channelPaymentOf, channelRefundOf, isPermit2Deposit } from "./channels.ts"

export type ChainKind = "evm" | "solana"

/** The payer's key in the form that a wallet exports, and a node of its chain. */
export interface Payer {
  readonly key: Redacted.Redacted
  readonly rpcUrl: string
}

/** The key cannot be read, the quote cannot be signed, or the chain does not answer: nothing was paid. */
export class CannotPay extends Schema.TaggedError<CannotPay>()("CannotPay", {
  what: Schema.Literals(["key", "quote", "chain"]),
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

export interface Wallet {
  readonly address: string
  /** The balance of the quote's token, in millionths. */
  readonly balance: (quote: PayQuote) => Effect.Effect<bigint, CannotPay>
  readonly sign: (quote: PayQuote) => Effect.Effect<PaymentPayload, CannotPay>
  /** The wallet's payment channels; null where its chain has none. */
  readonly channels: WalletChannels | null
}

/** One channel for the terms of each offer. The chain and the payee hold its state: the wallet keeps nothing. */
export interface WalletChannels {
  /** The channel's balance and claimed total, according to the chain. */
  readonly state: (
    offer: PaymentRequirements
  ) => Effect.Effect<{ readonly balance: bigint; readonly claimed: bigint }, CannotPay>
  /** A voucher for one more call, preceded by a deposit unless that is zero. */
  readonly pay: (
    offer: PaymentRequirements,
    terms: { readonly charged: bigint; readonly deposit: bigint }
  ) => Effect.Effect<PaymentPayload, CannotPay>
  /** Null requests all that is left. */
  readonly refund: (
    offer: PaymentRequirements,
    terms: { readonly charged: bigint; readonly amount: bigint | null }
  ) => PaymentPayload
  /** Whether this wallet signed a claim of this amount on its channel. */
  readonly hasSigned: (offer: PaymentRequirements, voucher: Voucher) => boolean
}

export const openWallet = Effect.fnUntraced(function* (chain: ChainKind, { key, rpcUrl }: Payer) {
  const read = chain === "evm" ? readEvmKey : readSvmKey
  const found = read("payer", Redacted.value(key))
  // The reason never contains any part of the key.
  if (Result.isFailure(found)) {
    return yield* new CannotPay({ what: "key", reason: `the payer's key cannot be read: ${found.failure}` })
  }
  const { address, secret } = found.success
  return chain === "evm" ? evmWallet(checksummed(address), secret, rpcUrl) : solanaWallet(address, secret, rpcUrl)
})

type Secret = Redacted.Redacted<Uint8Array>

const Quantity = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{1,64}$/u))
const balanceOf = "0x70a08231"
// Clocks of wallets and chains differ by minutes.
const validSinceSeconds = 600n

// The wallet's only channel on the same terms.
const salt = `0x${"0".repeat(64)}`
const Words = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{128}$/u))

/** A wallet does not count its channels: with its own name, a call is not a repetition of one with the same text. */
const newName = () => ({ "payment-identifier": { info: { id: randomBytes(16).toString("hex") } } })

const walletChannels = (address: string, secret: Secret, rpcUrl: string): WalletChannels => {
  const signer = { address, key: Redacted.value(secret), salt }
  return {
    state: (offer) => {
      const [question] = channelQuestions(channelIdFor(signer, offer))
      const data = question === undefined ? "0x" : hexOf(question)
      return Effect.map(askChain(rpcUrl, "eth_call", [{ to: channelsAddress, data }, "latest"], Words), (words) => ({
        balance: BigInt(words.slice(0, 66)),
        claimed: BigInt(`0x${words.slice(66)}`)
      }))
    },
    pay: Effect.fnUntraced(function* (offer, { charged, deposit }) {
      const nowSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
      const terms = { maxClaimable: charged + BigInt(offer.amount), deposit, nowSeconds }
      const payment = { ...channelPaymentOf(signer, offer, terms), extensions: newName() }
      if (deposit === 0n || !isPermit2Deposit(offer)) return payment
      const permit = { amount: deposit, deadline: BigInt(nowSeconds + offer.maxTimeoutSeconds) }
      return yield* approving({ address, secret, rpcUrl }, payment, permit)
    }),
    refund: (offer, terms) => channelRefundOf(signer, offer, terms),
    // Signatures on this curve are deterministic here: the same voucher gets the same signature.
    hasSigned: (offer, { maxClaimable, signature }) => {
      const { payload } = channelRefundOf(signer, offer, { charged: BigInt(maxClaimable), amount: null })
      return (payload["voucher"] as { readonly signature: string }).signature === signature.toLowerCase()
    }
  }
}

const evmWallet = (address: string, secret: Secret, rpcUrl: string): Wallet => ({
  address,
  channels: walletChannels(address, secret, rpcUrl),
  balance: ({ requirements }) => {
    const data = `${balanceOf}${address.slice(2).toLowerCase().padStart(64, "0")}`
    return Effect.map(askChain(rpcUrl, "eth_call", [{ to: requirements.asset, data }, "latest"], Quantity), BigInt)
  },
  sign: (offer) =>
    offer.requirements.scheme === "upto"
      ? signUpto({ address, secret, rpcUrl }, offer)
      : signExact({ address, secret, rpcUrl }, offer)
})

interface EvmPayer {
  readonly address: string
  readonly secret: Secret
  readonly rpcUrl: string
}

const signExact = Effect.fnUntraced(function* ({ address, secret }: EvmPayer, { requirements, quote }: PayQuote) {
  const { asset, amount, payTo, maxTimeoutSeconds, network, extra } = requirements
  const [name, version] = [extra?.["name"], extra?.["version"]]
  if (typeof name !== "string" || typeof version !== "string") return yield* cannotSign("it does not name the token")
  const now = BigInt(Math.floor((yield* Clock.currentTimeMillis) / 1_000))
  const [validAfter, validBefore] = [now - validSinceSeconds, now + BigInt(maxTimeoutSeconds)]
  const nonce = `0x${randomBytes(32).toString("hex")}`
  const domain = { name, version, chainId: chainIdOf(network), asset }
  const terms = { from: address, to: payTo, value: BigInt(amount), validAfter, validBefore, nonce }
  const signature = signAuthorization(Redacted.value(secret), domain, terms)
  const times = { validAfter: String(validAfter), validBefore: String(validBefore) }
  const authorization = { from: address, to: payTo, value: amount, ...times, nonce }
  return payloadOf(quote, requirements, { signature, authorization })
})

const allowance = "0xdd62ed3e"
const nonces = "0x7ecebe00"
const argument = (address: string) => address.slice(2).toLowerCase().padStart(64, "0")

/** Signs the maximum that the call can cost, and the Permit2 approval if the wallet has not made one. */
const signUpto = Effect.fnUntraced(function* (payer: EvmPayer, { requirements, quote }: PayQuote) {
  const { address, secret } = payer
  const { asset, amount, payTo, maxTimeoutSeconds, network, extra } = requirements
  const facilitator = extra?.["facilitatorAddress"]
  if (typeof facilitator !== "string") return yield* cannotSign("it does not name who may settle")
  const now = BigInt(Math.floor((yield* Clock.currentTimeMillis) / 1_000))
  const permit = {
    from: address,
    token: asset,
    amount: BigInt(amount),
    spender: checksummed(uptoProxyAddress),
    nonce: BigInt(`0x${randomBytes(32).toString("hex")}`),
    deadline: now + BigInt(maxTimeoutSeconds),
    to: payTo,
    facilitator,
    validAfter: now - validSinceSeconds
  }
  const permit2Authorization = {
    from: address,
    permitted: { token: asset, amount },
    spender: permit.spender,
    nonce: String(permit.nonce),
    deadline: String(permit.deadline),
    witness: { to: payTo, facilitator, validAfter: String(permit.validAfter) }
  }
  const signature = signPermit(Redacted.value(secret), chainIdOf(network), permit)
  return yield* approving(payer, payloadOf(quote, requirements, { signature, permit2Authorization }), permit)
})

interface Approval {
  readonly amount: bigint
  readonly deadline: bigint
}

/** The payment, with the Permit2 approval if the wallet has not made one. */
const approving = Effect.fnUntraced(function* (payer: EvmPayer, payload: PaymentPayload, approval: Approval) {
  const { address, rpcUrl } = payer
  const data = `${allowance}${argument(address)}${argument(permit2Address)}`
  const call = [{ to: payload.accepted.asset, data }, "latest"]
  const approved = BigInt(yield* askChain(rpcUrl, "eth_call", call, Quantity))
  return approved >= approval.amount ? payload : yield* withApproval(payer, payload, approval)
})

const withApproval = Effect.fnUntraced(function* (
  { address, secret, rpcUrl }: EvmPayer,
  payload: PaymentPayload,
  { amount, deadline }: Approval
) {
  const { asset, network, extra } = payload.accepted
  const [name, version] = [extra?.["name"], extra?.["version"]]
  if (typeof name !== "string" || typeof version !== "string") return yield* cannotSign("it does not name the token")
  const asked = [{ to: asset, data: `${nonces}${argument(address)}` }, "latest"]
  const nonce = BigInt(yield* askChain(rpcUrl, "eth_call", asked, Quantity))
  const domain = { name, version, chainId: chainIdOf(network), asset }
  const signature = signApproval(Redacted.value(secret), domain, { owner: address, value: amount, nonce, deadline })
  const info = {
    from: address,
    asset,
    spender: checksummed(permit2Address),
    amount: String(amount),
    nonce: String(nonce),
    deadline: String(deadline),
    signature,
    version: "1"
  }
  return { ...payload, extensions: { ...payload.extensions, eip2612GasSponsoring: { info } } }
})

const Blockhash = Schema.Struct({ value: Schema.Struct({ blockhash: Schema.String }) })
const TokenAmount = Schema.Struct({ amount: Schema.String.check(Schema.isPattern(/^\d{1,20}$/u)) })
const Info = Schema.Struct({ tokenAmount: TokenAmount })
const Account = Schema.Struct({
  account: Schema.Struct({ data: Schema.Struct({ parsed: Schema.Struct({ info: Info }) }) })
})
const Accounts = Schema.Struct({ value: Schema.Array(Account) })
const dollarDecimals = 6

const solanaWallet = (address: string, secret: Secret, rpcUrl: string): Wallet => ({
  address,
  channels: null,
  balance: ({ requirements }) => {
    const question = [address, { mint: requirements.asset }, { encoding: "jsonParsed", commitment: "confirmed" }]
    return Effect.map(askChain(rpcUrl, "getTokenAccountsByOwner", question, Accounts), ({ value }) =>
      value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n)
    )
  },
  sign: Effect.fnUntraced(function* ({ requirements, quote }) {
    const latest = yield* askChain(rpcUrl, "getLatestBlockhash", [{ commitment: "confirmed" }], Blockhash)
    const signed = signTransfer({
      requirements,
      seed: Redacted.value(secret),
      blockhash: latest.value.blockhash,
      decimals: dollarDecimals,
      memo: randomBytes(16).toString("hex")
    })
    if (Result.isFailure(signed)) return yield* cannotSign(signed.failure)
    return payloadOf(quote, requirements, { ...signed.success })
  })
})

const cannotSign = (reason: string) => new CannotPay({ what: "quote", reason: `the quote cannot be signed: ${reason}` })

const payloadOf = (
  { resource }: PayQuote["quote"],
  accepted: PayQuote["requirements"],
  payload: PaymentPayload["payload"]
): PaymentPayload => ({ x402Version: 2, resource, accepted, payload })

// A healthy node answers in milliseconds.
const answerMs = 10_000

/** Sends one question to a node and waits seconds for the answer: the method's result, decoded. */
const askChain = <A>(
  rpcUrl: string,
  method: string,
  params: ReadonlyArray<unknown>,
  result: Schema.Codec<A, unknown>
) => {
  const decode = Schema.decodeUnknownEffect(Schema.Struct({ result }))
  return Effect.tryPromise((signal) =>
    fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
    }).then((response) => response.json() as Promise<unknown>)
  ).pipe(
    Effect.flatMap(decode),
    Effect.map((answer) => answer.result),
    Effect.mapError(() => new CannotPay({ what: "chain", reason: `the chain at ${rpcUrl} does not answer ${method}` }))
  )
}

export interface PayQuote {
  readonly requirements: PaymentRequirements
  readonly quote: PaymentRequired
  /** Millionths of a dollar: the token has six decimals. */
  readonly microUsd: bigint
}

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(PaymentRequired))

export type PayScheme = PaymentSchemeName | typeof channelScheme

interface Order {
  readonly chain: ChainKind
  /** The highest quote that is signed, in millionths of a dollar. */
  readonly microUsdMax: bigint
  /** Where that limit comes from, shown to a user whose quote exceeds it. */
  readonly limitName: string
  /** The scheme to pay by; by default the first that is offered. */
  readonly scheme?: PayScheme | undefined
}

/** `header`: the value of PAYMENT-REQUIRED. */
export const decodeQuote = (header: string | undefined): Result.Result<PaymentRequired, string> => {
  if (header === undefined) return Result.fail("the gateway asks for a payment and does not say which")
  const read = decode(Buffer.from(header, "base64").toString("utf8"))
  return Result.mapError(read, ({ message }) => `the quote cannot be read: ${message}`)
}

/** A token that merely claims to be worth a dollar is not signed for. */
export const isKnownDollar = ({ network, asset }: Pick<PaymentRequirements, "network" | "asset">): boolean => {
  const dollar = knownTokenOf(network)?.asset
  return dollar !== undefined && isSameAddress(network, asset, dollar)
}

/** The quote, or why it is not signed. `header`: the value of PAYMENT-REQUIRED. */
export const readQuote = (header: string | undefined, order: Order) => {
  const read = decodeQuote(header)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const { accepts } = read.success
  const { scheme } = order
  const requirements = scheme === undefined ? accepts[0] : accepts.find((one) => one.scheme === scheme)
  if (requirements === undefined)
    return Result.fail(`the quote offers no way to pay${scheme === undefined ? "" : ` by ${scheme}`}`)
  const { network, asset, amount } = requirements
  if (chainFamilyOf(network) !== order.chain)
    return Result.fail(`the quote is for ${network}, which is not ${order.chain}`)
  if (!isKnownDollar(requirements))
    return Result.fail(`the quote is for the token ${asset} on ${network}, which is no dollar that is known`)
  const microUsd = BigInt(amount)
  if (microUsd > order.microUsdMax) {
    const price = `the quote is ${usdText(microUsd)} USD`
    return Result.fail(`${price}, more than the ${usdText(order.microUsdMax)} of ${order.limitName}; nothing was paid`)
  }
  return Result.succeed({ requirements, quote: read.success, microUsd } satisfies PayQuote)
}

/** Millionths as dollars: `0.025685`. */
export const usdText = (micro: bigint): string => {
  const digits = (micro < 0n ? -micro : micro).toString().padStart(7, "0")
  return `${micro < 0n ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`
}

/**
 * Payers on a local chain with worthless money, for which the fleet itself pays trial calls. Only `up` provides them,
 * and no setting does: a fleet with real chains never has any.
 */
export const TrialPayers = Context.Reference<Readonly<Partial<Record<ChainKind, Payer>>>>(
  "starling/payments/TrialPayers",
  {
    defaultValue: () => ({})
  }
)
