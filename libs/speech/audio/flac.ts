/**
 * FLAC, written in this process: the residual of the best fixed predictor of each block, Rice-coded in partitions. It
 * takes 4 ms of a processor for a second of speech, and no encoder of the pool, whose frames would reveal neither their
 * length nor when they are complete. The header omits the length, because the stream has none yet.
 */

interface FlacEncoder {
  /** The blocks that these samples complete. */
  readonly push: (pcm: Int16Array) => Uint8Array
  /** The last block, which is shorter. */
  readonly end: () => Uint8Array
}

/** 48 ms at 24 kHz: the longest that a listener waits for a block. */
const blockSamples = 1_152

export const makeFlacEncoder = (rateHz: number): FlacEncoder => {
  let pending: Int16Array = new Int16Array(0)
  let blocks = 0
  let isBegun = false

  const encode = (pcm: Int16Array, samplesMin: number) => {
    const bits = makeBits()
    if (!isBegun) writeHeader(bits, rateHz)
    isBegun = true
    const all = pending.length === 0 ? pcm : joined(pending, pcm)
    let at = 0
    while (all.length - at >= samplesMin && at < all.length) {
      writeFrame(bits, all.subarray(at, at + blockSamples), { rateHz, number: blocks++ })
      at = Math.min(at + blockSamples, all.length)
    }
    pending = all.slice(at)
    return bits.bytes()
  }
  return {
    push: (pcm) => encode(pcm, blockSamples),
    end: () => encode(new Int16Array(0), 1)
  }
}

const joined = (left: Int16Array, right: Int16Array) => {
  const both = new Int16Array(left.length + right.length)
  both.set(left)
  both.set(right, left.length)
  return both
}

/** Bits in, bytes out, the highest bit first. */
interface Bits {
  /** At most 24 bits at once. */
  readonly put: (value: number, count: number) => void
  readonly zeros: (count: number) => void
  readonly align: () => void
  /** How many whole bytes there are. */
  readonly length: () => number
  /** A view on the bytes from there on. */
  readonly since: (from: number) => Uint8Array
  readonly bytes: () => Uint8Array
}

const makeBits = (): Bits => {
  let buffer = new Uint8Array(4_096)
  let length = 0
  let pending = 0
  let pendingBits = 0

  const put = (value: number, count: number) => {
    pending = (pending << count) | (value & ((1 << count) - 1))
    pendingBits += count
    while (pendingBits >= 8) {
      if (length === buffer.length) {
        const larger = new Uint8Array(buffer.length * 2)
        larger.set(buffer)
        buffer = larger
      }
      pendingBits -= 8
      buffer[length++] = (pending >>> pendingBits) & 0xff
      pending &= (1 << pendingBits) - 1
    }
  }
  return {
    put,
    zeros: (count) => {
      let left = count
      for (; left > 16; left -= 16) put(0, 16)
      put(0, left)
    },
    align: () => {
      if (pendingBits > 0) put(0, 8 - pendingBits)
    },
    length: () => length,
    since: (from) => buffer.subarray(from, length),
    bytes: () => buffer.slice(0, length)
  }
}

const bitsPerSample = 16
const streamInfoBytes = 34

/** The marker of a FLAC stream, and its one block of metadata. Values that are not known yet are 0. */
const writeHeader = (bits: Bits, rateHz: number) => {
  for (const character of "fLaC") bits.put(character.charCodeAt(0), 8)
  bits.put(0x80, 8)
  bits.put(streamInfoBytes, 24)
  bits.put(blockSamples, 16)
  bits.put(blockSamples, 16)
  // The sizes of the smallest and of the largest frame.
  bits.put(0, 24)
  bits.put(0, 24)
  bits.put(rateHz, 20)
  // One channel, less one.
  bits.put(0, 3)
  bits.put(bitsPerSample - 1, 5)
  // The number of samples: 36 bits. A sum of 128.
  bits.zeros(36 + 128)
}

const rateCodes: Readonly<Record<number, number>> = { 8_000: 4, 16_000: 5, 22_050: 6, 24_000: 7, 44_100: 9, 48_000: 10 }
const fullBlock = 3
const sizeAtEnd = 7

interface FrameHeader {
  readonly rateHz: number
  readonly number: number
}

const writeFrame = (bits: Bits, block: Int16Array, { rateHz, number }: FrameHeader) => {
  const from = bits.length()
  const isFull = block.length === blockSamples
  // 14 bits of sync, and blocks of a fixed size.
  bits.put(0xfff8, 16)
  bits.put(isFull ? fullBlock : sizeAtEnd, 4)
  bits.put(rateCodes[rateHz] ?? 0, 4)
  // Mono, 16 bits a sample.
  bits.put(0x08, 8)
  writeNumber(bits, number)
  if (!isFull) bits.put(block.length - 1, 16)
  bits.put(checksum8(bits.since(from)), 8)
  writeBlock(bits, block)
  bits.align()
  bits.put(checksum16(bits.since(from)), 16)
}

