import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Heard, SpeechFleet } from "../support/speech-fleet.ts"
import { challengeFor, create, onceHeard, type Parts, refusalIn, spokenParts, toldIn } from "../support/voices.ts"
import { fleetWithVoice, idsOf, type Listed, listedIn, voicesMax } from "../support/voices-life.ts"

let fleet: SpeechFleet
beforeAll(async () => {
  ;({ fleet } = await fleetWithVoice())
})
afterAll(() => fleet.stop())

const listed = (query: string) => listedIn(fleet, query)

describe("creates with one idempotency key", () => {
  it("make one voice, however many come at once, and use one challenge", async () => {
    const before = idsOf(await listed("?type=personal"))
    let sent: { readonly parts: Parts; readonly headers: Readonly<Record<string, string>> } = { parts: {}, headers: {} }
    let answers: ReadonlyArray<Heard> = []
    await onceHeard(async () => {
      const parts = await spokenParts(fleet, "alan")
      sent = { parts, headers: { "idempotency-key": crypto.randomUUID() } }
      answers = await Promise.all(Array.from({ length: 6 }, () => create(fleet, sent.parts, sent)))
      return answers.find(({ status }) => status !== 409) as Heard
    })
    const made = answers.filter(({ status }) => status === 201)
    const first = made.filter(({ headers }) => !headers.has("idempotent-replayed"))
    assert.strictEqual(first.length, 1)
    for (const answer of made) assert.deepStrictEqual(answer.body, first[0]?.body)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      assert.strictEqual(refusalIn(answer), "409 idempotency_conflict")
    }
    const { id } = (first[0] as Heard).body as Listed
    assert.sameMembers(idsOf(await listed("?type=personal")), [...before, id])

    const replay = await create(fleet, sent.parts, sent)
    assert.deepStrictEqual([replay.status, replay.body], [201, first[0]?.body])
    assert.strictEqual(replay.headers.get("idempotent-replayed"), "true")
    const byField = await create(fleet, { ...sent.parts, idempotency_key: sent.headers["idempotency-key"] })
    assert.strictEqual(refusalIn(byField), "409 idempotency_conflict", "it is another form")

    // A conflict does not use up the challenge that it names.
    const { id: fresh } = await challengeFor(fleet)
    const conflict = await create(fleet, { ...sent.parts, consent_challenge_id: fresh }, sent)
    assert.strictEqual(refusalIn(conflict), "409 idempotency_conflict")
    assert.strictEqual(refusalIn(await create(fleet, { consent_challenge_id: fresh })), "400 validation_failed")
    assert.strictEqual(
      refusalIn(await create(fleet, { consent_challenge_id: fresh })),
      "409 consent_challenge_already_used"
    )
  })

  it("are refused like all others when the workspace is full", async () => {
    assert.strictEqual((await listed("?type=personal")).length, voicesMax)
    const answer = await create(fleet, await spokenParts(fleet, "alan"))
    assert.strictEqual(refusalIn(answer), "403 too_many_voices")
    assert.deepStrictEqual(toldIn(answer).details, { voices_max: voicesMax })
  })
})
