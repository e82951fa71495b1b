/** The synthesizer with a model that cannot be opened, on a real bus, and a speech API that is to hear of it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Consumers, Kv, Mailbox } from "#bus"
import { SynthesizerEngines } from "#speech/contract"
import { Configuration } from "#configuration"
import { Drain, Environment, Health, Metrics } from "#runtime"
import { fleetCatalogue, SilentEngines } from "#speech"
import { announcedEngines } from "../../../services/speech-api/voices/speakable.ts"
import { speechSynthesizer } from "../../../services/speech-synthesizer/role.ts"
import { withBus } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"

/** The voices that come with Starling, but what should be a model is none. */
const brokenVoices = Effect.acquireRelease(
  Effect.sync(() => {
    const path = mkdtempSync(join(tmpdir(), "starling-test-"))
    mkdirSync(join(path, "hibari-0.2.1"))
    writeFileSync(join(path, "hibari-0.2.1", "hibari.onnx"), "no model")
    return path
  }),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const idsOf = Effect.map(
  Effect.flatMap(Configuration, ({ Voices }) => fleetCatalogue(Voices)),
  ({ voices }) => voices.map(({ id }) => id)
)

describe("a synthesizer whose first voice cannot be opened", () => {
  it.live("says so in its record, its metrics and its health; the next best voice is the first", () =>
    withBus(() =>
      Effect.gen(function* () {
        const environment = { STARLING_VOICES: yield* brokenVoices }
        const settings = Layer.mergeAll(Configuration.layerOf({}), Layer.succeed(Environment, environment), Drain.layer)
        yield* Effect.gen(function* () {
          const before = yield* idsOf
          assert.strictEqual(before[0], "heart")
          yield* Layer.build(speechSynthesizer)
          const isSilent = yield* SilentEngines
          yield* eventually(() => isSilent().has("model-hibari"))

          const after = yield* idsOf
          assert.deepStrictEqual(after, before.slice(1))
          assert.strictEqual(after[0], "selma")
          const bucket = yield* (yield* Kv).open("speech-engines", SynthesizerEngines)
          const record = yield* bucket.get((yield* Mailbox).instance)
          assert.match(JSON.stringify(Option.getOrUndefined(record)?.value), /"failed".*hibari\.onnx is no ONNX model/u)
          const { ready } = yield* Health
          yield* eventually(ready, {
            is: ({ checks }) => /cannot speak: .*no ONNX model/u.test(checks["speech model-hibari"] ?? "")
          })
          const text = yield* (yield* Metrics).text
          assert.match(text, /^speech_engine_usable\{.*engine="model-hibari".*\} 0$/mu)
          yield* eventually((yield* Consumers).names("SPEECH"), { is: (names) => names.includes("synthesizer-espeak") })
        }).pipe(Effect.provide(announcedEngines.pipe(Layer.provideMerge(settings))))
      })
    )
  )
})
