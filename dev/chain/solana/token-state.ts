/** Mints and token accounts as the bytes that the token programs keep, and as nodes' JSON. */
import { address, type EncodedAccount, getAddressEncoder, getBase58Decoder, lamports } from "@solana/kit"

export const tokenProgram = address("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
export const token2022Program = address("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")

interface TokenAccount {
  readonly mint: string
  readonly owner: string
  readonly amount: bigint
  readonly isFrozen: boolean
}

const mintBytes = 82
const accountBytes = 165
const rentLamports = 10_000_000n
const key = (bytes: Uint8Array, offset: number) => getBase58Decoder().decode(bytes.subarray(offset, offset + 32))
const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export const mintAccount = (mint: string, program: string, decimals: number): EncodedAccount => {
  const data = new Uint8Array(mintBytes)
  // Supply, decimals, initialised; no authority may mint or freeze.
  view(data).setBigUint64(36, 10n ** 18n, true)
  data[44] = decimals
  data[45] = 1
  return account(mint, program, data)
}

export const tokenAccount = (at: string, program: string, state: TokenAccount): EncodedAccount => {
  const data = new Uint8Array(accountBytes)
  data.set(getAddressEncoder().encode(address(state.mint)), 0)
  data.set(getAddressEncoder().encode(address(state.owner)), 32)
  view(data).setBigUint64(64, state.amount, true)
  data[108] = state.isFrozen ? 2 : 1
  return account(at, program, data)
}

const account = (at: string, program: string, data: Uint8Array): EncodedAccount => ({
  address: address(at),
  data,
  executable: false,
  lamports: lamports(rentLamports),
  programAddress: address(program),
  space: BigInt(data.length)
})

const isOfTokenProgram = ({ programAddress }: EncodedAccount) =>
  programAddress === tokenProgram || programAddress === token2022Program

export const readTokenAccount = (one: EncodedAccount): TokenAccount | undefined => {
  const data = Uint8Array.from(one.data)
  if (!isOfTokenProgram(one) || data.length < accountBytes || data[108] === 0) return undefined
  const amount = view(data).getBigUint64(64, true)
  return { mint: key(data, 0), owner: key(data, 32), amount, isFrozen: data[108] === 2 }
}

export const readDecimals = (one: EncodedAccount): number | undefined =>
  isOfTokenProgram(one) && one.data.length === mintBytes ? one.data[44] : undefined

export const tokenAmountJson = (amount: bigint, decimals: number) => {
  const digits = String(amount).padStart(decimals + 1, "0")
  const fraction = digits.slice(digits.length - decimals).replace(/(?<!0)0+$/u, "")
  const whole = digits.slice(0, digits.length - decimals)
  const uiAmountString = decimals === 0 || fraction === "" ? whole : `${whole}.${fraction}`
  return { amount: String(amount), decimals, uiAmount: Number(uiAmountString), uiAmountString }
}

/** `decimalsOf`: the decimals of the mint, which is another account. */
export const parsedJson = (one: EncodedAccount, decimalsOf: (mint: string) => number): unknown => {
  const program = one.programAddress === tokenProgram ? "spl-token" : "spl-token-2022"
  const decimals = readDecimals(one)
  if (decimals !== undefined) {
    const supply = String(view(Uint8Array.from(one.data)).getBigUint64(36, true))
    const info = { decimals, freezeAuthority: null, isInitialized: true, mintAuthority: null, supply }
    return { program, parsed: { type: "mint", info }, space: one.data.length }
  }
  const state = readTokenAccount(one)
  if (state === undefined) return undefined
  const { mint, owner, amount, isFrozen } = state
  const tokenAmount = tokenAmountJson(amount, decimalsOf(mint))
  const info = { isNative: false, mint, owner, state: isFrozen ? "frozen" : "initialized", tokenAmount }
  return { program, parsed: { type: "account", info }, space: one.data.length }
}
