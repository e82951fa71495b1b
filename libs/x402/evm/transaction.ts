/**
 * A settling transaction of the kind with a base fee and a tip (EIP-1559), signed here: its hash is known before
 * anything is sent. Pure.
 */
import { signDigest } from "./curve.ts"
import { bytesOf, type Hex, hexOf } from "./hex.ts"
import { keccak256 } from "./keccak.ts"
import { encodeRlp, type RlpItem, rlpNumber } from "./rlp.ts"

export interface TransactionFields {
  readonly chainId: bigint
  readonly nonce: bigint
  readonly tipWei: bigint
  readonly feeMaxWei: bigint
  readonly gas: bigint
  readonly to: string
  readonly data: Uint8Array
}

export interface SignedTransaction {
  readonly hash: Hex
  /** What eth_sendRawTransaction takes. */
  readonly raw: Hex
}

const kind = Buffer.from([0x02])

export const signTransaction = (fields: TransactionFields, key: Uint8Array): SignedTransaction => {
  const body: ReadonlyArray<RlpItem> = [
    rlpNumber(fields.chainId),
    rlpNumber(fields.nonce),
    rlpNumber(fields.tipWei),
    rlpNumber(fields.feeMaxWei),
    rlpNumber(fields.gas),
    bytesOf(fields.to),
    // No value is sent and no storage is announced.
    rlpNumber(0n),
    fields.data,
    []
  ]
  const { bytes, parity } = signDigest(keccak256(Buffer.concat([kind, encodeRlp(body)])), key)
  const r = rlpNumber(BigInt(hexOf(bytes.subarray(0, 32))))
  const s = rlpNumber(BigInt(hexOf(bytes.subarray(32))))
  const raw = Buffer.concat([kind, encodeRlp([...body, rlpNumber(BigInt(parity)), r, s])])
  return { hash: hexOf(keccak256(raw)), raw: hexOf(raw) }
}
