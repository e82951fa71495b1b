import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Option, type Scope, Stream } from "effect"
import { Kv, Nats, Objects } from "#bus"
import { decodeConfiguration } from "#contracts"
import { Configuration } from "#runtime"
import { Challenges } from "../../../../services/speech-api/voices/Challenges.ts"
import { ClonedVoices, type TakenPlace } from "../../../../services/speech-api/voices/ClonedVoices.ts"
import { Consents } from "../../../../services/speech-api/voices/Consents.ts"
import { type ConsentRecord, VoiceRecord } from "../../../../services/speech-api/voices/records.ts"
import { VoiceFiles } from "../../../../services/speech-api/voices/VoiceFiles.ts"
import { VoiceRemoval } from "../../../../services/speech-api/voices/VoiceRemoval.ts"
import { withBus } from "../../../support/bus.ts"
import { clonedVoice, formFile, keptFile } from "./records.ts"

const voicesMax = 3

const configuration = (section: Readonly<Record<string, unknown>>) => {
  const decoded = decodeConfiguration({ VoiceCloning: { VoicesPerWorkspace: voicesMax, ...section } })
  if (decoded._tag === "Failure") throw new Error(JSON.stringify(decoded.failure))
  return Layer.succeed(Configuration, decoded.success)
}

/** Storage as speech-api has it, on a broker of the test's own. */
const stored = <A, E>(
  test: Effect.Effect<
    A,
    E,
    ClonedVoices | Consents | VoiceFiles | VoiceRemoval | Challenges | Kv | Objects | Nats | Configuration | Scope.Scope
  >,
  section: Readonly<Record<string, unknown>> = {}
) => {
  const kept = Layer.mergeAll(ClonedVoices.layer, Consents.layer, VoiceFiles.layer, Challenges.layer)
  return withBus(() =>
    test.pipe(
      Effect.provide(VoiceRemoval.layer.pipe(Layer.provideMerge(kept), Layer.provideMerge(configuration(section))))
    )
  )
}

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-voices-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const fileWith = (path: string, content: Buffer) => {
  writeFileSync(path, content)
  return formFile({ path, bytes: content.length })
}

const place = (id: string, workspace = "acme") => ({ workspace, id })

const took = Effect.fnUntraced(function* (id: string, workspace = "acme") {
  const taken = yield* (yield* ClonedVoices).take(place(id, workspace))
  if ("_tag" in taken) throw new Error("it is a voice already")
  return taken
})

const filled = Effect.fnUntraced(function* (taken: TakenPlace) {
  const voice = clonedVoice({ id: taken.id, workspace: taken.workspace })
  yield* (yield* ClonedVoices).fill(taken, voice)
  return voice
})

const ids = (workspace: string) =>
  Effect.map(
    Effect.flatMap(ClonedVoices, ({ list }) => list(workspace)),
    (voices) => voices.map(({ id }) => id).toSorted()
  )

const consentOf = (id: string): ConsentRecord => ({
  voiceId: id,
  workspace: "acme",
  fullName: "Ada Lovelace",
  tokenId: "token-1",
  givenAt: "2026-11-20T10:05:00.000Z",
  voiceDeletedAt: null,
  sample: keptFile(),
  method: { _tag: "Declared", email: "ada@example.org" }
})

const consents = Effect.flatMap(Consents, ({ list }) => Stream.runCollect(list()))

