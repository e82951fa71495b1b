/**
 * Payments, good and wrong in every known way, each with the scheme's verdict before any call to the chain. `reference` is
 * the reference facilitator's verdict where it differs, with the reason why ours does.
 */
import type { PaymentPayload, PaymentRequirements } from "#payments/contract"
import type { CheckOptions } from "../../../../../libs/payments/chains/solana/payment.ts"
import {
  assertion,
  base64Of,
  bytesOf,
  computeLimit,
  computePrice,
  type Draft,
  memo,
  mint,
  network,
  payloadOf,
  programs,
  quote,
  type Signer,
  signerOf,
  solTransfer,
  type TestInstruction,
  tokenAccountOf,
  transfer,
  type TransferDraft,
  wireOf
} from "./transactions.ts"

export interface Vector {
  readonly name: string
  readonly payload: PaymentPayload
  readonly requirements: PaymentRequirements
  /** Null: it passes the local checks. */
  readonly reason: string | null
  /** Of the reference facilitator, where it differs; the simulation on the chain is part of its verdict. */
  readonly reference?: { readonly reason: string | null; readonly why: string }
}

export interface Scene {
  readonly blockhash: string
  readonly payTo: string
  readonly feePayer: Signer
  readonly otherFeePayer: Signer
  readonly payer: Signer
}

export const amount = 2_500n
export const limits = { priorityFeeMax: 100_000, computeUnitsMax: 200_000, requiredSignaturesMax: 4 }

/** Parties of payments that no chain sees. */
export const offlineScene: Scene = {
  blockhash: "9sHcv6xwn9YkB8nxTUGKDwPwNnmqVp5oAXxU8Fdkm4J6",
  payTo: signerOf("the gateway").address,
  feePayer: signerOf("fee payer"),
  otherFeePayer: signerOf("other fee payer"),
  payer: signerOf("payer")
}

export const offlineOptions: CheckOptions = {
  network,
  feePayers: [offlineScene.feePayer.address, offlineScene.otherFeePayer.address],
  limits
}

export const stranger = signerOf("a stranger")
export const witnesses = ["one", "two", "three", "four"].map(signerOf)

/** Omitted parts are correct. */
export interface PaymentDraft extends Partial<Omit<Draft, "instructions">> {
  readonly transfer?: Partial<TransferDraft>
  readonly third?: TestInstruction
  readonly head?: ReadonlyArray<TestInstruction>
  readonly tail?: ReadonlyArray<TestInstruction>
  readonly alterWire?: (wire: Uint8Array) => Uint8Array
}

const prefix = "invalid_exact_svm_payload_"

export const paymentMaker = async (scene: Scene) => {
  const source = await tokenAccountOf(scene.payer.address)
  const destination = await tokenAccountOf(scene.payTo)
  const wire = (draft: PaymentDraft = {}): Uint8Array => {
    const third =
      draft.third ?? transfer({ source, destination, authority: scene.payer.address, amount, ...draft.transfer })
    const head = draft.head ?? [computeLimit(20_000), computePrice(1n)]
    const made = wireOf({
      feePayer: scene.feePayer.address,
      signers: [scene.payer],
      blockhash: scene.blockhash,
      ...draft,
      instructions: [...head, third, ...(draft.tail ?? [])]
    })
    return draft.alterWire?.(made) ?? made
  }
  const requirements = (extra: Readonly<Record<string, unknown>> = {}) =>
    quote({ payTo: scene.payTo, amount, extra: { feePayer: scene.feePayer.address, ...extra } })
  return { source, destination, wire, requirements }
}

