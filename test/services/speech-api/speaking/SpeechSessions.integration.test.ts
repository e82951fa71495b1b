/** Sessions at a real sequencer, whose only beginning never ends for want of a synthesizer: then it has no place. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { localTransport, Mailbox, Nats } from "#bus"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import { Drain } from "#runtime"
import { speechSequencer } from "#speech-sequencer"
import type { SessionPace } from "../../../../services/speech-api/speaking/SpeechAdmission.ts"
import { SpeechSessions } from "../../../../services/speech-api/speaking/SpeechSessions.ts"
import { withBus } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { watchProcessorShare } from "../../../support/processor-share.ts"
import { planned } from "./planned-orders.ts"

const configuration = Configuration.layerOf({ SpeechSequencer: { BeginningsAtOnce: 1 } })

// Both ends of a session have a mailbox each, as in processes of their own.
const roles = Layer.mergeAll(
  SpeechSessions.layer,
  speechSequencer.pipe(Layer.provide(Layer.fresh(Mailbox.layer)))
).pipe(Layer.provideMerge(Drain.layer), Layer.provide(configuration))

interface Waits {
  readonly forMs: number
  readonly mustBegin: () => boolean
}

const paceOf = ({ forMs, mustBegin }: Waits) =>
  Effect.map(Clock.currentTimeMillis, (nowMs): SessionPace => {
    return { turn: Effect.void, windowSamplesMax: () => 48_000, begunByMs: () => nowMs + forMs, mustBegin }
  })

const { turns, textNormalization } = planned({})
const open = Effect.fnUntraced(function* (waits: Waits, isBackground?: true) {
  const order = { turns, textNormalization, ...(isBackground && { isBackground }) }
  return yield* (yield* SpeechSessions).open(order, yield* paceOf(waits))
})

const never = () => false
const onFullSequencer = <A, E>(use: Effect.Effect<A, E, Nats | Effect.Services<ReturnType<typeof open>>>) =>
  withBus(() =>
    Effect.gen(function* () {
      yield* open({ forMs: 30_000, mustBegin: never })
      return yield* use
    }).pipe(Effect.scoped, Effect.provide(roles))
  )

describe("a session that no sequencer has a place for", () => {
  it.live("is refused as soon as its time to begin is over", () =>
    onFullSequencer(
      Effect.gen(function* () {
        const share = watchProcessorShare()
        const askedAtMs = yield* Clock.currentTimeMillis
        const refused = yield* Effect.flip(open({ forMs: 500, mustBegin: never }))
        const tookMs = (yield* Clock.currentTimeMillis) - askedAtMs
        assert.deepInclude(refused, { _tag: "SpeechBusy", detail: "all are busy" })
        assert.isBelow(tookMs, 500 + 500 / (yield* Effect.promise(share.end)))
      })
    )
  )

  it.live("is taken all the same once it can no longer be refused in time", () =>
    onFullSequencer(
      Effect.gen(function* () {
        let asks = 0
        const session = yield* open({ forMs: 30_000, mustBegin: () => ++asks > 3 })
        assert.lengthOf(session.sentences, 1)
        assert.strictEqual(asks, 4)
      })
    )
  )
})

describe("sessions in the background", () => {
  it.live("are taken up to a number of their own, and take no place of a session with a listener", () =>
    withBus(() =>
      Effect.gen(function* () {
        const behind = open({ forMs: 2_000, mustBegin: never }, true)
        yield* Effect.replicateEffect(behind, 32)
        assert.deepInclude(yield* Effect.flip(behind), { _tag: "SpeechBusy", detail: "all are busy" })
        assert.strictEqual((yield* SpeechSessions).active(), 0)
        yield* open({ forMs: 2_000, mustBegin: never })
        assert.strictEqual((yield* SpeechSessions).active(), 1)
      }).pipe(Effect.scoped, Effect.provide(roles))
    )
  )
})

/** The broker's questions for a session from now on, after all that was sent until now. */
const overheard = Effect.gen(function* () {
  const { connection } = yield* Nats
  let asked = 0
  connection.subscribe(subjects.speechSessions, { callback: () => void (asked += 1) })
  const flush = Effect.promise(() => connection.flush())
  yield* flush
  return Effect.map(flush, () => asked)
})

describe("a session beside a sequencer of the same process", () => {
  it.live("begins without the broker", () =>
    withBus(() =>
      Effect.gen(function* () {
        const asked = yield* overheard
        const session = yield* open({ forMs: 30_000, mustBegin: never })
        assert.lengthOf(session.sentences, 1)
        assert.strictEqual(yield* asked, 0)
      }).pipe(Effect.scoped, Effect.provide(roles))
    ).pipe(Effect.provide(localTransport))
  )

  it.live("is asked of all sequencers once that one is busy", () =>
    onFullSequencer(
      Effect.gen(function* () {
        const asked = yield* overheard
        yield* Effect.forkScoped(open({ forMs: 30_000, mustBegin: never }))
        yield* eventually(asked, { is: (times) => times > 0 })
      })
    ).pipe(Effect.provide(localTransport))
  )
})
