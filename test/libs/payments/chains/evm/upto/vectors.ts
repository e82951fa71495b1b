/** Payments of `upto`, good ones and attacks, with the verdict that each must get. */
import type { PrivateKeyAccount } from "viem/accounts"
import type { PaymentPayload, PaymentRequirements } from "#payments/contract"
import { newPayer } from "../../../../../../dev/fixtures/evm/payments.ts"
import {
  forgedPermit,
  permitOf,
  type PermitSigning,
  uptoPayment,
  uptoRequirementsOf,
  withApproval
} from "../../../../../../dev/fixtures/evm/upto-payments.ts"

export interface UptoFixtures {
  readonly nowSeconds: number
  /** The accounts that may settle; the first is the reference's own. */
  readonly facilitators: readonly [`0x${string}`, `0x${string}`]
  /** Has money, and has approved Permit2. */
  readonly payer: PrivateKeyAccount
  /** Has money, and has not. */
  readonly unapproved: PrivateKeyAccount
  /** Has approved, and has too little. */
  readonly poor: PrivateKeyAccount
  readonly usedNonce: string
  readonly cancelledNonce: string
  /** A contract wallet of the payer, with money, that has approved. */
  readonly wallet: `0x${string}`
}

export interface UptoVector {
  readonly name: string
  readonly verdict: string
  /** The verdict of the facilitator of @x402/evm, where it says it otherwise, or sees less. */
  readonly other?: string
  readonly make: (
    fixtures: UptoFixtures
  ) => Promise<{ readonly payload: PaymentPayload; readonly requirements: PaymentRequirements }>
}

const stranger = "0x1111111111111111111111111111111111111111"
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

interface Made {
  readonly name: string
  readonly verdict: string
  readonly other?: string
  readonly by?: (fixtures: UptoFixtures) => PrivateKeyAccount
  readonly signing?: (fixtures: UptoFixtures) => Omit<PermitSigning, "nowSeconds">
  readonly terms?: (fixtures: UptoFixtures) => Partial<PaymentRequirements>
  readonly change?: (payload: PaymentPayload, fixtures: UptoFixtures) => PaymentPayload | Promise<PaymentPayload>
}

const vector = ({ by, signing, terms, change, ...rest }: Made): UptoVector => ({
  ...rest,
  make: async (fixtures) => {
    const { facilitators, nowSeconds } = fixtures
    const requirements = uptoRequirementsOf(facilitators[0])
    const signed = await uptoPayment(by?.(fixtures) ?? fixtures.payer, requirements, {
      nowSeconds,
      ...signing?.(fixtures)
    })
    const payload = change === undefined ? signed : await change(signed, fixtures)
    return { payload, requirements: { ...requirements, ...terms?.(fixtures) } }
  }
})

const signing =
  (signed: (fixtures: UptoFixtures) => PermitSigning["signed"]) =>
  (fixtures: UptoFixtures): Omit<PermitSigning, "nowSeconds"> => {
    const fields = signed(fixtures)
    return fields === undefined ? {} : { signed: fields }
  }

const highS = (signature: string) => {
  const [r, s, v] = [signature.slice(2, 66), BigInt(`0x${signature.slice(66, 130)}`), signature.slice(130)]
  const flipped = (order - s).toString(16).padStart(64, "0")
  return `0x${r}${flipped}${v === "1b" ? "1c" : "1b"}`
}

const word = (value: bigint | string) => BigInt(value).toString(16).padStart(64, "0")

/** As a wallet signs that its first payment is to deploy (ERC-6492). */
const wrappedFor = (factory: string, inner: string) => {
  const bytes = inner.slice(2)
  const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, "0")
  const head = `${word(factory)}${word(96n)}${word(160n)}`
  return `0x${head}${word(4n)}${"deadbeef".padEnd(64, "0")}${word(BigInt(bytes.length / 2))}${padded}${"6492".repeat(16)}`
}

