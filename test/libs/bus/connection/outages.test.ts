import { assert, describe, it } from "@effect/vitest"
import { type BusError, BusNotFound, BusRefused, BusUnavailable, RevisionConflict, StreamFull } from "#bus"
import { isOutage, makeOutages, type Outages } from "../../../../libs/bus/connection/outages.ts"

const failed = (outages: Outages, sinceMs: number, nowMs: number, stream = "LOG") =>
  outages.failed({ use: "write", stream, reason: "no answer", sinceMs, nowMs })
const at = (outages: Outages, nowMs: number) => outages.at(nowMs).map(({ use, stream }) => `${use} ${stream}`)

describe("an outage of a stream", () => {
  it("begins when attempts have failed for eight seconds, and ends with one that works", () => {
    const outages = makeOutages()
    failed(outages, 0, 5_000)
    assert.deepStrictEqual(at(outages, 12_000), [], "a single failure is none, however long ago")
    failed(outages, 7_000, 12_000)
    assert.deepStrictEqual(at(outages, 12_000), ["write LOG"])
    outages.worked("read", "LOG")
    outages.worked("write", "EVENTS")
    assert.deepStrictEqual(at(outages, 12_000), ["write LOG"])
    outages.worked("write", "LOG")
    assert.deepStrictEqual(at(outages, 12_000), [])
    assert.isTrue(outages.isNone())
  })

  it("is none when failures have another between them that worked", () => {
    const outages = makeOutages()
    failed(outages, 0, 5_000)
    outages.worked("write", "LOG")
    failed(outages, 8_000, 13_000)
    assert.deepStrictEqual(at(outages, 13_000), [])
  })

  it("is forgotten half a minute after the last failure, and with a new connection", () => {
    const outages = makeOutages()
    for (const nowMs of [5_000, 10_000]) failed(outages, 0, nowMs)
    failed(outages, 0, 10_000, "EVENTS")
    assert.deepStrictEqual(at(outages, 39_999), ["write LOG", "write EVENTS"])
    assert.deepStrictEqual(at(outages, 40_000), [])
    failed(outages, 40_000, 45_000)
    assert.deepStrictEqual(at(outages, 45_000), [], "the failures before are no part of it")
    failed(outages, 50_000, 55_000)
    outages.forget()
    assert.deepStrictEqual(at(outages, 55_000), [])
  })

  it.each([
    [new BusUnavailable({ operation: "publish", detail: "no answer within 5000 ms" }), true],
    [new BusUnavailable({ operation: "publish", detail: "no stream takes this subject" }), true],
    [new BusNotFound({ operation: "consume", detail: "stream not found" }), true],
    [new StreamFull({ operation: "publish", detail: "insufficient storage resources available" }), true],
    [new StreamFull({ operation: "publish", detail: "maximum bytes exceeded" }), false],
    [new RevisionConflict({ operation: "update", detail: "wrong last sequence" }), false],
    [new BusRefused({ operation: "publish", detail: "not allowed", code: 0 }), false]
  ] as ReadonlyArray<readonly [BusError, boolean]>)("$0.message: $1", (error, is) => {
    assert.strictEqual(isOutage(error), is)
  })
})
