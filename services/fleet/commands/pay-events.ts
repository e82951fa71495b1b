/** Reads a streamed chat out of bytes that come in pieces of any size: its words, its receipt, its end. Pure. */
import { Result, Schema } from "effect"

export type ChatEvent =
  | { readonly type: "words"; readonly text: string }
  /** The value of PAYMENT-RESPONSE, which a stream brings as a comment. */
  | { readonly type: "receipt"; readonly header: string }
  | { readonly type: "done" }
  | { readonly type: "failed"; readonly reason: string }

const Chunk = Schema.fromJsonString(
  Schema.Struct({
    choices: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          delta: Schema.optionalKey(Schema.Struct({ content: Schema.optionalKey(Schema.NullOr(Schema.String)) }))
        })
      )
    ),
    error: Schema.optionalKey(
      Schema.Struct({ message: Schema.String, code: Schema.optionalKey(Schema.NullOr(Schema.String)) })
    )
  })
)
const decode = Schema.decodeResult(Chunk)
const receiptPattern = /^: ?payment-response ([A-Za-z0-9+/=]{1,8192})$/u

export const chatReader = () => {
  const utf8 = new TextDecoder()
  let rest = ""
  return (bytes: Uint8Array): ReadonlyArray<ChatEvent> => {
    const lines = (rest + utf8.decode(bytes, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    return lines.flatMap(eventsOf)
  }
}

const eventsOf = (line: string): ReadonlyArray<ChatEvent> => {
  const receipt = receiptPattern.exec(line)?.[1]
  if (receipt !== undefined) return [{ type: "receipt", header: receipt }]
  if (!line.startsWith("data: ")) return []
  const data = line.slice("data: ".length)
  if (data === "[DONE]") return [{ type: "done" }]
  const read = decode(data)
  if (Result.isFailure(read)) return [{ type: "failed", reason: `a chunk cannot be read: ${read.failure.message}` }]
  const { choices = [], error } = read.success
  if (error !== undefined) return [{ type: "failed", reason: `${error.message} (${error.code ?? "no code"})` }]
  const text = choices.map(({ delta }) => delta?.content ?? "").join("")
  return text === "" ? [] : [{ type: "words", text }]
}
