/**
 * Payments, good and bad in every known way, each with the expected verdict of our scheme and of the widely used
 * facilitator. Where the two differ on purpose, both verdicts stand here with the reason.
 */
import type { PaymentPayload, PaymentRequirements } from "#payments/contract"
import type { PrivateKeyAccount } from "viem/accounts"
import {
  asset,
  type Domain,
  forged,
  newPayer,
  payment,
  requirementsOf,
  type Signed,
  signedOf
} from "../../../../../dev/fixtures/evm/payments.ts"

export interface VectorFixtures {
  readonly nowSeconds: number
  /** Has tokens. */
  readonly payer: PrivateKeyAccount
  readonly otherPayer: PrivateKeyAccount
  /** Has one unit less than the price. */
  readonly shortPayer: PrivateKeyAccount
  readonly emptyPayer: PrivateKeyAccount
  /** A key whose account has code besides. */
  readonly delegatedPayer: PrivateKeyAccount
  readonly usedNonce: string
  readonly cancelledNonce: string
  readonly contract: string
}

export interface Case {
  readonly payload: PaymentPayload
  readonly requirements: PaymentRequirements
}

/** "valid", or the reason of the refusal; "throws" where the other one does not answer at all. */
export type Verdict = string

export interface Vector {
  readonly name: string
  readonly make: (fixtures: VectorFixtures) => Promise<Case>
  readonly verdict: Verdict
  /** The other facilitator's verdict instead, and why ours differs. */
  readonly other?: { readonly verdict: Verdict; readonly because: string }
}

const evm = (reason: string) => `invalid_exact_evm_${reason}`
const signature = evm("signature")
const value = evm("payload_authorization_value_mismatch")
const before = evm("payload_authorization_valid_before")
const tooLong = evm("payload_authorization_valid_too_long")
const after = evm("payload_authorization_valid_after")
const simulation = evm("transaction_simulation_failed")

interface Making {
  readonly requirements?: Partial<PaymentRequirements>
  readonly signed?: (fixtures: VectorFixtures) => Partial<Signed>
  readonly domain?: Partial<Domain>
  readonly payer?: (fixtures: VectorFixtures) => PrivateKeyAccount
  /** After signing. */
  readonly alter?: (payload: PaymentPayload, fixtures: VectorFixtures) => PaymentPayload
  /** The requirements of the verification, where they are not those of the signature. */
  readonly asked?: Partial<PaymentRequirements>
}

const making =
  ({ requirements, signed, domain, payer, alter, asked }: Making) =>
  async (fixtures: VectorFixtures): Promise<Case> => {
    const wanted = requirementsOf(requirements)
    const made = await payment(payer?.(fixtures) ?? fixtures.payer, wanted, {
      nowSeconds: fixtures.nowSeconds,
      ...(signed === undefined ? {} : { signed: signed(fixtures) }),
      ...(domain === undefined ? {} : { domain })
    })
    return { payload: alter?.(made, fixtures) ?? made, requirements: { ...wanted, ...asked } }
  }

const good = (name: string, how: Making): Vector => ({ name, make: making(how), verdict: "valid" })
const bad = (name: string, verdict: Verdict, how: Making): Vector => ({ name, make: making(how), verdict })
const differing = (name: string, verdict: Verdict, other: Verdict, because: string, how: Making): Vector => ({
  name,
  make: making(how),
  verdict,
  other: { verdict: other, because }
})

const withSignature = (change: (signature: string) => string) => (payload: PaymentPayload) =>
  forged(payload, { signature: change(signedOf(payload).signature) })
const withAuthorization = (change: (signed: Signed) => Partial<Signed>) => (payload: PaymentPayload) =>
  forged(payload, { authorization: change(signedOf(payload).authorization) })

const withV = (v: number) => withSignature((text) => `${text.slice(0, -2)}${v.toString(16).padStart(2, "0")}`)
const flip = (text: string, at: number) =>
  `${text.slice(0, at)}${(Number.parseInt(text[at] ?? "0", 16) ^ 1).toString(16)}${text.slice(at + 1)}`
