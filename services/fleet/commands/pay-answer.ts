/** A good answer taken in: its words as they come, and the receipt, from the headers or out of the stream. */
import { Effect, Result, Schema, Stream } from "effect"
import { SettleResponse } from "#contracts"
import { CommandRefused } from "./connect.ts"
import { chatReader, type ChatEvent } from "./pay-events.ts"
import { brokenOff } from "./say-client.ts"

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
