import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Delivery } from "#webhooks/contract"
import { secretSeal } from "#webhooks"
import { decideCreation } from "../../../../libs/webhooks/endpoints/changes.ts"
import {
  type EndpointSettings,
  isMadeAgain,
  isOf,
  settingsOfRecord
} from "../../../../services/webhook-dispatcher/endpoints/settings.ts"

const endpoint = (formersLast?: number) =>
  ({ madeAtRunTime: formersLast === undefined ? null : { formersLast } }) as EndpointSettings
const delivery = (sequence: number, more: Partial<Delivery> = {}) => ({ sequence, ...more }) as Delivery

describe("a delivery of an endpoint that was made again under its name", () => {
  it.each([
    ["is the present one's, of an event after the former's last", endpoint(7), delivery(8), true],
    ["is the former's, of its last event", endpoint(7), delivery(7), false],
    ["is the present one's, when it is a test", endpoint(7), delivery(0, { isTest: true }), true],
    ["is the former's, when it is marked as no test", endpoint(7), delivery(0, { isTest: false }), false],
    ["is the present one's, when it is sent again", endpoint(7), delivery(3, { redriveOf: "an id" }), true],
    ["is the one that is configured, whatever its event", endpoint(), delivery(0), true]
  ] as const)("%s", (_, of, given, isPresent) => {
    assert.strictEqual(isOf(of, given), isPresent)
  })

  it("is told by what the former has had last", () => {
    assert.isTrue(isMadeAgain(endpoint(7), endpoint(8)))
    assert.isTrue(isMadeAgain(endpoint(), endpoint(8)))
    assert.isFalse(isMadeAgain(endpoint(7), endpoint(7)))
    assert.isFalse(isMadeAgain(endpoint(), endpoint()))
  })
})

describe("the settings of an endpoint made at run time", () => {
  const seal = secretSeal("a key of this test")
  const act = { at: "2026-11-23T12:00:00.000Z", by: "tester" }
  const given = {
    settings: { Name: "a", Url: "https://receiver.example/", Headers: { "X-Long": "sesame", "X-Short": "open?" } },
    secret: "first-secret-of-16",
    standardWebhooksSecret: `whsec_${Buffer.alloc(24, 7).toString("base64")}`
  }
  const { record } = Result.getOrThrow(decideCreation(undefined, given, { seal, act, startsAfter: 7 }))

  it("hide its secrets in what its receiver answers, and no text of fewer than six characters", () => {
    const { madeAtRunTime, secrets, standardWebhooksKeys } = Result.getOrThrow(
      settingsOfRecord(record, { retryAfterMsMax: 60_000 }, seal)
    )
    const echo = `${given.secret} ${given.standardWebhooksSecret} sesame open? and sesame`
    assert.strictEqual(madeAtRunTime?.redact(echo), "<redacted> <redacted> <redacted> open? and <redacted>")
    assert.deepStrictEqual(secrets, [{ key: given.secret, notAfterMs: null }])
    assert.deepStrictEqual(
      [...(standardWebhooksKeys[0]?.key ?? [])],
      Array.from({ length: 24 }, () => 7)
    )
  })

  it("begin after what a removed endpoint of its name has had, unless they continue with it", () => {
    const read = (changes: object) =>
      Result.getOrThrow(settingsOfRecord({ ...record, ...changes }, { retryAfterMsMax: 60_000 }, seal)).madeAtRunTime
    assert.deepInclude(read({}), { isEnabled: true, startsAfter: 7, formersLast: 7 })
    assert.deepInclude(read({ goesOn: true, isEnabled: false }), { isEnabled: false, startsAfter: 7, formersLast: 0 })
  })

  it("cannot be read by another key, and say each place that cannot", () => {
    const read = settingsOfRecord(record, { retryAfterMsMax: 60_000 }, secretSeal("another key of this test"))
    assert.deepStrictEqual(Result.isFailure(read) ? read.failure.map(({ path }) => path) : [], [
      "/Headers",
      "/Secret",
      "/StandardWebhooksSecret"
    ])
  })
})
