/** Certificates as openssl makes them, looked at on later days. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { checkCertificate, Health, Metrics } from "#runtime"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { type Authority, newAuthority, type Signed } from "../../support/certificates.ts"
import { later } from "../../support/clock.ts"

let authority: Authority
let role: Signed
beforeAll(() => {
  authority = newAuthority()
  role = authority.sign("sweeper")
})
afterAll(() => authority.remove())

const dayMs = 86_400_000
const runtime = Layer.mergeAll(Health.layer, Metrics.layerTest)

const shown = (file: string, expected: RegExp) =>
  Effect.gen(function* () {
    const { ready } = yield* Health
    yield* eventually(ready, { is: ({ checks }) => expected.test(checks[`certificate ${file}`] ?? "") })
  })

const secondsLeft = Effect.map(
  Effect.flatMap(Metrics, ({ text }) => text),
  (text) => /^certificate_ends_in_seconds\{.*\} (.*)$/mu.exec(text)?.[1]
)

describe("a certificate of two days", () => {
  it.live.each([
    ["today", 0, /^ok$/u],
    ["on its last half day", 1.7 * dayMs, /^it ends in 0 days, at /u],
    ["the day after", 3 * dayMs, /^it ended at /u]
  ] as const)("looked at %s", ([, byMs, expected]) =>
    Effect.gen(function* () {
      yield* checkCertificate(role.certificate, "chain")
      const left = yield* eventually(secondsLeft, { is: (text) => text !== undefined })
      assert.closeTo(Number(left), (2 * dayMs - byMs) / 1_000, 120)
      yield* shown(role.certificate, expected)
    }).pipe(Effect.scoped, later(byMs), Effect.provide(runtime))
  )

  it.live("is named where a file has none, or is gone", () =>
    Effect.gen(function* () {
      yield* checkCertificate(role.key, "chain")
      yield* shown(role.key, /has no certificate as PEM$/u)
      yield* checkCertificate("/nowhere/tls.crt", "chain")
      yield* shown("/nowhere/tls.crt", /no such file/u)
    }).pipe(Effect.scoped, Effect.provide(runtime))
  )
})