export const vectors: ReadonlyArray<UptoVector> = [
  vector({ name: "a good payment", verdict: "valid" }),
  vector({
    name: "a nonce that is written in hex",
    verdict: "valid",
    change: (payload) =>
      forgedPermit(payload, {
        permit: { nonce: `0x${BigInt(permitOf(payload).permit2Authorization.nonce).toString(16)}` }
      })
  }),
  vector({
    name: "another scheme in the accepted terms",
    verdict: "invalid_upto_evm_scheme",
    change: (payload) => ({ ...payload, accepted: { ...payload.accepted, scheme: "exact" } })
  }),
  vector({
    name: "another network in the accepted terms",
    verdict: "invalid_upto_evm_network_mismatch",
    change: (payload) => ({ ...payload, accepted: { ...payload.accepted, network: "eip155:8453" } })
  }),
  vector({
    name: "another spender than the proxy",
    verdict: "invalid_permit2_spender",
    signing: signing(() => ({ spender: stranger }))
  }),
  vector({
    name: "another recipient than payTo",
    verdict: "invalid_permit2_recipient_mismatch",
    signing: signing(() => ({ to: stranger }))
  }),
  vector({
    name: "a facilitator that is none of ours",
    verdict: "upto_facilitator_mismatch",
    signing: signing(() => ({ facilitator: stranger }))
  }),
  vector({
    name: "another of our settlers as facilitator",
    verdict: "valid",
    // It has one key.
    other: "upto_facilitator_mismatch",
    signing: signing(({ facilitators }) => ({ facilitator: facilitators[1] }))
  }),
  vector({
    name: "a deadline that is over",
    verdict: "permit2_deadline_expired",
    signing: signing(({ nowSeconds }) => ({ deadline: String(nowSeconds - 1) }))
  }),
  vector({
    name: "a deadline too soon for a block",
    verdict: "permit2_deadline_expired",
    signing: signing(({ nowSeconds }) => ({ deadline: String(nowSeconds + 4) }))
  }),
  vector({
    name: "a deadline later than the quote allows",
    verdict: "permit2_deadline_too_long",
    other: "valid",
    signing: signing(({ nowSeconds }) => ({ deadline: String(nowSeconds + 700) }))
  }),
  vector({
    name: "a window that begins later",
    verdict: "permit2_not_yet_valid",
    signing: signing(({ nowSeconds }) => ({ validAfter: String(nowSeconds + 60) }))
  }),
  vector({
    name: "a lower maximum than quoted",
    verdict: "permit2_amount_mismatch",
    signing: signing(() => ({ amount: "25684" }))
  }),
  vector({
    name: "a higher maximum than quoted",
    verdict: "permit2_amount_mismatch",
    signing: signing(() => ({ amount: "25686" }))
  }),
  vector({
    name: "another token",
    verdict: "permit2_token_mismatch",
    signing: signing(() => ({ token: stranger }))
  }),
  vector({
    name: "the domain of another contract",
    verdict: "invalid_permit2_signature",
    signing: () => ({ domain: { verifyingContract: stranger } })
  }),
  vector({
    name: "the domain of another chain",
    verdict: "invalid_permit2_signature",
    signing: () => ({ domain: { chainId: 8_453 } })
  }),
  vector({
    name: "another nonce than was signed",
    verdict: "invalid_permit2_signature",
    change: (payload) => forgedPermit(payload, { permit: { nonce: "7" } })
  }),
  vector({
    name: "a later deadline than was signed",
    verdict: "invalid_permit2_signature",
    change: (payload, { nowSeconds }) => forgedPermit(payload, { permit: { deadline: String(nowSeconds + 601) } })
  }),
  vector({
    name: "another owner than signed it",
    verdict: "invalid_permit2_signature",
    change: (payload, { unapproved }) => forgedPermit(payload, { permit: { from: unapproved.address } })
  }),
  vector({
    name: "a signature of somebody else's key",
    verdict: "invalid_permit2_signature",
    by: () => newPayer(),
    signing: signing(({ payer }) => ({ from: payer.address }))
  }),
  vector({
    name: "a signature written a second way",
    verdict: "invalid_permit2_signature",
    other: "valid",
    change: (payload) => forgedPermit(payload, { signature: highS(permitOf(payload).signature) })
  }),
  vector({
    name: "a signature of too few bytes",
    verdict: "invalid_permit2_signature",
    change: (payload) => forgedPermit(payload, { signature: permitOf(payload).signature.slice(0, 100) })
  }),
  vector({
    name: "a nonce that has been used",
    verdict: "permit2_invalid_nonce",
    other: "permit2_simulation_failed",
    signing: signing(({ usedNonce }) => ({ nonce: usedNonce }))
  }),
  vector({
    name: "a nonce that its owner has cancelled",
    verdict: "permit2_invalid_nonce",
    other: "permit2_simulation_failed",
    signing: signing(({ cancelledNonce }) => ({ nonce: cancelledNonce }))
  }),
  vector({
    name: "a payer with less than the maximum",
    verdict: "permit2_insufficient_balance",
    by: ({ poor }) => poor
  }),
  vector({
    name: "a payer that has not approved Permit2",
    verdict: "permit2_allowance_required",
    by: ({ unapproved }) => unapproved
  }),
  vector({
    name: "an approval that comes along",
    verdict: "valid",
    by: ({ unapproved }) => unapproved,
    change: (payload, { unapproved }) => withApproval(unapproved, payload)
  }),
  vector({
    name: "an approval that is not needed",
    verdict: "valid",
    change: (payload, { payer }) => withApproval(payer, payload)
  }),
  vector({
    name: "an approval that somebody else has signed",
    verdict: "permit2_simulation_failed",
    other: "permit2_allowance_required",
    by: ({ unapproved }) => unapproved,
    change: (payload, { payer }) => withApproval(payer, payload)
  }),
  vector({
    name: "an approval of another owner",
    verdict: "eip2612_from_mismatch",
    by: ({ unapproved }) => unapproved,
    change: (payload, { unapproved }) => withApproval(unapproved, payload, { from: stranger })
  }),
  vector({
    name: "an approval of another token",
    verdict: "eip2612_asset_mismatch",
    by: ({ unapproved }) => unapproved,
    change: (payload, { unapproved }) => withApproval(unapproved, payload, { asset: stranger })
  }),
  vector({
    name: "an approval for another spender",
    verdict: "eip2612_spender_not_permit2",
    by: ({ unapproved }) => unapproved,
    change: (payload, { unapproved }) => withApproval(unapproved, payload, { spender: stranger })
  }),
  vector({
    name: "an approval whose time is over",
    verdict: "eip2612_deadline_expired",
    by: ({ unapproved }) => unapproved,
    change: (payload, { unapproved, nowSeconds }) =>
      withApproval(unapproved, payload, { deadline: String(nowSeconds - 1) })
  }),
  vector({
    name: "an approval of another amount",
    verdict: "permit2_2612_amount_mismatch",
    other: "permit2_allowance_required",
    by: ({ unapproved }) => unapproved,
    change: (payload, { unapproved }) => withApproval(unapproved, payload, { amount: "25684" })
  }),
  vector({
    name: "an approval that cannot be read",
    verdict: "invalid_eip2612_extension_format",
    by: ({ unapproved }) => unapproved,
    change: (payload, { unapproved }) => withApproval(unapproved, payload, { nonce: "many" })
  }),
  vector({
    name: "a contract wallet's payment",
    verdict: "valid",
    signing: signing(({ wallet }) => ({ from: wallet }))
  }),
  vector({
    name: "a contract wallet's payment that its owner has not signed",
    verdict: "invalid_permit2_signature",
    by: () => newPayer(),
    signing: signing(({ wallet }) => ({ from: wallet }))
  }),
  vector({
    name: "a wallet that is not deployed, by a factory that is not allowed",
    verdict: "eip6492_factory_not_allowed",
    other: "invalid_permit2_signature",
    signing: signing(() => ({ from: stranger })),
    change: (payload) => forgedPermit(payload, { signature: wrappedFor(stranger, permitOf(payload).signature) })
  }),
  vector({
    name: "a deployed wallet's signature that is still wrapped for its deployment",
    verdict: "valid",
    other: "invalid_permit2_signature",
    signing: signing(({ wallet }) => ({ from: wallet })),
    change: (payload) => forgedPermit(payload, { signature: wrappedFor(stranger, permitOf(payload).signature) })
  }),
  vector({
    name: "no token where the token should be",
    verdict: "asset_not_deployed_contract",
    signing: signing(() => ({ token: stranger })),
    terms: () => ({ asset: stranger })
  })
]
