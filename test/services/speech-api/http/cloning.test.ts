import { assert, describe, it } from "@effect/vitest"
import { isDeclaredFlow, noticeHeaders, refusalAfter } from "../../../../services/speech-api/http/cloning.ts"

describe("the flow without a challenge", () => {
  it.each([
    [true, {}, true],
    [true, { consent: "{}" }, true],
    [true, { consent_challenge_id: "challenge-1" }, false],
    [false, { consent: "{}" }, false],
    [false, {}, false]
  ])("is, for an older caller: %s, with %j: %s", (hasDeclaredConsent, fields, isDeclared) => {
    assert.strictEqual(isDeclaredFlow({ hasDeclaredConsent }, fields), isDeclared)
  })

  it("states since when it is deprecated, when it ends, and its replacement", () => {
    const { deprecation, sunset, link } = noticeHeaders("2027-03-13")
    assert.strictEqual(new Date(Number(deprecation?.slice(1)) * 1_000).toISOString(), "2026-09-13T00:00:00.000Z")
    assert.strictEqual(deprecation?.[0], "@")
    assert.strictEqual(sunset, "Sat, 13 Mar 2027 00:00:00 GMT")
    assert.include(link, 'rel="successor-version"')
  })

  it.each([
    ["2027-03-12T23:59:59.999Z", false],
    ["2027-03-13T00:00:00.000Z", true]
  ])("at %s is over: %s", (now, isOver) => {
    const refusal = refusalAfter("2027-03-13", Date.parse(now))
    assert.strictEqual(refusal?.status, isOver ? 403 : undefined)
    if (isOver) assert.include(refusal?.message, "consent_challenge_id")
  })
})
