/**
 * Makes Solana transactions for tests byte by byte, with nothing of the code under test, so that each may be wrong
 * in any way. Base58 and addresses come from @solana/kit.
 */
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto"
import { address, getAddressEncoder, getBase58Decoder, getProgramDerivedAddress } from "@solana/kit"
import type { PaymentPayload, PaymentRequirements } from "#payments/contract"

export const programs = {
  token: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  token2022: "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
  associated: "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
  budget: "ComputeBudget111111111111111111111111111111",
  memo: "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
  lighthouse: "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95",
  system: "11111111111111111111111111111111"
}
export const network = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
export const mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"

export interface Signer {
  readonly address: string
  readonly sign: (message: Uint8Array) => Uint8Array
}

export interface Meta {
  readonly at: string
  readonly isSigner?: boolean
  readonly isWritable?: boolean
}

export interface TestInstruction {
  readonly program: string
  readonly accounts: ReadonlyArray<Meta>
  readonly data: Uint8Array
}

export interface Draft {
  readonly feePayer: string
  readonly signers: ReadonlyArray<Signer>
  readonly instructions: ReadonlyArray<TestInstruction>
  readonly blockhash: string
  readonly version?: "legacy" | 0 | 1
  /** Put behind the instructions of a message of version 0: address lookup tables. */
  readonly lookups?: Uint8Array
  /** Changes the message before it is signed. */
  readonly alterMessage?: (message: Uint8Array) => Uint8Array
  /** Changes the signatures, fee payer's first. */
  readonly alterSignatures?: (signatures: ReadonlyArray<Uint8Array>) => ReadonlyArray<Uint8Array>
}

const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex")

export const signerOf = (name: string): Signer => signerOfSeed(createHash("sha256").update(name).digest())

export const signerOfSeed = (seed: Uint8Array): Signer => {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: "der", type: "pkcs8" })
  const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(12)
  return { address: getBase58Decoder().decode(publicKey), sign: (message) => sign(null, message, key) }
}

export const bytesOf = (at: string) => Uint8Array.from(getAddressEncoder().encode(address(at)))

export const tokenAccountOf = async (owner: string, of = mint, program = programs.token): Promise<string> => {
  const seeds = [owner, program, of].map(bytesOf)
  const [found] = await getProgramDerivedAddress({ programAddress: address(programs.associated), seeds })
  return found
}

const concat = (...parts: ReadonlyArray<Uint8Array | ReadonlyArray<number>>) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Uint8Array.from(part))))

export const compact = (value: number): ReadonlyArray<number> =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...compact(value >> 7)]

export const little = (value: bigint, bytes: number): Uint8Array =>
  Uint8Array.from({ length: bytes }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn))

export const computeLimit = (units: number): TestInstruction => ({
  program: programs.budget,
  accounts: [],
  data: concat([2], little(BigInt(units), 4))
})

export const computePrice = (microLamports: bigint): TestInstruction => ({
  program: programs.budget,
  accounts: [],
  data: concat([3], little(microLamports, 8))
})

export const memo = (text: string | Uint8Array, signers: ReadonlyArray<string> = []): TestInstruction => ({
  program: programs.memo,
  accounts: signers.map((at) => ({ at, isSigner: true })),
  data: typeof text === "string" ? new TextEncoder().encode(text) : text
})

export const assertion = (text = "assert", accounts: ReadonlyArray<Meta> = []): TestInstruction => ({
  program: programs.lighthouse,
  accounts,
  data: new TextEncoder().encode(text)
})

export const solTransfer = (from: string, to: string, lamports = 1n): TestInstruction => ({
  program: programs.system,
  accounts: [
    { at: from, isSigner: true, isWritable: true },
    { at: to, isWritable: true }
  ],
  data: concat([2, 0, 0, 0], little(lamports, 8))
})

export interface TransferDraft {
  readonly program?: string
  readonly source: string
  readonly mint?: string
  readonly destination: string
  readonly authority: string
  readonly authoritySigns?: boolean
  readonly amount: bigint
  readonly decimals?: number
}

export const transfer = (draft: TransferDraft): TestInstruction => ({
  program: draft.program ?? programs.token,
  accounts: [
    { at: draft.source, isWritable: true },
    { at: draft.mint ?? mint },
    { at: draft.destination, isWritable: true },
    { at: draft.authority, isSigner: draft.authoritySigns ?? true }
  ],
  data: concat([12], little(draft.amount, 8), [draft.decimals ?? 6])
})

/** Accounts in the order of the wire: writable signers, signers, writable, the rest; the fee payer first of all. */
const keysOf = (draft: Draft) => {
  const flags = new Map<string, { isSigner: boolean; isWritable: boolean }>()
  const add = ({ at, isSigner = false, isWritable = false }: Meta) => {
    const known = flags.get(at) ?? { isSigner: false, isWritable: false }
    flags.set(at, { isSigner: known.isSigner || isSigner, isWritable: known.isWritable || isWritable })
  }
  add({ at: draft.feePayer, isSigner: true, isWritable: true })
  for (const { accounts } of draft.instructions) accounts.forEach(add)
  for (const { program } of draft.instructions) add({ at: program })
  const rank = ({ isSigner, isWritable }: { isSigner: boolean; isWritable: boolean }) =>
    (isSigner ? 0 : 2) + (isWritable ? 0 : 1)
  const all = [...flags].toSorted(([, one], [, other]) => rank(one) - rank(other))
  const count = (wanted: number) => all.filter(([, one]) => rank(one) === wanted).length
  return { keys: all.map(([at]) => at), header: [count(0) + count(1), count(1), count(3)] }
}

export const messageOf = (draft: Draft): Uint8Array => {
  const { keys, header } = keysOf(draft)
  const version = draft.version ?? 0
  const instructions = draft.instructions.map(({ program, accounts, data }) =>
    concat(
      [keys.indexOf(program)],
      compact(accounts.length),
      accounts.map(({ at }) => keys.indexOf(at)),
      compact(data.length),
      data
    )
  )
  const message = concat(
    version === "legacy" ? [] : [0x80 | version],
    header,
    compact(keys.length),
    ...keys.map(bytesOf),
    bytesOf(draft.blockhash),
    compact(instructions.length),
    ...instructions,
    version === "legacy" ? [] : (draft.lookups ?? [0])
  )
  return draft.alterMessage?.(message) ?? message
}

export const wireOf = (draft: Draft): Uint8Array => {
  const message = messageOf(draft)
  const { keys, header } = keysOf(draft)
  const signatures = keys.slice(0, header[0]).map((key) => {
    const signer = draft.signers.find(({ address: at }) => at === key)
    return signer?.sign(message) ?? new Uint8Array(64)
  })
  const altered = draft.alterSignatures?.(signatures) ?? signatures
  return concat(compact(altered.length), ...altered, message)
}

export const base64Of = (wire: Uint8Array) => Buffer.from(wire).toString("base64")

export interface QuoteDraft {
  readonly payTo: string
  readonly amount?: bigint
  readonly asset?: string
  readonly extra: Readonly<Record<string, unknown>>
}

export const quote = ({ payTo, amount = 2_500n, asset = mint, extra }: QuoteDraft): PaymentRequirements => ({
  scheme: "exact",
  network,
  amount: String(amount),
  asset,
  payTo,
  maxTimeoutSeconds: 300,
  extra
})

export const payloadOf = (transaction: string, accepted: PaymentRequirements): PaymentPayload => ({
  x402Version: 2,
  accepted,
  payload: { transaction }
})