const word = (text: string, index: number) => text.slice(2 + index * 64, 66 + index * 64)
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const hex = (number: bigint) => number.toString(16).padStart(64, "0")

/** The same signature written the second way. */
const mirrored = (text: string) => {
  const s = hex(order - BigInt(`0x${word(text, 1)}`))
  return `0x${word(text, 0)}${s}${text.endsWith("1b") ? "1c" : "1b"}`
}

const seconds = (offset: number) => (fixtures: VectorFixtures) => String(fixtures.nowSeconds + offset)

const goodOnes: ReadonlyArray<Vector> = [
  good("as a client signs it", {}),
  good("with addresses in lower case", {
    alter: withAuthorization(({ from, to }) => ({ from: from.toLowerCase(), to: to.toLowerCase() }))
  }),
  good("for an asset written in lower case", { requirements: { asset: asset.toLowerCase() } }),
  good("for an asset written in upper case", { requirements: { asset: `0x${asset.slice(2).toUpperCase()}` } }),
  good("for a receiver written in lower case", { asked: { payTo: requirementsOf().payTo.toLowerCase() } }),
  good("of the smallest unit", { requirements: { amount: "1" } }),
  good("of nothing", { requirements: { amount: "0" } }),
  good("of more than a double can count", { requirements: { amount: "9007199254" } }),
  good("valid since ever", { signed: () => ({ validAfter: "0" }) }),
  good("valid as long as may be", { signed: (fixtures) => ({ validBefore: seconds(600)(fixtures) }) }),
  good("that ends soon, but not too soon", { signed: (fixtures) => ({ validBefore: seconds(20)(fixtures) }) }),
  good("with a nonce of nothing but zeros", { signed: () => ({ nonce: `0x${"00".repeat(32)}` }) }),
  good("with a nonce of nothing but ones", { signed: () => ({ nonce: `0x${"ff".repeat(32)}` }) }),
  good("with a nonce in upper case", {
    alter: withAuthorization(({ nonce }) => ({ nonce: `0x${nonce.slice(2).toUpperCase()}` }))
  }),
  good("with a signature in upper case", { alter: withSignature((text) => `0x${text.slice(2).toUpperCase()}`) }),
  good("with a nonce that another payer has used", {
    payer: (fixtures) => fixtures.otherPayer,
    signed: (fixtures) => ({ nonce: fixtures.usedNonce })
  }),
  good("with more in extra than is known", { requirements: { extra: { name: "USDC", version: "2", more: [1] } } }),
  good("with extensions and a resource", {
    alter: (payload) => ({
      ...payload,
      resource: { url: "https://gateway.example/v1/chat/completions" },
      extensions: { "builder-code": { info: { s: ["somebody"] } } }
    })
  }),
  good("with keys beside those of the scheme", {
    alter: (payload) => ({ ...payload, payload: { ...payload.payload, memo: "hello" } })
  })
]

const otherTerms: ReadonlyArray<Vector> = [
  bad("of one unit less", value, { signed: () => ({ value: "25684" }) }),
  bad("of one unit more", value, { signed: () => ({ value: "25686" }) }),
  bad("of nothing instead of something", value, { signed: () => ({ value: "0" }) }),
  bad("of the most a word holds", value, { signed: () => ({ value: String(2n ** 256n - 1n) }) }),
  bad("of an older price", value, { asked: { amount: "30000" } }),
  bad("to somebody else", evm("recipient_mismatch"), { signed: (fixtures) => ({ to: fixtures.otherPayer.address }) }),
  bad("to nobody", evm("recipient_mismatch"), { signed: () => ({ to: `0x${"00".repeat(20)}` }) }),
  bad("that accepted another network", evm("network_mismatch"), {
    alter: (payload) => ({ ...payload, accepted: { ...payload.accepted, network: "eip155:8453" } })
  }),
  bad("over before it came", before, { signed: (fixtures) => ({ validBefore: seconds(-1)(fixtures) }) }),
  bad("about to be over", before, { signed: (fixtures) => ({ validBefore: seconds(3)(fixtures) }) }),
  bad("over since the beginning of time", before, { signed: () => ({ validBefore: "0" }) }),
  bad("not valid yet", after, { signed: (fixtures) => ({ validAfter: seconds(60)(fixtures) }) }),
  bad("not valid for a very long time", after, { signed: () => ({ validAfter: String(2n ** 255n) }) }),
  bad("valid from this very second on", simulation, {
    signed: (fixtures) => ({ validAfter: seconds(0)(fixtures) })
  }),
  bad("too late and for another amount", before, {
    signed: (fixtures) => ({ validBefore: seconds(-1)(fixtures), value: "1" })
  }),
  bad("to somebody else and too late", evm("recipient_mismatch"), {
    signed: (fixtures) => ({ validBefore: seconds(-1)(fixtures), to: fixtures.otherPayer.address })
  })
]

