/** Reads the events of the timestamps stream out of bytes that come in pieces of any size. Pure. */
import { Result, Schema } from "effect"
import { WordMark } from "#contracts"

export type SpeechEvent =
  | { readonly type: "chunk"; readonly audio: Uint8Array; readonly marks: ReadonlyArray<WordMark> }
  | { readonly type: "done"; readonly durationMs: number }
  | { readonly type: "failed"; readonly reason: string }

const Wire = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({
      type: Schema.Literal("speech.chunk"),
      audio: Schema.optionalKey(Schema.String),
      speech_marks: Schema.optionalKey(Schema.Array(WordMark))
    }),
    Schema.Struct({ type: Schema.Literal("speech.done"), audio_duration_ms: Schema.Finite }),
    Schema.Struct({
      type: Schema.Literal("speech.error"),
      error: Schema.Struct({ code: Schema.String, message: Schema.String }),
      request_id: Schema.optionalKey(Schema.String)
    })
  ])
)

const decode = Schema.decodeResult(Wire)
const known = new Set(["speech.chunk", "speech.done", "speech.error"])

/** Comments and events of other types are passed over. */
export const eventReader = () => {
  const utf8 = new TextDecoder()
  let rest = ""
  return (bytes: Uint8Array): ReadonlyArray<SpeechEvent> => {
    const blocks = (rest + utf8.decode(bytes, { stream: true })).split("\n\n")
    rest = blocks.pop() ?? ""
    return blocks.flatMap(eventsOf)
  }
}

const eventsOf = (block: string): ReadonlyArray<SpeechEvent> => {
  const lines = block.split("\n")
  const name = lines.find((line) => line.startsWith("event: "))?.slice("event: ".length)
  const data = lines.find((line) => line.startsWith("data: "))?.slice("data: ".length)
  if (name === undefined || data === undefined || !known.has(name)) return []
  const read = decode(data)
  if (Result.isFailure(read)) return [{ type: "failed", reason: `an event cannot be read: ${read.failure.message}` }]
  return [eventOf(read.success)]
}

const eventOf = (wire: typeof Wire.Type): SpeechEvent => {
  switch (wire.type) {
    case "speech.chunk":
      return { type: "chunk", audio: Buffer.from(wire.audio ?? "", "base64"), marks: wire.speech_marks ?? [] }
    case "speech.done":
      return { type: "done", durationMs: wire.audio_duration_ms }
    case "speech.error": {
      const request = wire.request_id === undefined ? "" : `, ${wire.request_id}`
      return { type: "failed", reason: `${wire.error.message} (${wire.error.code}${request})` }
    }
  }
}
