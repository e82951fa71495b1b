import { assert, describe, it } from "@effect/vitest"
import type { ViewRow } from "#actors"
import { agentRoster } from "../../../../services/pipeline-api/Routing.ts"
import {
  agentCondition,
  diskCondition,
  lookOf,
  type MovingRow,
  namesOnlyOf,
  parkReason,
  queueCondition
} from "../../../../services/pipeline-api/pickup/ready-items.ts"

const row = (
  id: string,
  summary: Partial<MovingRow["summary"]>,
  changes: Partial<Pick<ViewRow, "project" | "state" | "createdAtMs">> = {}
): MovingRow & Pick<ViewRow, "state"> => ({
  id,
  project: "gates",
  state: "Queued",
  createdAtMs: 1,
  sequence: 7,
  summary: {
    agent: "smith",
    assignedAgent: null,
    agentAtWork: null,
    priority: 5,
    phase: "work",
    isReady: true,
    notBeforeMs: null,
    dispatchId: null,
    ...summary
  },
  ...changes
})

const idsOf = (look: ReturnType<typeof lookOf>, name: string) => look.ready.get(name)?.map(({ id }) => id)

describe("the ready items", () => {
  it("are sorted by priority, then by age, then by id", () => {
    const look = lookOf(
      [
        row("c", {}, { createdAtMs: 2 }),
        row("b", {}),
        row("a", {}),
        row("urgent", { priority: 9 }, { createdAtMs: 9 }),
        row("later", { priority: 0 })
      ],
      []
    )
    assert.deepStrictEqual(idsOf(look, "smith"), ["urgent", "a", "b", "c", "later"])
  })

  it("are listed under the agent that a phase was moved to, and not while a runner has them", () => {
    const look = lookOf(
      [
        row("moved", { agent: "birds", assignedAgent: "wren" }),
        row("free", { agent: "birds" }),
        row("held", { dispatchId: "d", agentAtWork: "owl" }),
        row("parked", { isReady: false })
      ],
      [row("gates", {}, { state: "Paused" })]
    )
    assert.deepStrictEqual(
      [idsOf(look, "wren"), idsOf(look, "birds"), idsOf(look, "smith")],
      [["moved"], ["free"], undefined]
    )
    assert.deepStrictEqual(
      look.inHand.map(({ id, agent, dispatchId }) => [id, agent, dispatchId]),
      [["held", "owl", "d"]]
    )
    assert.isTrue(look.pausedProjects.has("gates"))
  })
})

describe("the roster of agents", () => {
  const roster = agentRoster({
    Kinds: [
      { Kind: "owl", Class: "birds", Instances: ["a", "b"], Models: ["m1", "m2"], Phases: ["work"] },
      { Kind: "wren", Class: "birds", Instances: [], Models: [], Phases: ["work", "audit"] },
      { Kind: "smith", Instances: [], Models: [], Phases: ["merge"] }
    ]
  })

  it("knows each agent's stand-ins", () => {
    assert.deepStrictEqual(roster.members("birds"), ["owl", "wren"])
    assert.deepStrictEqual(roster.members("owl"), ["owl"])
    assert.deepStrictEqual(roster.namesFor("wren"), ["wren", "birds"])
    assert.deepStrictEqual(namesOnlyOf(roster, "owl"), ["owl"])
    assert.deepStrictEqual(
      [
        roster.isKnown("birds"),
        roster.isKind("birds"),
        roster.takesPhase("owl", "audit"),
        roster.preferredModel("owl")
      ],
      [true, false, false, "m1"]
    )
    assert.deepStrictEqual([roster.hasInstances("owl"), roster.hasInstances("wren")], [true, false])
  })

  it("accepts any kind when none is configured", () => {
    const open = agentRoster({ Kinds: [] })
    assert.deepStrictEqual(
      [open.isKnown("x"), open.isKind("x"), open.takesPhase("x", "audit"), open.members("x")],
      [true, true, true, ["x"]]
    )
    assert.isFalse(open.isKind("x/1"))
  })
})

describe("the holds between a runner and its work", () => {
  it.each([
    ["a queue that runs", queueCondition(undefined), undefined],
    [
      "a paused queue",
      queueCondition({ pause: { reason: "night", pausedBy: "me", pausedAtMs: 1 }, createdAtMs: 1, updatedAtMs: 1 })
        ?.why,
      "queue-paused"
    ],
    ["a paused agent", agentCondition({ hold: "Paused", reason: "moult", preconditions: [] })?.why, "agent-paused"],
    ["a benched agent", agentCondition({ hold: "Benched", reason: null, preconditions: [] })?.why, "agent-benched"],
    [
      "an agent without quota",
      agentCondition({ hold: "QuotaExhausted", reason: null, preconditions: [] })?.reason,
      "its quota is used up"
    ],
    ["an agent that takes work", agentCondition({ hold: undefined, reason: null, preconditions: [] }), undefined],
    [
      "enough disk",
      diskCondition({ disks: [{ mountPath: "/", freeBytes: 10 }] }, { MinFreeBytes: 10, RetryAfterSeconds: 1 }),
      undefined
    ],
    [
      "too little disk",
      diskCondition({ disks: [{ mountPath: "/", freeBytes: 9 }] }, { MinFreeBytes: 10, RetryAfterSeconds: 1 })?.why,
      "disk"
    ]
  ])("%s", (_what, found, wanted) => {
    assert.deepStrictEqual(found, wanted)
  })

  it("give the reason by which an item is parked", () => {
    assert.strictEqual(
      parkReason("owl", "moult", 0),
      "owl, the only agent that may take it, is paused since before 1970-01-01T00:00:00.000Z: moult"
    )
    assert.match(parkReason("owl", null, 0), /is paused since before 1970-01-01T00:00:00\.000Z$/u)
  })
})
