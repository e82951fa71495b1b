/**
 * Complete answers of paid calls. Each is stored from before its payment is requested until a day after that payment
 * could last be used: no caller gets an answer unpaid, and a payer whose answer was lost on the way gets it again.
 */
import { hash } from "node:crypto"
import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { parseJson } from "#base/json"
import { type BusError, Objects } from "#bus"

const store = "paid-answers"

const Label = Schema.Struct({
  /** The client's name for the call. */
  identifier: Schema.NullOr(Schema.String),
  binding: Schema.String
})
interface Label extends Schema.Schema.Type<typeof Label> {}

export interface PaidAnswer {
  readonly label: Label
  readonly body: Uint8Array
}

const decodeLabel = Schema.decodeUnknownResult(Label)
const utf8 = new TextEncoder()
const lineFeed = 10

export class PaidAnswers extends Context.Service<
  PaidAnswers,
  {
    readonly keep: (claimKey: string, answer: PaidAnswer) => Effect.Effect<void, BusError>
    readonly find: (claimKey: string) => Effect.Effect<Option.Option<PaidAnswer>, BusError>
  }
>()("starling/model-gateway/PaidAnswers") {
  static readonly layer = Layer.effect(
    PaidAnswers,
    Effect.gen(function* () {
      const objects = yield* Objects
      const keep = Effect.fnUntraced(function* (claimKey: string, { label, body }: PaidAnswer) {
        const head = utf8.encode(`${JSON.stringify(label)}\n`)
        yield* objects.putBytes(store, objectNameOf(claimKey), Buffer.concat([head, body]))
      })
      const find = Effect.fn("PaidAnswers.find")(function* (claimKey: string) {
        const kept = yield* objects.getBytes(store, objectNameOf(claimKey))
        return Option.flatMap(kept, readAnswer)
      })
      return PaidAnswers.of({ keep, find })
    })
  )
}

const objectNameOf = (claimKey: string) => hash("sha256", claimKey, "hex")

const readAnswer = (bytes: Uint8Array): Option.Option<PaidAnswer> => {
  const end = bytes.indexOf(lineFeed)
  if (end === -1) return Option.none()
  const label = Result.flatMap(parseJson(bytes.subarray(0, end)), (json) => decodeLabel(json))
  return Result.isSuccess(label) ? Option.some({ label: label.success, body: bytes.subarray(end + 1) }) : Option.none()
}
