/** Voices whose engine is still being opened, as synthesizers tell it on a real bus. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Result } from "effect"
import { Kv } from "#bus"
import { type EngineState, SynthesizerEngines } from "#speech/contract"
import { Configuration } from "#configuration"
import { Environment } from "#runtime"
import { planSpeech } from "../../../../services/speech-api/speaking/plan.ts"
import { ClonedVoices } from "../../../../services/speech-api/voices/ClonedVoices.ts"
import { announcedEngines, voicesFor, voicesOnceOpened } from "../../../../services/speech-api/voices/speakable.ts"
import { withBus } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"

const turns = [{ voice_id: "selma", input: "Hello." }]
const engines = (state: EngineState["state"]): SynthesizerEngines => ({ engines: { flite: { state } } })

const services = announcedEngines.pipe(
  Layer.provideMerge(
    Layer.mergeAll(Configuration.layerOf({}), Layer.succeed(Environment, {}), Layer.mock(ClonedVoices, {}))
  )
)

const planned = Effect.gen(function* () {
  const findVoice = yield* voicesOnceOpened("default", turns)
  return planSpeech(
    { turns },
    { route: "/v1/audio/stream", accept: undefined, charactersMax: 100, findVoice, textNormalization: true }
  )
})

const isOpening = Effect.map(voicesFor("default", turns), (findVoice) => findVoice("selma")?.isOpening === true)

describe("a voice whose engine is being opened", () => {
  it.live("is refused within a second, and spoken as soon as one synthesizer has opened it", () =>
    withBus(() =>
      Effect.gen(function* () {
        const bucket = yield* (yield* Kv).open("speech-engines", SynthesizerEngines)
        const revision = yield* bucket.create("first", engines("opening"), 60_000)
        yield* bucket.create("second", engines("opening"), 60_000)
        yield* eventually(isOpening)

        const askedAtMs = yield* Clock.currentTimeMillis
        const refused = yield* planned
        assert.isBelow((yield* Clock.currentTimeMillis) - askedAtMs, 1_000)
        if (Result.isSuccess(refused)) return assert.fail("it was planned")
        assert.deepInclude(refused.failure, { status: 503, code: "service_unavailable" })
        assert.deepInclude(refused.failure.headers, { "retry-after": "3" })

        const waiting = yield* Effect.forkScoped(planned)
        yield* bucket.update("first", engines("ready"), revision, 60_000)
        yield* eventually(isOpening, { is: (still) => !still })
        assert.isTrue(Result.isSuccess(yield* planned))
        yield* Fiber.join(waiting)
      }).pipe(Effect.scoped, Effect.provide(services))
    )
  )
})
