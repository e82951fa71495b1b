/**
 * Reads the wire form of a transaction from front to back. Every read past the end, and every length that is not
 * written in the shortest way, ends it: the payer of a hostile transaction gets a refusal, never an exception.
 */
export interface WireReader {
  /** False once anything was read that is not there or not allowed; what was read since is worthless. */
  readonly isSound: () => boolean
  readonly position: () => number
  readonly remaining: () => number
  readonly byte: () => number
  /** A view, not a copy. */
  readonly bytes: (count: number) => Uint8Array
  /** Solana's compact-u16: up to three bytes of seven bits, refused when a shorter form exists. */
  readonly length: () => number
}

const empty = new Uint8Array(0)

export const wireReader = (source: Uint8Array): WireReader => {
  let at = 0
  let isSound = true
  const fail = () => {
    isSound = false
    return 0
  }
  const byte = () => {
    if (at >= source.length) return fail()
    at += 1
    return source[at - 1] ?? 0
  }
  const bytes = (count: number) => {
    if (count > source.length - at) {
      fail()
      return empty
    }
    at += count
    return source.subarray(at - count, at)
  }
  const length = () => {
    let value = 0
    for (let place = 0; place < 3; place += 1) {
      const next = byte()
      value |= (next & 0x7f) << (7 * place)
      if ((next & 0x80) === 0) {
        const isPadded = place > 0 && next === 0
        return isPadded || value > 0xffff ? fail() : value
      }
    }
    return fail()
  }
  return { isSound: () => isSound, position: () => at, remaining: () => source.length - at, byte, bytes, length }
}
