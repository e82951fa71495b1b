/** A good answer taken in: its words as they come, and the receipt, from the headers or out of the stream. */
import { Effect, Result, Schema, Stream } from "effect"
import { SettleResponse } from "#contracts"
import { CommandRefused } from "../refusals.ts"
import { brokenOff } from "../say/client.ts"

export interface PaidAnswer {
  readonly text: string
  /** Absent where nothing is owed, or the chain has not said yet. */
  readonly receipt: SettleResponse | undefined
}

const WholeAnswer = Schema.Struct({
  choices: Schema.Array(
    Schema.Struct({ message: Schema.Struct({ content: Schema.optionalKey(Schema.NullOr(Schema.String)) }) })
  )
})
const decodeReceipt = Schema.decodeUnknownResult(Schema.fromJsonString(SettleResponse))

export const takeAnswer = Effect.fnUntraced(function* (response: Response, show: (text: string) => void) {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
  const answer = yield* isStream ? streamed(response, show) : whole(response, show)
  return { ...answer, receipt: answer.receipt ?? receiptIn(response.headers.get("payment-response")) }
})

const whole = Effect.fnUntraced(function* (response: Response, show: (text: string) => void) {
  const body = yield* Effect.tryPromise({ try: () => response.json() as Promise<unknown>, catch: brokenOff })
  const read = yield* Effect.mapError(
    Schema.decodeUnknownEffect(WholeAnswer)(body),
    (error) => new CommandRefused({ reason: `the gateway's answer is not understood: ${error.message}` })
  )
  const text = read.choices[0]?.message.content ?? ""
  show(text)
  const answer: PaidAnswer = { text, receipt: undefined }
  return answer
})

const streamed = Effect.fnUntraced(function* (response: Response, show: (text: string) => void) {
  const read = chatReader()
  const found = { text: "", receipt: undefined as SettleResponse | undefined, isDone: false }
  const take = (event: ChatEvent) => {
    switch (event.type) {
      case "words":
        found.text += event.text
        return Effect.sync(() => show(event.text))
      case "receipt":
        found.receipt = receiptIn(event.header)
        return Effect.void
      case "done":
        found.isDone = true
        return Effect.void
      case "failed":
        return Effect.fail(new CommandRefused({ reason: `the answer broke off: ${event.reason}; nothing was paid` }))
    }
  }
  const bytes = Stream.fromAsyncIterable(response.body ?? nothing(), brokenOff)
  yield* Stream.runForEach(bytes, (part: Uint8Array) => Effect.forEach(read(part), take, { discard: true }))
  if (!found.isDone) return yield* new CommandRefused({ reason: "the answer broke off before its end" })
  const answer: PaidAnswer = { text: found.text, receipt: found.receipt }
  return answer
})

const receiptIn = (header: string | null): SettleResponse | undefined => {
  if (header === null) return undefined
  return Result.getOrUndefined(decodeReceipt(Buffer.from(header, "base64").toString("utf8")))
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

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

/** Reads a streamed chat out of bytes that come in pieces of any size: its words, its receipt, its end. Pure. */
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