const otherDomains: ReadonlyArray<Vector> = [
  bad("signed for another token", signature, { domain: { verifyingContract: `0x${"11".repeat(20)}` } }),
  bad("signed for another chain", signature, { domain: { chainId: 8_453 } }),
  bad("signed under another name", signature, { domain: { name: "USD Coin" } }),
  bad("signed under another version", signature, { domain: { version: "1" } }),
  bad("for which another token is asked", signature, { asked: { asset: `0x${"22".repeat(20)}` } }),
  bad("for which another name is asked", signature, { asked: { extra: { name: "USD Coin", version: "2" } } }),
  bad("for which another version is asked", signature, { asked: { extra: { name: "USDC", version: "1" } } }),
  bad("without the token's domain", evm("missing_eip712_domain"), { requirements: { extra: {} } }),
  bad("without the token's name", evm("missing_eip712_domain"), { requirements: { extra: { version: "2" } } }),
  bad("without the token's version", evm("missing_eip712_domain"), { requirements: { extra: { name: "USDC" } } }),
  bad("with an empty name of the token", evm("missing_eip712_domain"), {
    requirements: { extra: { name: "", version: "2" } }
  }),
  bad("in a token that is no contract", "asset_not_deployed_contract", {
    requirements: { asset: `0x${"33".repeat(20)}` },
    domain: { verifyingContract: `0x${"33".repeat(20)}` }
  }),
  bad("in a contract that is no token", evm("eip3009_not_supported"), {
    requirements: { asset: "0xcA11bde05977b3631167028862bE2a173976CA11" },
    domain: { verifyingContract: "0xcA11bde05977b3631167028862bE2a173976CA11" }
  }),
  differing(
    "under a name that the token does not have, signed as asked",
    signature,
    evm("token_name_mismatch"),
    "the token itself says that the signature is not for it, and we do not ask it for its name",
    { requirements: { extra: { name: "USD Coin", version: "2" } }, domain: { name: "USD Coin" } }
  ),
  differing(
    "under a version that the token does not have, signed as asked",
    signature,
    evm("token_version_mismatch"),
    "the token itself says that the signature is not for it, and we do not ask it for its version",
    { requirements: { extra: { name: "USDC", version: "1" } }, domain: { version: "1" } }
  )
]

