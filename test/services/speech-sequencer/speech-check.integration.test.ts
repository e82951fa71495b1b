/** Sequencer and synthesizer on a real bus: a word is spoken while there is who speaks it, and by what way it goes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Nats } from "#bus"
import { Configuration } from "#configuration"
import { Drain, Environment, Health, Metrics } from "#runtime"
import { speechSequencer } from "../../../services/speech-sequencer/role.ts"
import { speechSynthesizer } from "../../../services/speech-synthesizer/role.ts"
import { withBus } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"

const settings = Layer.mergeAll(Configuration.layerOf({}), Layer.succeed(Environment, {}), Drain.layer)

const spokenIs = (expected: RegExp) =>
  eventually(
    Effect.flatMap(Health, ({ ready }) => Effect.map(ready, ({ checks }) => checks["speech fleet"] ?? "")),
    { is: (text) => expected.test(text), withinMs: 30_000 }
  )

describe("a sequencer", () => {
  it.live("says whether a word is spoken: without synthesizers, with one, and without the stream between them", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* Layer.build(speechSequencer)
        yield* spokenIs(/^no synthesizer spoke a word with (?:espeak|flite) within 3000 ms$/u)
        assert.match(yield* (yield* Metrics).text, /^check_failing\{.*check="speech",subject="".*\} 1$/mu)
        yield* Layer.build(speechSynthesizer)
        yield* spokenIs(/^ok$/u)
        yield* (yield* Nats).use("lose it", ({ manager }) => manager.streams.delete("SPEECH"))
        yield* spokenIs(/no stream takes this subject/u)
      }).pipe(Effect.provide(settings))
    )
  )
})
