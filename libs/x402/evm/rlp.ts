/** Recursive length prefix, the form in which transactions are hashed and sent. Encoding only. Pure. */
export type RlpItem = Uint8Array | ReadonlyArray<RlpItem>

export const encodeRlp = (item: RlpItem): Buffer => {
  if (!(item instanceof Uint8Array)) {
    const inner = Buffer.concat(item.map(encodeRlp))
    return Buffer.concat([lengthPrefix(inner.length, 0xc0), inner])
  }
  // A byte below 0x80 stands for itself.
  if (item.length === 1 && (item[0] ?? 0xff) < 0x80) return Buffer.from(item)
  return Buffer.concat([lengthPrefix(item.length, 0x80), item])
}

/** A number as RLP wants it: no leading zeros, and zero as no bytes at all. */
export const rlpNumber = (value: bigint): Buffer => {
  if (value === 0n) return Buffer.alloc(0)
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex")
}

// The longest length that goes into the prefix byte itself.
const shortMax = 55

const lengthPrefix = (length: number, offset: number): Buffer => {
  if (length <= shortMax) return Buffer.from([offset + length])
  const bytes = rlpNumber(BigInt(length))
  return Buffer.concat([Buffer.from([offset + shortMax + bytes.length]), bytes])
}
