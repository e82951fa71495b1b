/** The engines of this process. One that the host lacks is named and left out; without any the role cannot run. */
import { Context, Effect, Layer } from "effect"
import { Configuration } from "#runtime"
import { type Engine_, EngineMissing, openEspeakPool, openFlitePool } from "#speech"

export class Engines extends Context.Service<Engines, ReadonlyMap<string, Engine_>>()(
  "starling/speech-synthesizer/Engines"
) {
  static readonly layer = Layer.effect(
    Engines,
    Effect.gen(function* () {
      const { SpeechSynthesizer } = yield* Configuration
      const threads = SpeechSynthesizer.Threads
      const open = yield* Effect.forEach([openEspeakPool({ threads }), openFlitePool()], (opening) =>
        opening.pipe(
          Effect.map((engine) => [engine]),
          Effect.catchTag("EngineMissing", (error) => Effect.as(Effect.logWarning(error.message), []))
        )
      )
      const engines = open.flat()
      if (engines.length > 0) return Engines.of(new Map(engines.map((engine) => [engine.name, engine])))
      const packages = "libespeak-ng1 and espeak-ng-data, or libflite1"
      return yield* new EngineMissing({ engine: "any", packages, detail: "none could be loaded" })
    })
  )
}