const otherSignatures: ReadonlyArray<Vector> = [
  bad("signed by somebody else", signature, {
    payer: () => newPayer(),
    signed: (fixtures) => ({ from: fixtures.payer.address })
  }),
  bad("in whose name somebody else signs", signature, {
    alter: (payload, fixtures) => forged(payload, { authorization: { from: fixtures.otherPayer.address } })
  }),
  bad("whose receiver was changed", signature, {
    alter: (payload, fixtures) => forged(payload, { authorization: { to: fixtures.otherPayer.address } })
  }),
  bad("whose amount was changed", signature, { alter: withAuthorization(() => ({ value: "1" })) }),
  bad("whose beginning was changed", signature, { alter: withAuthorization(() => ({ validAfter: "0" })) }),
  bad("whose end was changed", signature, {
    alter: withAuthorization(({ validBefore }) => ({ validBefore: String(Number(validBefore) + 1) }))
  }),
  bad("whose nonce was changed", signature, { alter: withAuthorization(({ nonce }) => ({ nonce: flip(nonce, 40) })) }),
  bad("whose r was changed", signature, { alter: withSignature((text) => flip(text, 30)) }),
  bad("whose s was changed", signature, { alter: withSignature((text) => flip(text, 100)) }),
  bad("whose v was turned", signature, {
    alter: withSignature((text) => (text.endsWith("1b") ? `${text.slice(0, -2)}1c` : `${text.slice(0, -2)}1b`))
  }),
  bad("with r of zero", signature, { alter: withSignature((text) => `0x${hex(0n)}${text.slice(66)}`) }),
  bad("with s of zero", signature, { alter: withSignature((text) => `${text.slice(0, 66)}${hex(0n)}1b`) }),
  bad("with r at the order of the curve", signature, {
    alter: withSignature((text) => `0x${hex(order)}${text.slice(66)}`)
  }),
  bad("with s at the order of the curve", signature, {
    alter: withSignature((text) => `${text.slice(0, 66)}${hex(order)}1b`)
  }),
  bad("with every byte at its most", signature, { alter: withSignature(() => `0x${"ff".repeat(65)}`) }),
  bad("with every byte at zero", signature, { alter: withSignature(() => `0x${"00".repeat(65)}`) }),
  bad("with v of 2", signature, { alter: withV(2) }),
  bad("with v of 26", signature, { alter: withV(26) }),
  bad("with v of 29", signature, { alter: withV(29) }),
  bad("with v of 255", signature, { alter: withV(255) }),
  bad("with a signature of 64 bytes", signature, { alter: withSignature((text) => text.slice(0, -2)) }),
  bad("with a signature of 66 bytes", signature, { alter: withSignature((text) => `${text}00`) }),
  bad("with a signature of one byte", signature, { alter: withSignature(() => "0x1b") }),
  bad("with a contract wallet's signature from a key that is none", signature, {
    alter: withSignature((text) => `${text}${"00".repeat(31)}`)
  }),
  differing(
    "with the signature written the second way",
    signature,
    simulation,
    "a second writing of a signature is no signature; the other one finds out from the token",
    { alter: withSignature(mirrored) }
  ),
  differing("with v of 0 or 1", "valid", simulation, "some wallets write it so; we send the token 27 or 28", {
    alter: withSignature((text) => `${text.slice(0, -2)}${text.endsWith("1b") ? "00" : "01"}`)
  })
]

const otherStates: ReadonlyArray<Vector> = [
  bad("with a nonce that is used", evm("nonce_already_used"), {
    signed: (fixtures) => ({ nonce: fixtures.usedNonce })
  }),
  bad("with a used nonce in upper case", evm("nonce_already_used"), {
    signed: (fixtures) => ({ nonce: fixtures.usedNonce }),
    alter: withAuthorization(({ nonce }) => ({ nonce: `0x${nonce.slice(2).toUpperCase()}` }))
  }),
  bad("with a used nonce and addresses in lower case", evm("nonce_already_used"), {
    signed: (fixtures) => ({ nonce: fixtures.usedNonce }),
    alter: withAuthorization(({ from, to }) => ({ from: from.toLowerCase(), to: to.toLowerCase() }))
  }),
  bad("that was cancelled", evm("nonce_already_used"), { signed: (fixtures) => ({ nonce: fixtures.cancelledNonce }) }),
  bad("from an empty wallet", evm("insufficient_balance"), { payer: (fixtures) => fixtures.emptyPayer }),
  bad("from a wallet that is one unit short", evm("insufficient_balance"), {
    payer: (fixtures) => fixtures.shortPayer
  }),
  bad("of more than there is", evm("insufficient_balance"), {
    requirements: { amount: String(2n ** 255n) }
  }),
  bad("from a key whose account has code", signature, { payer: (fixtures) => fixtures.delegatedPayer }),
  bad("in the name of a contract", signature, {
    alter: (payload, fixtures) => forged(payload, { authorization: { from: fixtures.contract } })
  })
]