export const vectorsOf = async (scene: Scene): Promise<ReadonlyArray<Vector>> => {
  const { source, destination, wire, requirements } = await paymentMaker(scene)
  const foreign = await tokenAccountOf(stranger.address)
  const of2022 = await tokenAccountOf(scene.payTo, undefined, programs.token2022)
  const feePayersOwn = await tokenAccountOf(scene.feePayer.address)
  const limit = computeLimit(20_000)
  const price = computePrice(1n)
  const [witness, ...others] = witnesses as [Signer, ...Array<Signer>]

  const vector = (
    name: string,
    reason: string | null,
    draft: PaymentDraft = {},
    extra: Readonly<Record<string, unknown>> = {}
  ): Vector => {
    const wanted = requirements(extra)
    return { name, reason, requirements: wanted, payload: payloadOf(base64Of(wire(draft)), wanted) }
  }
  const differs = (one: Vector, reason: string | null, why: string): Vector => ({ ...one, reference: { reason, why } })
  const written = (name: string, transaction: unknown): Vector => ({
    name,
    reason: `${prefix}transaction_could_not_be_decoded`,
    requirements: requirements(),
    payload: { ...payloadOf("", requirements()), payload: { transaction } }
  })
  const quoted = (name: string, reason: string, wanted: PaymentRequirements, accepted = wanted): Vector => ({
    name,
    reason,
    requirements: wanted,
    payload: payloadOf(base64Of(wire()), accepted)
  })
  const good = base64Of(wire())
  const simulation = "invalid_exact_svm_transaction_simulation_failed"
  const undecodable = `${prefix}transaction_could_not_be_decoded`

  return [
    vector("a transfer and nothing else", null),
    vector("a memo that makes it unique", null, { tail: [memo("0f1e2d3c")] }),
    vector("a legacy message", null, { version: "legacy", tail: [memo("legacy")] }),
    vector("two memos when none was asked for", null, { tail: [memo("one"), memo("two")] }),
    vector("four memos, the most that fit", null, { tail: ["1", "2", "3", "4"].map((text) => memo(text)) }),
    vector("the assertion of one wallet", null, { tail: [assertion()] }),
    vector("two assertions and a memo", null, { tail: [assertion("a"), assertion("b"), memo("c")] }),
    vector("three assertions and a memo", null, { tail: [assertion("a"), assertion("b"), assertion("c"), memo("d")] }),
    vector("the memo that was asked for", null, { tail: [memo("order 7")] }, { memo: "order 7" }),
    vector(
      "the memo that was asked for, beside an assertion",
      null,
      { tail: [assertion(), memo("né 7")] },
      { memo: "né 7" }
    ),
    vector("a second signer who signed", null, {
      signers: [scene.payer, witness],
      tail: [memo("seen", [witness.address])]
    }),
    vector("the highest fee that is paid", null, { head: [computeLimit(200_000), computePrice(100_000n)] }),
    vector("anything at all in the fee payer's slot", null, {
      alterSignatures: ([, ...rest]) => [new Uint8Array(64).fill(7), ...rest]
    }),

    quoted("another scheme", "invalid_exact_svm_unsupported_scheme", requirements(), {
      ...requirements(),
      scheme: "upto"
    }),
    quoted("another network accepted", "invalid_exact_svm_network_mismatch", requirements(), {
      ...requirements(),
      network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"
    }),
    quoted("no fee payer in the quote", `${prefix}missing_fee_payer`, quote({ payTo: scene.payTo, amount, extra: {} })),
    quoted("a number as the fee payer", `${prefix}missing_fee_payer`, requirements({ feePayer: 5 })),
    quoted(
      "a fee payer that is not ours",
      "invalid_exact_svm_fee_payer_not_managed_by_facilitator",
      requirements({ feePayer: stranger.address })
    ),

    written("no transaction", undefined),
    written("an empty transaction", ""),
    written("what is not base64", "!!!"),
    written("bytes that are no transaction", "AAAA"),
    written("half of a transaction", good.slice(0, 200)),
    written("base64 for URLs", good.replaceAll("/", "_").replaceAll("+", "-").replaceAll("A", "_")),
    differs(
      written("one byte behind the end", base64Of(wire({ alterWire: (made) => Uint8Array.from([...made, 0]) }))),
      "invalid_exact_svm_payload_signature_invalid",
      "it counts the byte to the message, which was not signed"
    ),
    differs(
      vector("one signed byte behind the end", undecodable, { alterMessage: (one) => Uint8Array.from([...one, 0]) }),
      null,
      "it verifies the signature with the byte, a validator without: it could be simulated and never settled"
    ),
    written("a signature too few", base64Of(wire({ alterSignatures: (all) => all.slice(0, 1) }))),
    written("a signature too many", base64Of(wire({ alterSignatures: (all) => [...all, new Uint8Array(64)] }))),
    written(
      "a length in more bytes than it needs",
      base64Of(wire({ alterWire: (made) => Uint8Array.from([0x82, 0, ...made.slice(1)]) }))
    ),
    written("a message of a version to come", base64Of(wire({ version: 1 }))),
    differs(
      written("more than a packet holds", base64Of(wire({ tail: [memo("x".repeat(1_000))] }))),
      simulation,
      "it leaves the length to the node"
    ),
    differs(
      written(
        "an account twice",
        base64Of(
          wire({
            tail: [assertion("twice", [{ at: stranger.address }])],
            alterMessage: (one) => replaced(one, bytesOf(stranger.address), bytesOf(mint))
          })
        )
      ),
      simulation,
      "it leaves that to the chain (AccountLoadedTwice)"
    ),
    differs(
      vector("an account that is not there", undecodable, { alterMessage: (one) => farIndex(one) }),
      simulation,
      "it leaves that to the chain (SanitizeFailure)"
    ),

    vector("more signers than we pay for", `${prefix}excessive_signers`, {
      signers: [scene.payer, witness, ...others],
      tail: [
        memo(
          "seen",
          [witness, ...others].map((one) => one.address)
        )
      ]
    }),
    vector("another fee payer than quoted, also ours", "invalid_exact_svm_fee_payer_mismatch", {
      feePayer: scene.otherFeePayer.address
    }),
    vector("the payer as fee payer", "invalid_exact_svm_fee_payer_mismatch", { feePayer: scene.payer.address }),
    vector("no signature of the payer", `${prefix}signature_invalid`, { signers: [] }),
    vector("a signature with one bit changed", `${prefix}signature_invalid`, {
      alterSignatures: ([first, second]) => [first, second].map((one) => flipped(one ?? new Uint8Array(64)))
    }),
    vector("the signature of another message", `${prefix}signature_invalid`, {
      signers: [{ ...scene.payer, sign: () => scene.payer.sign(new TextEncoder().encode("something else")) }]
    }),
    vector("somebody else's signature", `${prefix}signature_invalid`, {
      signers: [{ ...stranger, address: scene.payer.address }]
    }),
    vector("a second signer who did not sign", `${prefix}signature_invalid`, {
      tail: [memo("seen", [witness.address])]
    }),
    differs(
      vector("a lookup table", "invalid_exact_svm_smart_wallet_alt_resolution_not_available", {
        lookups: Uint8Array.from([1, ...new Uint8Array(32).fill(9), 1, 0, 0])
      }),
      "invalid_exact_svm_smart_wallet_alt_resolution_failed",
      "it asks the chain for the table, which is not there"
    ),

    vector("no transfer behind the budget", `${prefix}transaction_instructions_length`, {
      head: [limit],
      third: price
    }),
    vector("eight instructions", `${prefix}transaction_instructions_length`, {
      tail: ["1", "2", "3", "4", "5"].map((text) => memo(text))
    }),
    vector("no compute limit", `${prefix}transaction_instructions_compute_limit_instruction`, {
      head: [memo("limit"), price]
    }),
    vector("limit and price changed about", `${prefix}transaction_instructions_compute_limit_instruction`, {
      head: [price, limit]
    }),
    vector("a short compute limit", `${prefix}transaction_instructions_compute_limit_instruction`, {
      head: [{ ...limit, data: limit.data.slice(0, 3) }, price]
    }),
    vector("too many compute units", `${prefix}transaction_instructions_compute_limit_instruction_too_high`, {
      head: [computeLimit(200_001), price]
    }),
    vector("no compute price", `${prefix}transaction_instructions_compute_price_instruction`, { head: [limit, limit] }),
    vector("a short compute price", `${prefix}transaction_instructions_compute_price_instruction`, {
      head: [limit, { ...price, data: price.data.slice(0, 8) }]
    }),
    vector("too high a price", `${prefix}transaction_instructions_compute_price_instruction_too_high`, {
      head: [limit, computePrice(100_001n)]
    }),

    vector("SOL instead of tokens", `${prefix}no_transfer_instruction`, {
      third: solTransfer(scene.payer.address, scene.payTo)
    }),
    vector("a transfer that does not check the mint", `${prefix}no_transfer_instruction`, {
      third: {
        ...transfer({ source, destination, authority: scene.payer.address, amount }),
        data: Uint8Array.from([3, 196, 9, 0, 0, 0, 0, 0, 0, 6])
      }
    }),
    vector("a transfer cut short", `${prefix}no_transfer_instruction`, {
      third: {
        ...transfer({ source, destination, authority: scene.payer.address, amount }),
        data: Uint8Array.from([12, 196, 9, 0])
      }
    }),
    vector("a transfer without its authority", `${prefix}no_transfer_instruction`, {
      third: {
        ...transfer({ source, destination, authority: scene.payer.address, amount }),
        accounts: [{ at: source, isWritable: true }, { at: destination, isWritable: true }, { at: scene.payTo }]
      }
    }),
    vector("the transfer behind a memo", `${prefix}no_transfer_instruction`, {
      third: memo("first"),
      tail: [transfer({ source, destination, authority: scene.payer.address, amount })]
    }),

    vector("the fee payer's own tokens", `${prefix}transaction_fee_payer_transferring_funds`, {
      transfer: { source: feePayersOwn, authority: scene.feePayer.address }
    }),
    vector("another mint", `${prefix}mint_mismatch`, { transfer: { mint: stranger.address } }),
    vector("to somebody else", `${prefix}recipient_mismatch`, { transfer: { destination: foreign } }),
    vector("to the wallet instead of its token account", `${prefix}recipient_mismatch`, {
      transfer: { destination: scene.payTo }
    }),
    vector("back to the payer", `${prefix}recipient_mismatch`, { transfer: { destination: source } }),
    vector("to the account of the other token program", `${prefix}recipient_mismatch`, {
      transfer: { destination: of2022 }
    }),
    vector("one unit less", `${prefix}amount_mismatch`, { transfer: { amount: amount - 1n } }),
    vector("one unit more", `${prefix}amount_mismatch`, { transfer: { amount: amount + 1n } }),
    vector("nothing at all", `${prefix}amount_mismatch`, { transfer: { amount: 0n } }),

    vector("SOL behind the transfer", `${prefix}unknown_fourth_instruction`, {
      tail: [solTransfer(scene.payer.address, scene.payTo)]
    }),
    vector("a second transfer", `${prefix}unknown_fourth_instruction`, {
      tail: [transfer({ source, destination: foreign, authority: scene.payer.address, amount })]
    }),
    vector("an account to be made at our cost", `${prefix}unknown_fourth_instruction`, {
      tail: [
        {
          program: programs.associated,
          accounts: [{ at: scene.feePayer.address, isSigner: true, isWritable: true }],
          data: Uint8Array.of(1)
        }
      ]
    }),
    vector("a foreign fifth instruction", `${prefix}unknown_fifth_instruction`, {
      tail: [memo("m"), solTransfer(scene.payer.address, scene.payTo)]
    }),
    vector("a foreign sixth instruction", `${prefix}unknown_sixth_instruction`, {
      tail: [memo("m"), assertion(), computeLimit(1)]
    }),
    vector("a foreign seventh instruction", `${prefix}unknown_seventh_instruction`, {
      tail: [memo("m"), assertion(), assertion("b"), computePrice(9n)]
    }),

    vector("no memo where one was asked for", `${prefix}memo_count`, {}, { memo: "order 7" }),
    vector(
      "two memos where one was asked for",
      `${prefix}memo_count`,
      { tail: [memo("order 7"), memo("x")] },
      { memo: "order 7" }
    ),
    vector("another memo", `${prefix}memo_mismatch`, { tail: [memo("order 8")] }, { memo: "order 7" }),

    differs(
      vector("the fee payer as a memo's signer", `${prefix}transaction_fee_payer_transferring_funds`, {
        tail: [memo("seen", [scene.feePayer.address])]
      }),
      null,
      "ours keeps the fee payer out of every instruction"
    ),
    differs(
      vector("the fee payer as one who pays for an assertion", `${prefix}transaction_fee_payer_transferring_funds`, {
        tail: [assertion("write", [{ at: scene.feePayer.address, isSigner: true, isWritable: true }])]
      }),
      null,
      "ours keeps the fee payer out of every instruction: a memory write takes its rent from it"
    ),
    differs(
      vector("an authority that does not sign", `${prefix}signature_invalid`, { transfer: { authoritySigns: false } }),
      simulation,
      "it leaves that to the chain (MissingRequiredSignature)"
    )
  ]
}

const flipped = (signature: Uint8Array) => {
  const copy = Uint8Array.from(signature)
  copy[5] = (copy[5] ?? 0) ^ 1
  return copy
}

// Of a message of version 0: version, header, count of accounts, then 32 bytes for each.
const keysAt = 5

const replaced = (message: Uint8Array, from: Uint8Array, to: Uint8Array) => {
  const copy = Buffer.from(message)
  copy.set(to, copy.indexOf(from))
  return new Uint8Array(copy)
}

/** The first account of the transfer, behind two instructions without accounts, is one past the end. */
const farIndex = (message: Uint8Array) => {
  const copy = Uint8Array.from(message)
  const instructionsAt = keysAt + 32 * (copy[keysAt - 1] ?? 0) + 32 + 1
  const firstAccount = instructionsAt + (3 + 5) + (3 + 9) + 2
  copy[firstAccount] = 200
  return copy
}
