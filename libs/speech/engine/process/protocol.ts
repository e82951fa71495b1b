/**
 * The protocol between Starling and a program that speaks, version 1: lines of JSON, and after an `audio` line its
 * bytes (docs/speech-engines.md). A reader for the program's output, which trusts none of it. Pure.
 */

export const protocolVersion = 1

export const prosodies = ["rate", "pitch", "range"] as const
export type Prosody = (typeof prosodies)[number]

/** What this release offers beyond the first one; a program gets what it accepts. */
export const offers = ["phonemes"] as const

/** A stretch of a text, in code points, that should sound as its IPA says. */
export interface SpokenAs {
  readonly position: number
  readonly length: number
  readonly ipa: string
}

export type ToProgram =
  | { readonly type: "hello"; readonly protocol: number; readonly offers: ReadonlyArray<string> }
  | {
      readonly type: "speak"
      readonly id: number
      readonly voice: string
      readonly locale: string
      readonly text: string
      /** In text order, not overlapping; absent without any, and for programs that do not accept them. */
      readonly phonemes?: ReadonlyArray<SpokenAs>
      /** Factors: 1 is the voice's own. */
      readonly rate: number
      readonly pitch: number
      readonly range: number
    }
  | { readonly type: "cancel"; readonly id: number }

export interface Hello {
  readonly type: "hello"
  readonly protocol: number
  readonly sampleRateHz: number
  readonly voices: ReadonlyArray<string>
  readonly wordTimes: boolean
  readonly prosody: ReadonlyArray<Prosody>
  /** It speaks words by their phonemes; others get only the text. */
  readonly phonemes: boolean
}

export type FromProgram =
  | Hello
  /** Little-endian, 16 bit, mono. */
  | { readonly type: "audio"; readonly id: number; readonly pcm: Int16Array }
  /** `position` counts the text's code points, `sample` those of this text's audio. */
  | { readonly type: "word"; readonly id: number; readonly position: number; readonly sample: number }
  | { readonly type: "end"; readonly id: number }
  | { readonly type: "failed"; readonly id: number; readonly message: string }

/** The program broke the protocol; it is ended, because the start of its next line is unknown. */
export class ProtocolFault extends Error {}

export const protocolLimits = {
  lineBytesMax: 65_536,
  audioBytesMax: 1_048_576,
  voicesMax: 1_000,
  sampleRateHz: { min: 8_000, max: 48_000 }
} as const

export const encoded = (message: ToProgram): string => `${JSON.stringify(message)}\n`

type Fields = Readonly<Record<string, unknown>>

/** Takes the program's output in pieces of any size, and passes on complete messages. */
export const messageReader = (onMessage: (message: FromProgram) => void): ((bytes: Uint8Array) => void) => {
  let parts: Array<Uint8Array> = []
  let buffered = 0
  /** The audio line whose bytes are awaited. */
  let audio: { readonly id: number; readonly bytes: number } | undefined
  const take = (count: number): Buffer => {
    const all = Buffer.concat(parts, buffered)
    parts = count === buffered ? [] : [all.subarray(count)]
    buffered -= count
    return all.subarray(0, count)
  }
  return (bytes) => {
    let searched = buffered
    parts.push(bytes)
    buffered += bytes.length
    for (;;) {
      if (audio !== undefined) {
        if (buffered < audio.bytes) return
        const { id, bytes: length } = audio
        audio = undefined
        searched = 0
        onMessage({ type: "audio", id, pcm: samplesOf(take(length)) })
        continue
      }
      const end = lineEnd(parts, searched)
      if (end === -1) {
        if (buffered > protocolLimits.lineBytesMax)
          throw new ProtocolFault(`a line of more than ${protocolLimits.lineBytesMax} bytes`)
        return
      }
      searched = 0
      if (end > protocolLimits.lineBytesMax) throw new ProtocolFault(`a line of ${end} bytes`)
      const fields = fieldsOf(take(end + 1).toString("utf8"))
      if (fields["type"] === "audio") audio = audioOf(fields)
      else onMessage(messageOf(fields))
    }
  }
}

