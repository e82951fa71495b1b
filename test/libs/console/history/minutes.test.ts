import { assert, describe, it } from "@effect/vitest"
import type { Exposition, Reading } from "../../../../libs/console/readings/readings.ts"
import { parseExposition } from "../../../../libs/console/readings/readings.ts"
import { minutes } from "../../../../libs/console/history/minutes.ts"
import { sources } from "../../../../libs/console/history/sources.ts"
import { readFileSync } from "node:fs"

const startMs = 600_000_000

interface Shown {
  readonly started?: number
  readonly ok?: number
  readonly failed?: number
  readonly quick?: number
  readonly slow?: number
}

/** A dispatcher that has attempted so many deliveries to one endpoint. */
const dispatcher = ({ started = 1, ok = 0, failed = 0, quick = 0, slow = 0 }: Shown): Exposition =>
  parseExposition(
    [
      `process_start_time_seconds ${started}`,
      `bus_connected{role="webhook-dispatcher"} 1`,
      `webhook_attempts_total{endpoint="shop",status_class="2xx"} ${ok}`,
      `webhook_attempts_total{endpoint="shop",status_class="5xx"} ${failed}`,
      `webhook_receiver_seconds_bucket{endpoint="shop",le="0.1"} ${quick}`,
      `webhook_receiver_seconds_bucket{endpoint="shop",le="1"} ${quick + slow}`,
      `webhook_receiver_seconds_bucket{endpoint="shop",le="+Inf"} ${quick + slow}`
    ].join("\n")
  )

const at = (seconds: number, ...shown: ReadonlyArray<Shown | undefined>): Reading => ({
  atMs: startMs + seconds * 1_000,
  targets: new Map(shown.map((one, index) => [String(index), one === undefined ? undefined : dispatcher(one)]))
})

const closed = (...readings: ReadonlyArray<Reading>) => {
  const counting = minutes()
  return readings
    .flatMap((reading) => counting.add(reading))
    .map(({ number, seconds, used }) => ({
      minute: number - startMs / 60_000,
      seconds,
      shop: used.get("endpoint/shop")?.calls ?? 0,
      failed: used.get("endpoint/shop")?.failed ?? 0
    }))
}

describe("what was counted in a minute", () => {
  it("is the increase over all processes, with quantiles of what was timed", () => {
    const counting = minutes()
    counting.add(at(0, { ok: 100, quick: 50 }, {}))
    counting.add(at(30, { ok: 104, failed: 1, quick: 50 }, { ok: 5, quick: 10 }))
    const [minute] = counting.add(at(61, { ok: 110, failed: 1, quick: 50 }, { ok: 6, quick: 10, slow: 10 }))
    assert.deepInclude(minute, { number: startMs / 60_000, seconds: 61 })
    const shop = minute?.used.get("endpoint/shop")
    assert.deepInclude(shop, { calls: 17, failed: 1 })
    assert.closeTo(shop?.p50Ms ?? 0, 100, 1e-6)
    assert.closeTo(shop?.p95Ms ?? 0, 910, 1e-6)
    assert.deepInclude(minute?.used.get("role/webhook-dispatcher"), { calls: 17, failed: 1 })
  })

  it.each<readonly [what: string, readings: ReadonlyArray<Reading>, calls: number]>([
    [
      "a process that restarts loses nothing that was read",
      [at(0, { ok: 10 }), at(30, { ok: 14 }), at(35, { started: 600_031, ok: 3 }), at(60, { started: 600_031, ok: 5 })],
      9
    ],
    [
      "a process that was started long ago has counted before",
      [at(0, { ok: 10 }), at(30, { ok: 10 }, { ok: 900 }), at(60, { ok: 10 }, { ok: 901 })],
      1
    ],
    ["a process that is silent for a moment goes on", [at(0, { ok: 10 }), at(30, undefined), at(60, { ok: 25 })], 15],
    ["a process that leaves is counted as far as it was read", [at(0, { ok: 10 }), at(30, { ok: 12 }), at(60)], 2]
  ])("%s", (_, readings, calls) => {
    assert.deepStrictEqual(closed(...readings), [{ minute: 0, seconds: 60, shop: calls, failed: 0 }])
  })

  it("begins anew with a process that was silent for more than a minute", () => {
    const readings = [
      at(0, { ok: 10 }),
      at(61, undefined),
      at(122, undefined),
      at(183, { ok: 999 }),
      at(243, { ok: 1_000 })
    ]
    assert.deepStrictEqual(
      closed(...readings).map(({ shop }) => shop),
      [0, 0, 0, 1]
    )
  })

  it("ends at a gap, and nothing of the gap belongs to any minute", () => {
    const readings = [at(0, { ok: 10 }), at(30, { ok: 14 }), at(400, { ok: 500 }), at(420, { ok: 501 })]
    assert.deepStrictEqual(closed(...readings), [
      { minute: 0, seconds: 30, shop: 4, failed: 0 },
      { minute: 6, seconds: 20, shop: 1, failed: 0 }
    ])
  })

  it("takes a reading that it has seen once", () => {
    const counting = minutes()
    counting.add(at(0, { ok: 1 }))
    assert.deepStrictEqual(counting.add(at(0, { ok: 1 })), [])
  })

  it("can be looked at before it is over", () => {
    const counting = minutes()
    counting.add(at(0, { ok: 1 }))
    assert.isUndefined(counting.present())
    counting.add(at(10, { ok: 3 }))
    assert.strictEqual(counting.present()?.used.get("endpoint/shop")?.calls, 2)
  })

  it("knows who could not be seen", () => {
    const counting = minutes()
    counting.add(at(0, { ok: 1 }))
    const [minute] = counting.add(at(60, { ok: 1 }))
    assert.isTrue(minute?.isSeen("endpoint/shop"))
    assert.isTrue(minute?.isSeen("role/webhook-dispatcher"))
    assert.isFalse(minute?.isSeen("provider/a"))
    assert.isFalse(minute?.isSeen("role/speech-api"))
  })
})

describe("the table of sources", () => {
  const page = readFileSync(new URL("../../../../docs/metrics.md", import.meta.url), "utf8")
  it("names metrics that exist", () => {
    for (const { calls, failed, seconds } of sources) {
      for (const { metric } of [calls, ...failed, seconds])
        assert.include(page, `\`${metric.replace(/_count$/u, "")}\``)
    }
  })
})
