/**
 * Whole answers, kept from before their payment is asked for until a day after it could be used: nobody gets one
 * unpaid, and who has paid for one that was lost on the way is given it again. By the claim; with what it answers.
 */
import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option, Result, Schema, Stream } from "effect"
import { type BusError, Objects, parseJson } from "#bus"

const store = "paid-answers"

const Label = Schema.Struct({
  /** The client's name for the call. */
  identifier: Schema.NullOr(Schema.String),
  binding: Schema.String
})
export interface Label extends Schema.Schema.Type<typeof Label> {}

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
        yield* objects.putWhole(store, nameOf(claimKey), Buffer.concat([head, body]))
      })
      const find = Effect.fn("PaidAnswers.find")(function* (claimKey: string) {
        const parts = yield* Stream.runCollect(objects.get(store, nameOf(claimKey))).pipe(
          Effect.catchTag("BusNotFound", () => Effect.succeed<Array<Uint8Array>>([]))
        )
        return readAnswer(Buffer.concat(parts))
      })
      return PaidAnswers.of({ keep, find })
    })
  )
}

const nameOf = (claimKey: string) => createHash("sha256").update(claimKey).digest("hex")

const readAnswer = (bytes: Buffer): Option.Option<PaidAnswer> => {
  const end = bytes.indexOf(lineFeed)
  if (end === -1) return Option.none()
  const label = Result.flatMap(parseJson(bytes.subarray(0, end)), (json) => decodeLabel(json))
  return Result.isSuccess(label) ? Option.some({ label: label.success, body: bytes.subarray(end + 1) }) : Option.none()
}
