import { assert, describe, it } from "@effect/vitest"
import { findingsOf } from "../../../../services/cli/operate/diagnose.ts"

const at = "2026-01-01T00:00:34.000Z"

const condition = {
  id: "StarlingBusDisconnected pod=a",
  name: "StarlingBusDisconnected",
  severity: "critical" as "critical" | "info",
  title: "a has no connection to the broker.",
  hurts: "Its calls answer 503.",
  reasons: ["bus sweeper: refused"],
  since: "2026-01-01T00:00:00.000Z",
  labels: { pod: "a" },
  causedBy: null as string | null,
  commands: ["docker compose logs nats"],
  runbook: { means: "", lookAt: "", act: "" }
}

describe("the doctor of a fleet", () => {
  it("finds nothing wrong where no condition stands", () => {
    assert.deepStrictEqual(findingsOf({ at, isWhole: true, items: [] }), [])
  })

  it("says when the console has not looked long enough to see rates", () => {
    const [finding] = findingsOf({ at, isWhole: false, items: [] })
    assert.strictEqual(finding?.state, "advice")
    assert.include(finding?.what, "less than half a minute")
  })

  it("names each condition with whom it hurts, what it explains, what the processes say, and what to run", () => {
    const effect = {
      ...condition,
      id: "b",
      name: "StarlingServerErrors",
      causedBy: condition.id,
      commands: ["docker compose logs nats", "./starling doctor", "./starling tail"]
    }
    assert.deepStrictEqual(findingsOf({ at, isWhole: true, items: [condition, effect] }), [
      {
        check: "StarlingBusDisconnected",
        state: "missing",
        what: "a has no connection to the broker (critical, for 34 s, since 2026-01-01T00:00:00.000Z)",
        why: "Its calls answer 503.\nIt explains StarlingServerErrors.\nbus sweeper: refused",
        mend: "docker compose logs nats\n./starling tail\ndocs/runbooks.md#starlingbusdisconnected"
      }
    ])
  })

  it("takes what is only worth knowing as advice", () => {
    const [finding] = findingsOf({ at, isWhole: true, items: [{ ...condition, severity: "info" }] })
    assert.strictEqual(finding?.state, "advice")
  })

  it("does not take as advice what causes something worse", () => {
    const effect = { ...condition, id: "b", causedBy: condition.id }
    const [finding] = findingsOf({ at, isWhole: true, items: [{ ...condition, severity: "info" }, effect] })
    assert.strictEqual(finding?.state, "missing")
  })
})
