import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { figuresPublished } from "../../../../services/speech-api/figures.ts"
import { Speech } from "../../../../services/speech-api/speaking/Speech.ts"
import { SpeechSessions } from "../../../../services/speech-api/speaking/SpeechSessions.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { commandsHere, objectsIn } from "../../../support/command.ts"
import { type Json, withConsole } from "../../../support/console.ts"

/** A speech-api with seven sessions, which has brought three callers their first byte. */
const speaking = Layer.fresh(figuresPublished).pipe(
  Layer.provide(
    Layer.mergeAll(
      Layer.succeed(SpeechSessions, { active: () => 7 } as never),
      Layer.succeed(Speech, {
        recent: () => ({ firstBytes: 3, firstByteMedianMs: 12, firstByteP95Ms: 40, underruns: 1 })
      } as never)
    )
  )
)

describe("speech on the console", () => {
  it.live("is who speaks now, how soon that is heard, and the voices with their languages and engines", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        assert.deepStrictEqual((yield* call("GET /speech")).body, { sessions: 0, processes: [], voices: [] })
        yield* Layer.build(speaking)
        const listed = (body: Json, name: string) => body[name] as ReadonlyArray<Json>
        yield* eventually(call("GET /speech"), { is: ({ body }) => listed(body, "processes").length === 1 })

        const { body } = yield* call("GET /speech")
        assert.strictEqual(body["sessions"], 7)
        const [process] = listed(body, "processes")
        assert.include(process, { sessions: 7, firstBytes: 3, firstByteMedianMs: 12, firstByteP95Ms: 40, underruns: 1 })
        const selma = listed(body, "voices").find(({ id }) => id === "selma")
        assert.deepInclude(selma, { locale: "en-US", languages: ["en-US"], engine: "flite", hasPreview: true })
        const jonas = listed(body, "voices").find(({ id }) => id === "jonas")
        assert.deepInclude(jonas, { locale: "de-DE", engine: "espeak" })
      })
    )
  )

  it.live("is shown by a command as two tables, or as the console answered", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const { run } = yield* commandsHere
        const none = yield* run(["speech"])
        assert.deepStrictEqual([none.code, none.out], [0, ""])
        assert.include(none.error, "no process serves speech at the moment")
        yield* Layer.build(speaking)
        const processes = Effect.map(call("GET /speech"), ({ body }) => body["processes"] as ReadonlyArray<Json>)
        yield* eventually(processes, { is: ({ length }) => length === 1 })

        const { out } = yield* run(["speech"])
        assert.match(out, /^process +started +speaking +at most/u)
        assert.match(out, /\n\S+ +\S+ +7 +\d+ +3 +12 +40 +1\n/u)
        assert.match(out, /\nselma +\S+ +\S+ +en-US +en-US +flite/u)
        const [whole] = objectsIn(yield* run(["speech", "--json"]))
        assert.deepStrictEqual(whole, (yield* call("GET /speech")).body)
      })
    )
  )
})
