/**
 * Two questions about 32 bytes as a point of ed25519: is there such a point (an address that a program owns is
 * chosen so that there is none), and is it one of the few of small order. Under a key of small order anybody can
 * make signatures, which validators refuse and older OpenSSL (3.0) does not, and accounts with money stand under
 * such addresses.
 */
const prime = 2n ** 255n - 19n
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const signBit = 2n ** 255n

const fromLittleEndian = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes.toReversed()).toString("hex")}`)

const mod = (value: bigint) => ((value % prime) + prime) % prime

const power = (base: bigint, exponent: bigint) => {
  let result = 1n
  let square = mod(base)
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = mod(result * square)
    square = mod(square * square)
  }
  return result
}

/** Half a millisecond: for addresses that are kept, not for every payment. */
export const isOnCurve = (bytes: Uint8Array): boolean => {
  const encoded = fromLittleEndian(bytes)
  const y = mod(encoded % signBit)
  const numerator = mod(y * y - 1n)
  // x^2 = (y^2 - 1) / (d y^2 + 1); the denominator is never zero, for -1/d is no square.
  const square = mod(numerator * power(d * y * y + 1n, prime - 2n))
  return square === 0n || power(square, (prime - 1n) / 2n) === 1n
}

// Of order 4 (0), 1 (1), 2 (-1), and 8; 0 and 1 can also be written plus the prime. The sign of x does not matter.
const smallOrderY = new Set(
  [
    0n,
    1n,
    prime - 1n,
    prime,
    prime + 1n,
    2707385501144840649318225287225658788936804267575313519463743609750303402022n,
    55188659117513257062467267217118295137698188065244968500265048394206261417927n
  ].map(String)
)

export const hasSmallOrder = (bytes: Uint8Array): boolean => smallOrderY.has(String(fromLittleEndian(bytes) % signBit))
