/** REJECTED: messages that broke their schema, with every fault that fits and without secrets. */
import { Clock, Context, Effect, Layer } from "effect"
import { type Fault, isoTime, type RefusedEvent, Rejection, storedEventName, subjects } from "#base"
import { defineCounter, Metrics, type Redact, redactBody, Redactor } from "#runtime"
import type { BusError } from "./errors.ts"
import { Nats } from "./connection/connection.ts"
import { jsonCodec } from "./message.ts"
import { Publisher } from "./publish.ts"

/** The parts of the fleet that read messages written by others. */
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
  /** The user outside the fleet that published it, to be told. */
  readonly publisher?: string | undefined
}

// Enough to diagnose the fault; its base64 stays below the stream's message limit.
const payloadBytesMax = 64 * 1_024
const faultsMax = 50

// A path can contain keys, and a text a name, from the message itself. Secrets are removed before the text is
// truncated, so that no half of one remains. A text beyond the searched part is no honest mistake, and is dropped.
const faultCharactersMax = 1_000
// Together with the payload they stay below the stream's message limit, whatever their keys contain.
const faultsBytesMax = 24 * 1_024
const subjectCharactersMax = 1_000
const lookedAtMax = 16 * faultCharactersMax
const withoutSecrets =
  (redact: Redact) =>
  ({ path, message }: Fault): Fault => {
    const clean = (text: string) => redact(text.slice(0, lookedAtMax)).slice(0, faultCharactersMax)
    return { path: clean(path), message: clean(message) }
  }

/** As many leading faults as fit. */
const fitting = (faults: ReadonlyArray<Fault>) => {
  let left = faultsBytesMax
  return faults.filter((fault) => (left -= Buffer.byteLength(JSON.stringify(fault))) >= 0)
}

const codec = jsonCodec(Rejection)

export class Rejections extends Context.Service<
  Rejections,
  {
    readonly reject: (refused: Refused) => Effect.Effect<void, BusError>
    /** The faults in a form that is safe to show anybody: without secrets, and bounded. */
    readonly reportable: (faults: ReadonlyArray<Fault>) => ReadonlyArray<Fault>
  }
>()("starling/bus/Rejections") {
  static readonly layer = Layer.effect(
    Rejections,
    Effect.gen(function* () {
      const publisher = yield* Publisher
      const nats = yield* Nats
      const { redact } = yield* Redactor
      const reportable = (faults: ReadonlyArray<Fault>) =>
        fitting(faults.slice(0, faultsMax).map(withoutSecrets(redact)))
      const rejected = (yield* Metrics).counter(busRejected)

      const reject = Effect.fn("Rejections.reject")(function* (refused: Refused) {
        const { bytes, isCut } = redactBody(refused.payload, redact, payloadBytesMax)
        const rejection: Rejection = {
          origin: refused.origin,
          subject: refused.subject.slice(0, subjectCharactersMax),
          sequence: refused.sequence,
          faults: reportable(refused.faults),
          receivedAt: isoTime(yield* Clock.currentTimeMillis),
          payloadBase64: Buffer.from(bytes).toString("base64"),
          truncated: isCut
        }
        // A source sequence identifies the message permanently, so even after a crash in between it is stored once.
        const messageId = refused.sequence === null ? {} : { messageId: `${refused.origin}:${refused.sequence}` }
        const stored = yield* publisher.publish(subjects.rejected(refused.origin), codec, rejection, messageId)
        if (stored.duplicate) return
        if (refused.publisher !== undefined) tell(nats, refused.publisher, rejection)
        rejected.inc({ origin: refused.origin })
        yield* Effect.logWarning("a message failed its schema and is in REJECTED").pipe(
          Effect.annotateLogs({ origin: refused.origin, subject: refused.subject, faults: rejection.faults })
        )
      })
      return Rejections.of({ reject, reportable })
    })
  )
}

/** Whoever listens is told at once; whoever does not finds it in REJECTED, with an operator's help. */
const tell = ({ connection }: Nats["Service"], user: string, { subject, sequence, faults, receivedAt }: Rejection) => {
  if (connection.isClosed()) return
  const name = storedEventName(subject)?.name
  const told: RefusedEvent = {
    subject: name === undefined ? subject : subjects.event(name),
    sequence,
    faults,
    refusedAt: receivedAt
  }
  connection.publish(subjects.refused(user), JSON.stringify(told))
}
