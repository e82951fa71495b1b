import { Result } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { sharedVoices } from "#speech"
import { type Flow, readVoiceForm } from "../../../../services/speech-api/voices/form.ts"
import { formFile, usedChallenge } from "./records.ts"

const challenge: Flow = { _tag: "Challenge", used: usedChallenge() }
const declared: Flow = { _tag: "Declared" }
const consent = JSON.stringify({ fullName: "Ada Lovelace", email: "ada@example.org" })
const fields = { name: "Ada", gender: "female", consent_challenge_id: "challenge-1", consent }
const files = { sample: formFile(), consent_recording: formFile({ path: "/tmp/consent" }) }

const read = (
  changes: Readonly<Record<string, string | undefined>> = {},
  flow: Flow = challenge,
  given: Readonly<Record<string, ReturnType<typeof formFile>>> = files
) => {
  const all = Object.entries({ ...fields, ...changes }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]]
  )
  const named = Object.fromEntries(all) as Record<string, string>
  return readVoiceForm({ fields: named, files: given, fingerprint: "" }, flow)
}
const order = (...given: Parameters<typeof read>) => Result.getOrThrow(read(...given))
const faults = (...given: Parameters<typeof read>) => {
  const result = read(...given)
  if (Result.isSuccess(result)) throw new Error("it was taken")
  return result.failure
}

describe("the form of a voice", () => {
  it("is an order for a voice whose speaker has read the phrase", () => {
    const { name, gender, locale, consent, avatar } = order()
    assert.deepStrictEqual(
      { name, gender, locale, avatar },
      { name: "Ada", gender: "female", locale: "en-US", avatar: undefined }
    )
    assert.strictEqual(consent._tag, "Read")
  })

  it("is, in the flow without a challenge, an order with a declared consent", () => {
    const { consent } = order({ consent_challenge_id: undefined }, declared, { sample: formFile() })
    assert.deepStrictEqual(consent, { _tag: "Declared", fullName: "Ada Lovelace", email: "ada@example.org" })
  })

  it.each([
    ["  Ada  ", "Ada"],
    ["x".repeat(100), "x".repeat(100)],
    ["🙂".repeat(100), "🙂".repeat(100)],
    ["Ada's voice, the second", "Ada's voice, the second"]
  ])("accepts the name %j", (given, name) => {
    assert.strictEqual(order({ name: given }).name, name)
  })

  it.each(["", "   ", "x".repeat(101), "a\u0007b", "a\nb", "\u200B"])("refuses a name like %j", (name) => {
    assert.deepStrictEqual(Object.keys(faults({ name })), ["name"])
  })

  it.each([
    ["male", "male"],
    ["not_specified", "not_specified"],
    ["notSpecified", "not_specified"]
  ])("reads the gender %s as %s", (given, gender) => {
    assert.strictEqual(order({ gender: given }).gender, gender)
  })

  it.each(["", "Male", "other", "constructor"])("refuses the gender %j", (gender) => {
    assert.deepStrictEqual(Object.keys(faults({ gender })), ["gender"])
  })

  it("accepts every locale that is a catalogue voice's own, in any case", () => {
    for (const { locale } of sharedVoices) {
      assert.strictEqual(order({ locale }).locale, locale)
      assert.strictEqual(order({ locale: locale.toUpperCase() }).locale, locale)
    }
  })

  it.each(["", "en", "ja-JP", "en_US", "../etc", "__proto__"])("refuses the locale %j", (locale) => {
    assert.deepStrictEqual(Object.keys(faults({ locale })), ["locale"])
  })

  it("reports every missing part at once", () => {
    const nothing = { name: undefined, gender: undefined, consent_challenge_id: undefined, consent: undefined }
    assert.deepStrictEqual(faults(nothing, { _tag: "Challenge", used: undefined }, {}), {
      name: "is missing",
      gender: "is missing",
      sample: "is missing",
      consent_challenge_id: "is missing",
      consent_recording: "is missing"
    })
    assert.deepStrictEqual(Object.keys(faults(nothing, declared, {})), ["name", "gender", "sample", "consent"])
  })

  it.each([
    "Ada",
    "{}",
    "[]",
    "null",
    '{"fullName": "Ada"}',
    '{"fullName": "Ada", "email": "nowhere"}',
    '{"fullName": "", "email": "ada@example.org"}',
    '{"fullName": 7, "email": "ada@example.org"}',
    JSON.stringify({ fullName: "a".repeat(121), email: "ada@example.org" }),
    JSON.stringify({ fullName: "Ada\u0000", email: "ada@example.org" })
  ])("refuses a declaration like %s", (consent) => {
    assert.deepStrictEqual(Object.keys(faults({ consent }, declared)), ["consent"])
  })
})
