import { assert, describe, it } from "@effect/vitest"
import { eventNames, filterFaults } from "#webhooks"
import type { ContentFilter } from "#webhooks/contract"
import type { EventNames } from "../../../libs/webhooks/filter-faults.ts"

const names: EventNames = {
  declared: [
    { name: "work_item.merged", isOptIn: false },
    { name: "work_item.done", isOptIn: false },
    { name: "queue.paused", isOptIn: false },
    { name: "iteration.started", isOptIn: true }
  ],
  isOpen: false
}

const faultsOf = (EventFilter: ReadonlyArray<string>, ContentFilter?: ContentFilter, isOpen = false) =>
  filterFaults({ EventFilter, ...(ContentFilter === undefined ? {} : { ContentFilter }) }, { ...names, isOpen }).map(
    ({ path, message }) => `${path} ${message}`
  )

describe("a filter that no event can pass", () => {
  it.each<readonly [string, ReadonlyArray<string>, ReadonlyArray<string>]>([
    ["no names", [], []],
    ["names and patterns that there are", ["work_item.merged", "queue.*", "*"], []],
    [
      "a typing error",
      ["*", "work_item.mergd"],
      ["/EventFilter/1 there is no event work_item.mergd; did you mean work_item.merged?"]
    ],
    ["a family that is none", ["queues.*"], ["/EventFilter/0 there is no event queues.*; did you mean queue.*?"]],
    ["what is like nothing", ["shop.*"], ["/EventFilter/0 there is no event shop.*"]]
  ])("is found in %s", (_, names, faults) => {
    assert.deepStrictEqual(faultsOf(names), faults)
  })

  it.each<readonly [string, ContentFilter, ReadonlyArray<string>]>([
    ["fields that envelopes have", { event: ["queue.paused"], project: { id: ["a"] }, details: { any: ["b"] } }, []],
    ["a prefix, absence and their like", { event: [{ prefix: "queue." }, { "anything-but": "queue.paused" }] }, []],
    [
      "an event that there is not",
      { event: ["queue.paused", "queue.pausd"] },
      ["/ContentFilter/event/1 there is no event queue.pausd; did you mean queue.paused?"]
    ],
    [
      "a prefix of none",
      { event: [{ prefix: "shop." }] },
      ['/ContentFilter/event/0 there is no event {"prefix":"shop."}']
    ],
    [
      "a field that no envelope has",
      { detail: { a: ["b"] } },
      ["/ContentFilter/detail no envelope has this field; did you mean details?"]
    ],
    [
      "a branch of $or",
      { $or: [{ projects: ["a"] }, { event: ["work_item.dne"] }] },
      [
        "/ContentFilter/$or/0/projects no envelope has this field; did you mean project?",
        "/ContentFilter/$or/1/event/0 there is no event work_item.dne; did you mean work_item.done?"
      ]
    ],
    [
      "an object in place of the name",
      { event: { name: ["a"] } },
      ["/ContentFilter/event fits no event that EventFilter chooses"]
    ],
    [
      "an event without a name",
      { event: [{ exists: false }] },
      ['/ContentFilter/event/0 there is no event {"exists":false}']
    ]
  ])("is found in %s", (_, filter, faults) => {
    assert.deepStrictEqual(faultsOf(["*"], filter), faults)
  })

  it("is only one of the fleet's own where anybody may publish what nobody declared", () => {
    assert.deepStrictEqual(faultsOf(["shop.*", "shop.sold"], { event: ["shop.sold", { prefix: "shop." }] }, true), [])
    assert.deepStrictEqual(faultsOf(["work_item.mergd"], {}, true), [
      "/EventFilter/0 there is no event work_item.mergd; did you mean work_item.merged?"
    ])
  })

  it("is judged by the catalogue and by the types in force", () => {
    const type = { name: "shop.sold", isOptIn: true }
    const { declared, isOpen } = eventNames({ all: () => [type as never], takesUndeclared: true })
    assert.isTrue(isOpen)
    assert.deepInclude(declared, type)
    assert.deepInclude(declared, { name: "iteration.started", isOptIn: true })
    assert.deepInclude(declared, { name: "work_item.merged", isOptIn: false })
  })

  it("is found where the two filters have no event in common", () => {
    const fault = ["/ContentFilter/event fits no event that EventFilter chooses"]
    assert.deepStrictEqual(faultsOf(["work_item.*"], { event: ["queue.paused"] }), fault)
    assert.deepStrictEqual(faultsOf(["work_item.*"], { event: ["queue.paused", "work_item.done"] }), [])
    assert.deepStrictEqual(faultsOf([], { event: ["iteration.started"] }), fault, "progress is asked for by name")
  })
})
