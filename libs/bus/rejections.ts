/**
 * The REJECTED stream, for messages that failed their schema: with every fault and its path. The broken bytes are kept
 * up to 64 KiB, without the secrets in them, so that an operator sees what came.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { isoTime, type Fault, Rejection, subjects } from "#contracts"
import { defineCounter, Metrics, type Redact, redactBody, Redactor } from "#runtime"
import type { BusError } from "./errors.ts"
import { jsonCodec } from "./message.ts"
import { Publisher } from "./publish.ts"

/** The parts of the fleet that read what others wrote. */
const origins: ReadonlyArray<string> = ["deliveries", "events", "log", "reports", "requests", "settlements", "speech"]

export const busRejected = defineCounter({
  name: "bus_rejected_total",
  help: "Messages that failed their schema and were put into the REJECTED stream with the reason, by origin.",
  labels: ["origin"],
  values: { origin: origins }
})

/** A rejected message and its origin. */
export interface Refused {
  readonly origin: string
  readonly subject: string
  readonly sequence: number | null
  readonly faults: ReadonlyArray<Fault>
  readonly payload: Uint8Array
}

// Enough to see what went wrong; base64 of it stays below the stream's message limit.
const payloadBytesMax = 64 * 1_024
const faultsMax = 50

// A path may hold keys, and a text may hold a name, from the message itself. Secrets are removed before the text is
// cut to its length, so that no half of one stays. A text beyond the searched part is no honest mistake, and is dropped.
const faultCharactersMax = 1_000
const lookedAtMax = 16 * faultCharactersMax
const withoutSecrets =
  (redact: Redact) =>
  ({ path, message }: Fault): Fault => {
    const clean = (text: string) => redact(text.slice(0, lookedAtMax)).slice(0, faultCharactersMax)
    return { path: clean(path), message: clean(message) }
  }

const codec = jsonCodec(Rejection)

export class Rejections extends Context.Service<
  Rejections,
  {
    readonly reject: (refused: Refused) => Effect.Effect<void, BusError>
    /** The faults in a form that anybody may see: without secrets, and within bounds. */
    readonly reportable: (faults: ReadonlyArray<Fault>) => ReadonlyArray<Fault>
  }
>()("starling/bus/Rejections") {
  static readonly layer = Layer.effect(
    Rejections,
    Effect.gen(function* () {
      const publisher = yield* Publisher
      const { redact } = yield* Redactor
      const reportable = (faults: ReadonlyArray<Fault>) => faults.slice(0, faultsMax).map(withoutSecrets(redact))
      const rejected = (yield* Metrics).counter(busRejected)

      const reject = Effect.fn("Rejections.reject")(function* (refused: Refused) {
        const { bytes, isCut } = redactBody(refused.payload, redact, payloadBytesMax)
        const rejection: Rejection = {
          origin: refused.origin,
          subject: refused.subject,
          sequence: refused.sequence,
          faults: reportable(refused.faults),
          receivedAt: isoTime(yield* Clock.currentTimeMillis),
          payloadBase64: Buffer.from(bytes).toString("base64"),
          truncated: isCut
        }
        // A source sequence names the message for good, so even after a crash in between it is stored once.
        const messageId = refused.sequence === null ? {} : { messageId: `${refused.origin}:${refused.sequence}` }
        yield* publisher.publish(subjects.rejected(refused.origin), codec, rejection, messageId)
        rejected.inc({ origin: refused.origin })
        yield* Effect.logWarning("a message failed its schema and is in REJECTED").pipe(
          Effect.annotateLogs({ origin: refused.origin, subject: refused.subject, faults: rejection.faults })
        )
      })
      return Rejections.of({ reject, reportable })
    })
  )
}
