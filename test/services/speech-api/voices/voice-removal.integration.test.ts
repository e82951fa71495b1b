import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { Kv, Nats, Objects } from "#bus"
import type { Reservation } from "../../../../services/speech-api/voices/ClonedVoices.ts"
import { Consents } from "../../../../services/speech-api/voices/Consents.ts"
import { VoiceRecord } from "../../../../services/speech-api/voices/records.ts"
import { VoiceFiles } from "../../../../services/speech-api/voices/VoiceFiles.ts"
import { VoiceRemoval } from "../../../../services/speech-api/voices/VoiceRemoval.ts"
import { clonedVoice } from "./records.ts"
import { address, completed, consentOf, consents, fileWith, folder, reserved, stored } from "./voice-storage.ts"

describe("the removal of a voice", () => {
  const written = Effect.fnUntraced(function* (reservation: Reservation, path: string) {
    const files = yield* VoiceFiles
    yield* files.keep(reservation, "sample", fileWith(join(path, "sample"), Buffer.alloc(300_000, 1)), "audio/wav")
    yield* files.keep(reservation, "avatar", fileWith(join(path, "avatar"), Buffer.alloc(3_000, 2)), "image/png")
    return yield* files.keep(
      reservation,
      "consent",
      fileWith(join(path, "consent"), Buffer.alloc(200_000, 3)),
      "audio/wav"
    )
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

  it.live("deletes its sample and its picture, and keeps the consent and its recording", () =>
    stored(
      Effect.gen(function* () {
        const reservation = yield* reserved("one")
        const recording = yield* written(reservation, yield* folder)
        yield* (yield* Consents).keep(consentOf("one"))
        yield* completed(reservation)
        assert.deepStrictEqual(yield* state, { sample: true, avatar: true, recording: true })
        const removal = yield* VoiceRemoval
        assert.isTrue(yield* removal.remove(address("one")))
        assert.isFalse(yield* removal.remove(address("one")))
        assert.deepStrictEqual(yield* state, { sample: false, avatar: false, recording: true })
        const [consent] = yield* consents
        assert.isNotNull(consent?.voiceDeletedAt)
        const bytes = Buffer.concat(yield* Stream.runCollect((yield* VoiceFiles).read(recording)))
        assert.isTrue(bytes.equals(Buffer.alloc(200_000, 3)))
      })
    )
  )

  it.live("that was never completed leaves nothing at all", () =>
    stored(
      Effect.gen(function* () {
        const reservation = yield* reserved("one")
        yield* written(reservation, yield* folder)
        yield* (yield* VoiceRemoval).giveUp(reservation)
        assert.deepStrictEqual(yield* state, { sample: false, avatar: false, recording: false })
        assert.deepStrictEqual(yield* consents, [])
      })
    )
  )

  it.live("is finished by the sweep when its process died at any step, and no live voice is touched", () =>
    stored(
      Effect.gen(function* () {
        const bucket = yield* (yield* Kv).open("voices", VoiceRecord)
        const longAgo = "2020-01-01T00:00:00.000Z"
        const path = yield* folder
        const removal = yield* VoiceRemoval

        // Died while it was made: before its consent, and after it.
        const dead = yield* reserved("one")
        yield* written(dead, path)
        yield* bucket.update(dead.key, { _tag: "Making", ...address("one"), changedAt: longAgo }, dead.revision)
        // Died while it was deleted.
        yield* (yield* Consents).keep(consentOf("two"))
        yield* bucket.create("acme.two", { _tag: "Leaving", ...address("two"), changedAt: longAgo })
        // Lives: one being made now, one that is ready.
        const young = yield* reserved("three")
        yield* bucket.create("other.four", clonedVoice({ id: "four", workspace: "other", changedAt: longAgo }))

        assert.strictEqual(yield* removal.sweep, 2)
        assert.deepStrictEqual(yield* state, { sample: false, avatar: false, recording: false })
        const [consent, ...others] = yield* consents
        assert.isEmpty(others)
        assert.isNotNull(consent?.voiceDeletedAt)
        const left = yield* Stream.runCollect(bucket.scan(">"))
        assert.deepStrictEqual(left.map(({ value }) => value.id).toSorted(), ["four", "three"])
        yield* completed(young)
        assert.strictEqual(yield* removal.sweep, 0)
      })
    )
  )

  it.live("finds the parts of an object whose writer died before naming it", () =>
    stored(
      Effect.gen(function* () {
        const objects = yield* Objects
        const nats = yield* Nats
        yield* (yield* VoiceFiles).keep(
          yield* reserved("one"),
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
