/**
 * Base58 with Bitcoin's alphabet, as Solana writes addresses, hashes and signatures. The cost grows with the
 * square of the length, so both ways are bounded: nothing here is longer than a signature of 64 bytes.
 */
const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const values = new Int8Array(128).fill(-1)
for (let index = 0; index < alphabet.length; index += 1) values[alphabet.charCodeAt(index)] = index

// 64 bytes are at most 88 characters.
const bytesMax = 64
const charactersMax = 88

/** At most 64 bytes; more is a programming error. */
export const encodeBase58 = (bytes: Uint8Array): string => {
  if (bytes.length > bytesMax) throw new RangeError(`base58 of ${bytes.length} bytes`)
  let zeros = 0
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1
  const digits: Array<number> = []
  for (let at = zeros; at < bytes.length; at += 1) {
    let carry = bytes[at] ?? 0
    for (let place = 0; place < digits.length; place += 1) {
      carry += (digits[place] ?? 0) * 256
      digits[place] = carry % 58
      carry = Math.floor(carry / 58)
    }
    for (; carry > 0; carry = Math.floor(carry / 58)) digits.push(carry % 58)
  }
  let text = "1".repeat(zeros)
  for (let place = digits.length - 1; place >= 0; place -= 1) text += alphabet[digits[place] ?? 0]
  return text
}

/** `undefined` for what is not base58 or is longer than 64 bytes. */
export const decodeBase58 = (text: string): Uint8Array | undefined => {
  if (text.length > charactersMax) return undefined
  let zeros = 0
  while (zeros < text.length && text[zeros] === "1") zeros += 1
  const bytes: Array<number> = []
  for (let at = zeros; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    let carry = code < 128 ? (values[code] ?? -1) : -1
    if (carry < 0) return undefined
    for (let place = 0; place < bytes.length; place += 1) {
      carry += (bytes[place] ?? 0) * 58
      bytes[place] = carry & 0xff
      carry >>= 8
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 0xff)
  }
  const decoded = new Uint8Array(zeros + bytes.length)
  for (let place = 0; place < bytes.length; place += 1) decoded[decoded.length - 1 - place] = bytes[place] ?? 0
  return decoded.length <= bytesMax ? decoded : undefined
}

/** The 32 bytes of an address or a blockhash, or `undefined`. */
export const decodeAddress = (text: string): Uint8Array | undefined => {
  const bytes = decodeBase58(text)
  return bytes?.length === 32 ? bytes : undefined
}