/** As UTF-8 writes a code point, to 31 bits. */
const writeNumber = (bits: Bits, number: number) => {
  if (number < 0x80) return bits.put(number, 8)
  let followers = 1
  while (number >= 2 ** (5 * followers + 6)) followers += 1
  const head = (0xff << (7 - followers)) & 0xff
  bits.put(head | Math.floor(number / 2 ** (6 * followers)), 8)
  for (let at = followers - 1; at >= 0; at--) bits.put(0x80 | (Math.floor(number / 2 ** (6 * at)) & 0x3f), 8)
}

const constantType = 0
const verbatimType = 1
const fixedType = 8
const orderMax = 4

const writeBlock = (bits: Bits, block: Int16Array) => {
  if (block.every((sample) => sample === block[0])) return writeRaw(bits, constantType, block.subarray(0, 1))
  const predicted = bestPrediction(block)
  const partitions = partitionsOf(predicted)
  const cost = partitions.reduce((sum, partition) => sum + partition.bits, 0) + predicted.order * bitsPerSample
  if (cost >= block.length * bitsPerSample) return writeRaw(bits, verbatimType, block)
  writeRaw(bits, fixedType | predicted.order, block.subarray(0, predicted.order))
  // Rice codes with parameters of four bits.
  bits.put(0, 2)
  bits.put(Math.log2(partitions.length), 4)
  for (const { from, to, parameter } of partitions) {
    bits.put(parameter, 4)
    for (let at = from; at < to; at++) {
      const value = predicted.folded[at] ?? 0
      bits.zeros(value >>> parameter)
      bits.put((1 << parameter) | (value & ((1 << parameter) - 1)), parameter + 1)
    }
  }
}

const writeRaw = (bits: Bits, type: number, samples: Int16Array) => {
  bits.put(type << 1, 8)
  for (const sample of samples) bits.put(sample, bitsPerSample)
}

interface Prediction {
  readonly order: number
  /** The residual of the prediction, with the sign in the lowest bit; the first `order` are not used. */
  readonly folded: Uint32Array
}

/** The fixed predictors are repeated differences: the one with the smallest residual is the best. */
const bestPrediction = (block: Int16Array): Prediction => {
  let residual = Int32Array.from(block)
  let best = { order: 0, residual, size: sizeFrom(residual, 0) }
  for (let order = 1; order <= Math.min(orderMax, block.length - 1); order++) {
    const next = new Int32Array(block.length)
    for (let at = order; at < block.length; at++) next[at] = (residual[at] ?? 0) - (residual[at - 1] ?? 0)
    residual = next
    const size = sizeFrom(residual, order)
    if (size < best.size) best = { order, residual, size }
  }
  return { order: best.order, folded: Uint32Array.from(best.residual, (value) => (value << 1) ^ (value >> 31)) }
}

const sizeFrom = (residual: Int32Array, from: number) => {
  let size = 0
  for (let at = from; at < residual.length; at++) size += Math.abs(residual[at] ?? 0)
  return size
}

interface Partition {
  readonly from: number
  readonly to: number
  readonly parameter: number
  readonly bits: number
}

// 144 samples each; a shorter last block is one partition.
const partitionsOfBlock = 8
const parameterMax = 14

const partitionsOf = ({ order, folded }: Prediction): ReadonlyArray<Partition> => {
  const count = folded.length === blockSamples ? partitionsOfBlock : 1
  const size = folded.length / count
  return Array.from({ length: count }, (_, index) =>
    partitionOf(folded, Math.max(order, index * size), (index + 1) * size)
  )
}

/** With the parameter that makes a value's two parts about equally long. */
const partitionOf = (folded: Uint32Array, from: number, to: number): Partition => {
  let sum = 0
  for (let at = from; at < to; at++) sum += folded[at] ?? 0
  const mean = sum / Math.max(1, to - from)
  const parameter = Math.max(0, Math.min(parameterMax, Math.floor(Math.log2(mean + 1))))
  let bits = 4
  for (let at = from; at < to; at++) bits += ((folded[at] ?? 0) >>> parameter) + 1 + parameter
  return { from, to, parameter, bits }
}

const checksumTable = (bitCount: 8 | 16, polynomial: number) => {
  const top = 1 << (bitCount - 1)
  const mask = (1 << bitCount) - 1
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let value = byte << (bitCount - 8)
    for (let bit = 0; bit < 8; bit++) value = ((value << 1) ^ ((value & top) === 0 ? 0 : polynomial)) & mask
    return value
  })
}

const table8 = checksumTable(8, 0x07)
const table16 = checksumTable(16, 0x80_05)

const checksum8 = (bytes: Uint8Array) => bytes.reduce((value, byte) => table8[value ^ byte] ?? 0, 0)

const checksum16 = (bytes: Uint8Array) =>
  bytes.reduce((value, byte) => ((value << 8) & 0xffff) ^ (table16[(value >> 8) ^ byte] ?? 0), 0)