describe("the voices of a workspace", () => {
  it.live("are its own: another one neither lists, finds nor removes them", () =>
    stored(
      Effect.gen(function* () {
        const voices = yield* ClonedVoices
        yield* filled(yield* took("one"))
        yield* filled(yield* took("two", "acme.subsidiary"))
        assert.deepStrictEqual(yield* ids("acme"), ["one"])
        assert.deepStrictEqual(yield* ids("acme.subsidiary"), ["two"])
        assert.isTrue(Option.isSome(yield* voices.find("acme", "one")))
        for (const [workspace, id] of [
          ["acme.subsidiary", "one"],
          ["acme", "two"],
          ["acme", "*"],
          [">", "one"],
          ["acme", "nobody"],
          ["acme", "\uD83D"],
          ["acme", "x".repeat(600)]
        ] as const) {
          assert.isTrue(Option.isNone(yield* voices.find(workspace, id)), `${workspace} ${id}`)
          assert.isFalse(yield* voices.leave(place(id, workspace)), `${workspace} ${id}`)
        }
        assert.deepStrictEqual(yield* ids("acme"), ["one"])
      })
    )
  )

  it.live("are not there before they are ready, nor once they leave", () =>
    stored(
      Effect.gen(function* () {
        const voices = yield* ClonedVoices
        const taken = yield* took("one")
        assert.deepStrictEqual(yield* ids("acme"), [])
        assert.isFalse(yield* voices.leave(place("one")))
        yield* filled(taken)
        assert.deepStrictEqual(yield* ids("acme"), ["one"])
        assert.isTrue(yield* voices.leave(place("one")))
        assert.deepStrictEqual(yield* ids("acme"), [])
        assert.isFalse(yield* voices.leave(place("one")), "deleted twice")
        assert.strictEqual((yield* Effect.exit(took("one")))._tag, "Failure", "taken while it leaves")
        yield* voices.forget(place("one"))
        yield* filled(yield* took("one"))
        assert.deepStrictEqual(yield* ids("acme"), ["one"])
      })
    )
  )

  it.live("are never more than they may be, however many are made at once", () =>
    stored(
      Effect.gen(function* () {
        const makeOne = (id: number) =>
          Effect.flatMap(took(`voice-${id}`), filled).pipe(
            Effect.as("made"),
            Effect.catchTag("TooManyVoices", () => Effect.succeed("too many"))
          )
        const outcomes = yield* Effect.all(
          Array.from({ length: 12 }, (_, id) => makeOne(id)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(outcomes.filter((outcome) => outcome === "made").length, voicesMax)
        const [first = ""] = yield* ids("acme")
        assert.strictEqual((yield* ids("acme")).length, voicesMax)

        yield* (yield* VoiceRemoval).remove(place(first))
        assert.strictEqual(yield* makeOne(99), "made")
        assert.strictEqual(yield* makeOne(100), "too many")
        // Whose place was refused left nothing behind.
        const bucket = yield* (yield* Kv).open("voices", VoiceRecord)
        assert.strictEqual((yield* Stream.runCollect(bucket.scan(">"))).length, voicesMax)
      })
    )
  )

  it.live("are given to a create that comes again as they are", () =>
    stored(
      Effect.gen(function* () {
        const voices = yield* ClonedVoices
        const cutOff = yield* took("one")
        const again = yield* took("one")
        assert.strictEqual((yield* Effect.exit(filled(cutOff)))._tag, "Failure", "the first is fenced off")
        yield* (yield* VoiceRemoval).giveUp(cutOff)
        const voice = yield* filled(again)
        assert.deepStrictEqual(yield* voices.take(place("one")), voice)
      })
    )
  )
})

describe("the removal of a voice", () => {
  const written = Effect.fnUntraced(function* (taken: TakenPlace, path: string) {
    const files = yield* VoiceFiles
    yield* files.keep(taken, "sample", fileWith(join(path, "sample"), Buffer.alloc(300_000, 1)), "audio/wav")
    yield* files.keep(taken, "avatar", fileWith(join(path, "avatar"), Buffer.alloc(3_000, 2)), "image/png")
    return yield* files.keep(taken, "consent", fileWith(join(path, "consent"), Buffer.alloc(200_000, 3)), "audio/wav")
  })
  const isKept = (store: string, name: string) =>
    Effect.map(
      Effect.flatMap(Objects, ({ info }) => info(store, name)),
      Option.isSome
    )
  const state = Effect.gen(function* () {
    return {
      sample: yield* isKept("voice-samples", "acme.one.sample"),
      avatar: yield* isKept("voice-samples", "acme.one.avatar"),
      recording: yield* isKept("consent-recordings", "acme.one.consent")
    }
  })

  it.live("takes its sample and its picture with it, and keeps the consent and its recording", () =>
    stored(
      Effect.gen(function* () {
        const taken = yield* took("one")
        const recording = yield* written(taken, yield* folder)
        yield* (yield* Consents).keep(consentOf("one"))
        yield* filled(taken)
        assert.deepStrictEqual(yield* state, { sample: true, avatar: true, recording: true })
        const removal = yield* VoiceRemoval
        assert.isTrue(yield* removal.remove(place("one")))
        assert.isFalse(yield* removal.remove(place("one")))
        assert.deepStrictEqual(yield* state, { sample: false, avatar: false, recording: true })
        const [consent] = yield* consents
        assert.isNotNull(consent?.voiceDeletedAt)
        const bytes = Buffer.concat(yield* Stream.runCollect((yield* VoiceFiles).read(recording)))
        assert.isTrue(bytes.equals(Buffer.alloc(200_000, 3)))
      })
    )
  )

  it.live("of one that did not come to be leaves nothing at all", () =>
    stored(
      Effect.gen(function* () {
        const taken = yield* took("one")
        yield* written(taken, yield* folder)
        yield* (yield* VoiceRemoval).giveUp(taken)
        assert.deepStrictEqual(yield* state, { sample: false, avatar: false, recording: false })
        assert.deepStrictEqual(yield* consents, [])
      })
    )
  )

  it.live("is finished by the sweep when its process died at any step, and nothing that lives is touched", () =>
    stored(
      Effect.gen(function* () {
        const bucket = yield* (yield* Kv).open("voices", VoiceRecord)
        const longAgo = "2020-01-01T00:00:00.000Z"
        const path = yield* folder
        const removal = yield* VoiceRemoval

        // Died while it was made: before its consent, and after it.
        const dead = yield* took("one")
        yield* written(dead, path)
        yield* bucket.update(dead.key, { _tag: "Making", ...place("one"), changedAt: longAgo }, dead.revision)
        // Died while it was deleted.
        yield* (yield* Consents).keep(consentOf("two"))
        yield* bucket.create("acme.two", { _tag: "Leaving", ...place("two"), changedAt: longAgo })
        // Lives: one being made now, one that is ready.
        const young = yield* took("three")
        yield* bucket.create("other.four", clonedVoice({ id: "four", workspace: "other", changedAt: longAgo }))

        assert.strictEqual(yield* removal.sweep, 2)
        assert.deepStrictEqual(yield* state, { sample: false, avatar: false, recording: false })
        const [consent, ...others] = yield* consents
        assert.isEmpty(others)
        assert.isNotNull(consent?.voiceDeletedAt)
        const left = yield* Stream.runCollect(bucket.scan(">"))
        assert.deepStrictEqual(left.map(({ value }) => value.id).toSorted(), ["four", "three"])
        yield* filled(young)
        assert.strictEqual(yield* removal.sweep, 0)
      })
    )
  )

  it.live("finds the parts of an object whose writer died before it had a name", () =>
    stored(
      Effect.gen(function* () {
        const objects = yield* Objects
        const nats = yield* Nats
        yield* (yield* VoiceFiles).keep(
          yield* took("one"),
          "sample",
          fileWith(join(yield* folder, "sample"), Buffer.alloc(300_000, 1)),
          "audio/wav"
        )
        yield* nats.use("leave a part behind", ({ jetstream }) =>
          jetstream.publish("$O.voice-samples.C.orphan", Buffer.alloc(1_000))
        )
        assert.strictEqual(yield* objects.removeUnfinished("voice-samples", 60_000), 0, "it may still be written")
        assert.strictEqual(yield* objects.removeUnfinished("voice-samples", 0), 1)
        assert.strictEqual(yield* objects.removeUnfinished("voice-samples", 0), 0)
        const whole = yield* Stream.runCollect(objects.get("voice-samples", "acme.one.sample"))
        assert.strictEqual(Buffer.concat(whole).length, 300_000)
      })
    )
  )
})

describe("a challenge", () => {
  const ask = (workspace: string) =>
    Effect.flatMap(Challenges, ({ make }) => make({ workspace, tokenId: "token-1", fullName: "Ada Lovelace" }))
  const reasonOf = <A, E>(use: Effect.Effect<A, E>) =>
    Effect.map(Effect.flip(use), (error) => (error as { readonly reason?: string }).reason)

  it.live("is used by one of many creates at once, and found in its own workspace only", () =>
    stored(
      Effect.gen(function* () {
        const challenges = yield* Challenges
        const { challenge } = yield* ask("acme")
        assert.strictEqual(yield* reasonOf(challenges.use("other", challenge.id, null)), "not_found")
        assert.strictEqual(yield* reasonOf(challenges.use("acme", "nobody", null)), "not_found")
        const uses = yield* Effect.all(
          Array.from({ length: 16 }, () => Effect.exit(challenges.use("acme", challenge.id, null))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(uses.filter((exit) => exit._tag === "Success").length, 1)
        assert.strictEqual(yield* reasonOf(challenges.use("acme", challenge.id, null)), "already_used")
      })
    )
  )

  it.live("is for the same voice when the very create that used it comes again", () =>
    stored(
      Effect.gen(function* () {
        const challenges = yield* Challenges
        const { challenge } = yield* ask("acme")
        const first = yield* challenges.use("acme", challenge.id, "create-1")
        const again = yield* challenges.use("acme", challenge.id, "create-1")
        assert.strictEqual(again.voiceId, first.voiceId)
        assert.strictEqual(yield* reasonOf(challenges.use("acme", challenge.id, "create-2")), "already_used")
      })
    )
  )

  it.live("is given so many times in an hour to each workspace, and expires", () =>
    stored(
      Effect.gen(function* () {
        const challenges = yield* Challenges
        const remaining: Array<number> = []
        for (let count = 0; count < 3; count++) remaining.push((yield* ask("acme")).taken.remaining)
        assert.deepStrictEqual(remaining, [2, 1, 0])
        const refused = yield* Effect.flip(ask("acme"))
        assert.strictEqual(refused._tag, "ChallengesUsedUp")
        const { challenge } = yield* ask("other")
        const nowMs = yield* Clock.currentTimeMillis
        yield* Effect.sleep(Date.parse(challenge.expiresAt) - nowMs + 1)
        assert.strictEqual(yield* reasonOf(challenges.use("other", challenge.id, null)), "expired")
      }),
      { ChallengesPerHour: 3, ChallengeMinutes: 0.01 }
    )
  )
})
