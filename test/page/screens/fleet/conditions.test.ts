import { describe, expect, it } from "vitest"
import { conditionsOf } from "../../../../page/screens/fleet/conditions.ts"

const none = { at: "2026-01-01T00:00:00.000Z", isWhole: true, count: 0, items: [] }
const well = { conditions: none, processesLeftOut: 0 }
const standing = {
  id: "WebhookCircuitOpen endpoint=a b",
  name: "WebhookCircuitOpen",
  severity: "info" as const,
  title: "a b accepts no delivery.",
  hurts: "This endpoint gets no webhooks.",
  since: "2026-01-01T00:00:00.000Z",
  labels: { endpoint: "a b" } as Record<string, string>,
  causedBy: null,
  commands: ["./starling endpoints test a b"],
  reasons: ["bus sweeper: no answer"],
  runbook: { means: "It fails.", lookAt: "Its log.", act: "Mend it." }
}
const withItems = (...items: ReadonlyArray<typeof standing>) => ({
  ...well,
  conditions: { ...none, count: items.length, items }
})

describe("what is wrong with the fleet", () => {
  it("is nothing while no condition stands", () => {
    expect(conditionsOf(well)).toEqual([])
  })

  it("is each condition that stands, since when, whom it hurts, what to run, and its runbook", () => {
    expect(conditionsOf(withItems(standing))).toEqual([
      {
        title: standing.title,
        advice: standing.hurts,
        href: "#/endpoints/a%20b",
        tone: "wait",
        since: standing.since,
        isEffect: false,
        reasons: standing.reasons,
        commands: standing.commands,
        runbook: standing.runbook
      }
    ])
  })

  it.each([
    [{ provider: "p", model: "m" }, "#/models"],
    [{ network: "eip155:1" }, "#/activity/books"],
    [{ pod: "127.0.0.1:9", role: "sweeper" }, "#/fleet"]
  ])("leads to the thing's own page: %j", (labels, href) => {
    expect(conditionsOf(withItems({ ...standing, labels })).map((one) => one.href)).toEqual([href])
  })

  it.each([
    ["WebhookDeliveriesAbandoned", "#/deliveries/abandoned"],
    ["StarlingMessagesRejected", "#/deliveries/rejected"],
    ["StarlingStreamLost", "#/fleet/streams"]
  ])("leads to the list in which it is mended: %s", (name, href) => {
    expect(conditionsOf(withItems({ ...standing, name })).map((one) => one.href)).toEqual([href])
  })

  it("says how much is not shown", () => {
    const frame = { ...withItems(standing), processesLeftOut: 3 }
    const all = conditionsOf({ ...frame, conditions: { ...frame.conditions, count: 3 } })
    expect(all.map(({ title }) => title).slice(1)).toEqual(["2 more conditions not shown", "3 processes not shown"])
  })
})
