/**
 * The engines of this process. An embedded engine that the host lacks is logged and left out; without any the role
 * cannot run. A configured zero-shot model must be usable; one that is not stops the start.
 */
import { Context, Effect, Layer } from "effect"
import { embeddedEngines } from "#contracts"
import { Configuration } from "#runtime"
import { embedded, EngineMissing, openZeroShotPool, type SpeechEngine } from "#speech"
import { References } from "./References.ts"

export class Engines extends Context.Service<Engines, ReadonlyMap<string, SpeechEngine>>()(
  "starling/speech-synthesizer/Engines"
) {
  static readonly layer = Layer.effect(
    Engines,
    Effect.gen(function* () {
      const { SpeechSynthesizer, VoiceCloning } = yield* Configuration
      const references = yield* References
      const threads = SpeechSynthesizer.Threads
      const found = yield* Effect.forEach(embeddedEngines, (name) =>
        embedded[name].open({ threads }).pipe(
          Effect.map((engine) => [engine]),
          Effect.catchTag("EngineMissing", (error) => Effect.as(Effect.logWarning(error.message), []))
        )
      )
      if (found.flat().length === 0) {
        const packages = embeddedEngines.map((name) => embedded[name].packages).join(", or ")
        return yield* new EngineMissing({ engine: "any", packages, detail: "none could be loaded" })
      }
      const modelFolder = VoiceCloning.ZeroShotModelFolder
      const zeroShot =
        modelFolder === "" ? [] : [yield* openZeroShotPool({ modelFolder, reference: references.samples })]
      return Engines.of(new Map([...found.flat(), ...zeroShot].map((engine) => [engine.name, engine])))
    })
  )
}
