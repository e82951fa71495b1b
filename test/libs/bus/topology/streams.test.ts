import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import {
  besideStreams,
  coreSubjects,
  envelopeBytesMax,
  permissionsOf,
  recordBytesMax,
  reportBytesMax,
  streamConfig,
  topology,
  topologyOf
} from "#bus"
import {
  decodeReport,
  exampleReport,
  findingsMax,
  questionsPerReportMax,
  suggestionsPerReportMax
} from "#pipeline/contract"

const text = (length: number) => "x".repeat(length)
const many = <A>(count: number, entry: A) => Array.from({ length: count }, () => entry)

const largest: ReadonlyArray<readonly [string, object]> = [
  [
    "audit-ended",
    {
      findings: many(findingsMax, {
        auditor: text(100),
        severity: "Warning",
        title: text(200),
        location: text(300),
        description: text(1_000)
      })
    }
  ],
  ["questions-asked", { questions: many(questionsPerReportMax, { questionId: text(64), questionText: text(4_000) }) }],
  [
    "suggestions-made",
    {
      suggestions: many(suggestionsPerReportMax, {
        title: text(120),
        rationale: text(4_000),
        category: "test-coverage",
        severity: "important",
        estimatedEffort: "medium",
        filesReferenced: many(32, text(256))
      })
    }
  ]
]

describe("a report as large as its schema allows, in plain characters", () => {
  it.each(largest)("fits into one message: %s", (kind, fields) => {
    const report = { ...exampleReport(kind), ...fields }
    assert.isTrue(Result.isSuccess(decodeReport(kind, report)))
    assert.isBelow(new TextEncoder().encode(JSON.stringify(report)).length, reportBytesMax)
  })

  it("leaves room for its follow-ups", () => {
    // The longest title, branches and addresses of an item, each character in three bytes.
    assert.isAtMost(reportBytesMax, envelopeBytesMax - 3 * 8_192)
    // As a fact, and as the events made of it, beside the state.
    assert.isBelow(3 * reportBytesMax, recordBytesMax)
  })
})

describe("the topology of deliveries over lanes", () => {
  it("is with one lane what it is without", () => {
    assert.strictEqual(topologyOf(1), topology)
  })

  it("has a stream for each further lane, like the first in all but its name and subjects", () => {
    const lanes = topologyOf(4).streams.filter(({ name }) => name.startsWith("DELIVERIES"))
    assert.deepStrictEqual(
      lanes.map(({ name }) => name),
      ["DELIVERIES", "DELIVERIES-1", "DELIVERIES-2", "DELIVERIES-3"]
    )
    const [first, ...others] = lanes.map((stream) => streamConfig(stream, 3))
    for (const other of others) {
      assert.deepStrictEqual({ ...other, name: "", subjects: [] }, { ...first, name: "", subjects: [] })
    }
    const all = lanes.flatMap(({ subjects }) => subjects)
    assert.strictEqual(new Set(all).size, all.length)
    assert.include(lanes[2]?.subjects ?? [], "deliveries-2.due.*.*")
    assert.strictEqual(topologyOf(4).streams.length, topology.streams.length + 3)
  })

  it("lets the console ask a dispatcher, and an internal service nothing", () => {
    const rights = (party: "console" | "internal services") =>
      permissionsOf(topologyOf(2), coreSubjects, party).publish.filter((subject) => subject.startsWith("deliveries"))
    assert.deepStrictEqual(rights("console"), ["deliveries-asked"])
    assert.deepStrictEqual(rights("internal services"), [])
  })
})

describe("a stream that takes schedules, which write any of its subjects,", () => {
  it.each(topologyOf(2).streams.filter(({ features }) => features.includes("schedules")))(
    "is published to by nobody apart from the streams: $name",
    ({ publishers }) => {
      for (const publisher of publishers) assert.include(besideStreams, publisher)
    }
  )
})
