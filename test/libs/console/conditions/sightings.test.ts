/** The console sees a condition in the same series in which Prometheus alerts of it, and nowhere else. */
import { assert, describe, it } from "@effect/vitest"
import { conditions } from "../../../../libs/console/conditions/conditions.ts"
import { type Observed, secondsOf, sightingsOf } from "../../../../libs/console/conditions/sightings.ts"
import { parseExposition, windowOf } from "../../../../libs/console/readings/readings.ts"
import type { RuleCase } from "../../../deploy/rule-case.ts"
import { ruleCases } from "../../../deploy/rule-cases.ts"

/** The value of a series in promtool's notation, a sample a minute: "_x25 1x120", "0+60x60". */
const valueAt = (notation: string, minute: number): string | undefined => {
  const samples = notation.split(" ").flatMap((part) => {
    const [, first = "", step = "0", times = "0"] = /^([-\d.]+|_)(?:([+-][\d.]+))?(?:x(\d+))?$/u.exec(part) ?? []
    return Array.from({ length: Number(times) + 1 }, (_, index) =>
      first === "_" ? undefined : String(Number(first) + index * Number(step))
    )
  })
  return samples[minute]
}

const expositionAt = (series: RuleCase["fires"], minute: number) =>
  parseExposition(
    Object.entries(series)
      .flatMap(([name, notation]) => {
        const value = valueAt(notation, minute)
        return value === undefined ? [] : [`${name} ${value}`]
      })
      .join("\n")
  )

const url = "http://10.0.0.1:9400"

/** Two readings, five minutes apart, of one process that shows these series. */
const observedIn = (series: RuleCase["fires"], at: string): Observed => {
  const minute = secondsOf(at) / 60
  const reading = (then: number) => ({ atMs: then * 60_000, targets: new Map([[url, expositionAt(series, then)]]) })
  const answers = Object.entries(series).every(
    ([name, notation]) => !name.startsWith(`up{job="starling"`) || valueAt(notation, minute) !== "0"
  )
  return {
    window: windowOf(reading(minute - 5), reading(minute)),
    nowMs: minute * 60_000,
    processes: [{ url, roles: ["sweeper"], answers, failing: [] }]
  }
}

describe("a condition", () => {
  it.each(conditions)("is seen where Prometheus alerts of it, and by the same labels: $name", ({ name, seen }) => {
    const found = ruleCases.find(({ alert }) => alert === name)
    assert.isDefined(found)
    const { at, fires, labels, silent } = found as RuleCase

    const [first, ...others] = sightingsOf(seen, observedIn(fires, at))
    assert.isDefined(first, name)
    assert.deepStrictEqual(others, [])
    for (const [label, value] of Object.entries(labels)) {
      // Prometheus names a pod; the console names its address.
      if (label !== "pod" && label !== "job") assert.strictEqual(first?.labels[label], value)
    }
    assert.deepStrictEqual(sightingsOf(seen, observedIn(silent, at)), [])
  })

  it("needs two readings where it is about what happens meanwhile", () => {
    for (const { seen } of conditions.filter((one) => ["share", "pace", "rise", "p99"].includes(one.seen.kind))) {
      const [one] = ruleCases
      const reading = { atMs: 0, targets: new Map([[url, expositionAt(one?.fires ?? {}, 30)]]) }
      assert.deepStrictEqual(sightingsOf(seen, { window: windowOf(undefined, reading), nowMs: 0, processes: [] }), [])
    }
  })

  it("names as causes only conditions that there are, and none that it causes itself", () => {
    const causes = new Map(conditions.map(({ name, causedBy }) => [name, causedBy]))
    const reaches = (from: string, to: string, seen: ReadonlySet<string>): boolean =>
      (causes.get(from) ?? []).some(
        (cause) => cause === to || (!seen.has(cause) && reaches(cause, to, new Set([...seen, cause])))
      )
    for (const { name, causedBy } of conditions) {
      assert.includeMembers([...causes.keys()], [...causedBy], name)
      assert.isFalse(reaches(name, name, new Set()), `${name} causes itself`)
    }
  })

  it("names in its sentences only labels that it is seen by", () => {
    for (const { name, title, hurts, commands, seen } of conditions) {
      const labels = seen.kind === "down" ? ["pod", "role"] : seen.by
      const used = [...[title, hurts, ...commands].join(" ").matchAll(/\{(\w+)(?::\w+)?\}/gu)].map(
        ([, label = ""]) => label
      )
      assert.includeMembers(["value", ...labels], used, name)
    }
  })
})