/** The index of the first newline at or after `from`; -1 without one. */
const lineEnd = (parts: ReadonlyArray<Uint8Array>, from: number) => {
  let before = 0
  for (const part of parts) {
    const found = before + part.length <= from ? -1 : part.indexOf(10, Math.max(0, from - before))
    if (found !== -1) return before + found
    before += part.length
  }
  return -1
}

const samplesOf = (bytes: Buffer) => {
  const samples = new Int16Array(bytes.length / 2)
  for (let at = 0; at < samples.length; at++) samples[at] = bytes.readInt16LE(at * 2)
  return samples
}

const shown = (value: unknown) => (JSON.stringify(value) ?? "nothing").slice(0, 100)

const fieldsOf = (line: string): Fields => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw new ProtocolFault(`a line that is no JSON: ${shown(line.trim())}`)
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields
  throw new ProtocolFault(`a line that is no object: ${shown(value)}`)
}

const countOf = (fields: Fields, name: string): number => {
  const value = fields[name]
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value
  throw new ProtocolFault(`${shown(fields["type"])} has ${shown(value)} as ${name}, which is no count`)
}

const audioOf = (fields: Fields) => {
  const bytes = countOf(fields, "bytes")
  if (bytes > protocolLimits.audioBytesMax) {
    throw new ProtocolFault(`audio of ${bytes} bytes; ${protocolLimits.audioBytesMax} are the most`)
  }
  if (bytes % 2 !== 0) throw new ProtocolFault(`audio of ${bytes} bytes, which ends within a sample`)
  return { id: countOf(fields, "id"), bytes }
}

const messageOf = (fields: Fields): FromProgram => {
  const { type } = fields
  if (type === "hello") return helloOf(fields)
  if (type === "end") return { type, id: countOf(fields, "id") }
  if (type === "word") {
    return { type, id: countOf(fields, "id"), position: countOf(fields, "position"), sample: countOf(fields, "sample") }
  }
  if (type === "failed") {
    const { message } = fields
    const text = typeof message === "string" && message !== "" ? message.slice(0, 500) : "it does not say why"
    return { type, id: countOf(fields, "id"), message: text }
  }
  throw new ProtocolFault(`a line of the type ${shown(type)}, which is none of hello, audio, word, end, failed`)
}

const helloOf = (fields: Fields): Hello => {
  const protocol = countOf(fields, "protocol")
  if (protocol !== protocolVersion) {
    throw new ProtocolFault(`it speaks version ${protocol} of the protocol; this release speaks ${protocolVersion}`)
  }
  const sampleRateHz = countOf(fields, "sampleRateHz")
  const { min, max } = protocolLimits.sampleRateHz
  if (sampleRateHz < min || sampleRateHz > max) {
    throw new ProtocolFault(`a sampleRateHz of ${sampleRateHz}; it is to be from ${min} to ${max}`)
  }
  const { voices, wordTimes = false, prosody = [], phonemes = false } = fields
  if (!isTexts(voices) || voices.length === 0 || voices.length > protocolLimits.voicesMax) {
    throw new ProtocolFault(`voices is to be a list of 1 to ${protocolLimits.voicesMax} names, not ${shown(voices)}`)
  }
  if (typeof wordTimes !== "boolean")
    throw new ProtocolFault(`wordTimes is ${shown(wordTimes)}, neither true nor false`)
  if (typeof phonemes !== "boolean") throw new ProtocolFault(`phonemes is ${shown(phonemes)}, neither true nor false`)
  if (!isTexts(prosody)) throw new ProtocolFault(`prosody is to be a list, not ${shown(prosody)}`)
  // A later release may know more of them.
  return {
    type: "hello",
    protocol,
    sampleRateHz,
    voices,
    wordTimes,
    prosody: prosodies.filter((known) => prosody.includes(known)),
    phonemes
  }
}

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((one) => typeof one === "string")