const otherForms: ReadonlyArray<Vector> = [
  bad("from an address with wrong letters in capitals", signature, {
    alter: withAuthorization(({ from }) => ({ from: `0x${from.slice(2).toUpperCase()}` }))
  }),
  bad("to an address with wrong letters in capitals", signature, {
    alter: withAuthorization(({ to }) => ({ to: `0x${to.slice(2).toUpperCase()}` }))
  }),
  differing("with a nonce of 31 bytes", "invalid_payload", signature, "it is named for what it is", {
    alter: withAuthorization(({ nonce }) => ({ nonce: nonce.slice(0, -2) }))
  }),
  differing("with a nonce of 33 bytes", "invalid_payload", signature, "it is named for what it is", {
    alter: withAuthorization(({ nonce }) => ({ nonce: `${nonce}00` }))
  }),
  differing("from half an address", "invalid_payload", signature, "it is named for what it is", {
    alter: withAuthorization(({ from }) => ({ from: from.slice(0, 20) }))
  }),
  differing("of a negative amount", "invalid_payload", signature, "it is named for what it is", {
    alter: withAuthorization(() => ({ value: "-1" }))
  }),
  differing("of an amount beyond a word", "invalid_payload", signature, "it is named for what it is", {
    alter: withAuthorization(() => ({ value: String(2n ** 256n) }))
  }),
  differing("of an amount with a point", "invalid_payload", "throws", "the other one has no answer to it", {
    alter: withAuthorization(() => ({ value: "25685.0" }))
  }),
  differing("of an amount in hex", "invalid_payload", "valid", "amounts are decimal; one number has one writing", {
    alter: withAuthorization(() => ({ value: "0x6455" }))
  }),
  differing("of an amount with a zero in front", "invalid_payload", "valid", "one number has one writing", {
    alter: withAuthorization(() => ({ value: "025685" }))
  }),
  differing("of an amount with a blank", "invalid_payload", "valid", "one number has one writing", {
    alter: withAuthorization(() => ({ value: " 25685" }))
  }),
  differing("without anything in it", "invalid_payload", "throws", "the other one has no answer to it", {
    alter: (payload) => ({ ...payload, payload: {} })
  }),
  differing("without a signature", "invalid_exact_evm_signature", "throws", "the other one has no answer to it", {
    alter: (payload) => ({ ...payload, payload: { authorization: payload.payload["authorization"] } })
  }),
  bad("with an empty signature", signature, { alter: withSignature(() => "0x") }),
  bad("with words for a signature", signature, { alter: withSignature(() => "0xsigned") }),
  bad("wrapped for a wallet yet to be deployed", "eip6492_factory_not_allowed", {
    alter: withSignature(wrapped)
  }),
  differing(
    "that lasts longer than was asked for",
    tooLong,
    "valid",
    "what may be used for long must be remembered for long; a minute is granted for clocks that run ahead",
    { signed: (fixtures) => ({ validBefore: seconds(700)(fixtures) }) }
  ),
  differing("that lasts for ever", tooLong, "valid", "as above", {
    signed: () => ({ validBefore: String(2n ** 256n - 1n) })
  })
]

/** ERC-6492: a factory, its call data and the signature, and the mark at the end. */
function wrapped(text: string) {
  const bytes = (content: string) =>
    `${hex(BigInt(content.length / 2))}${content.padEnd(Math.ceil(content.length / 64) * 64, "0")}`
  const call = "deadbeef"
  const inner = text.slice(2)
  const head = `${hex(0x4242n)}${hex(96n)}${hex(96n + 64n)}`
  return `0x${head}${bytes(call)}${bytes(inner)}${"6492".repeat(16)}`
}

export const vectors: ReadonlyArray<Vector> = [
  ...goodOnes,
  ...otherTerms,
  ...otherDomains,
  ...otherSignatures,
  ...otherStates,
  ...otherForms
]
