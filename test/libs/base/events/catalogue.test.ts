import { assert, describe, it } from "@effect/vitest"
import { hash } from "node:crypto"
import { Result } from "effect"
import { catalogueFingerprint, decodeEnvelope, eventCatalogue, eventSchemaVersion, exampleEnvelope } from "#base"
import { contractDocuments } from "#pipeline/contract"

const example = (name: string): Record<string, unknown> => {
  const found = exampleEnvelope(name)
  assert.isDefined(found)
  return found
}
const withDetails = (name: string, changes: Record<string, unknown>) => {
  const envelope = example(name)
  return { ...envelope, details: { ...(envelope["details"] as object), ...changes } }
}
const faultPaths = (input: unknown) => {
  const decoded = decodeEnvelope(input)
  return Result.isFailure(decoded) ? decoded.failure.map((fault) => fault.path) : []
}

describe("the catalogue", () => {
  it("has each name once, and the eight boundaries of a run as progress", () => {
    assert.strictEqual(new Set(eventCatalogue.map((event) => event.name)).size, eventCatalogue.length)
    const progress = eventCatalogue.filter((event) => event.isProgress)
    assert.strictEqual(progress.length, 8)
  })

  it("accepts its own example of every event as known and complete", () => {
    for (const { name } of eventCatalogue) {
      const decoded = decodeEnvelope(example(name))
      assert.isTrue(Result.isSuccess(decoded), `${name}: ${JSON.stringify(decoded)}`)
      if (Result.isSuccess(decoded)) {
        assert.isTrue(decoded.success.known, name)
        assert.deepStrictEqual(decoded.success.unknownFields, [], name)
      }
    }
  })

  it("cannot change without a new schema version", () => {
    // Descriptions of an event may improve at any time; its shape may not change unnoticed.
    const schemas = contractDocuments()
      .filter(({ path }) => path.startsWith("docs/events/"))
      .map(({ path, content }) => [
        path,
        JSON.parse(content, (key, value) => (key === "description" ? undefined : value))
      ])
    const fingerprint = hash("sha256", `${eventSchemaVersion}\n${JSON.stringify(schemas)}`, "hex").slice(0, 16)
    assert.strictEqual(
      fingerprint,
      catalogueFingerprint,
      `the catalogue has changed: bump eventSchemaVersion (minor for additions) in libs/base/events/catalogue.ts and set catalogueFingerprint to "${fingerprint}"`
    )
  })
})

describe("an incoming envelope", () => {
  it.each([
    ["work_item.suggestion", { title: "t".repeat(121) }, "/details/title"],
    ["work_item.question_asked", { questionId: "has spaces" }, "/details/questionId"],
    ["work_item.question_asked", { questionId: "q".repeat(65) }, "/details/questionId"],
    ["work_item.question_asked", { questionText: "x".repeat(4_001) }, "/details/questionText"],
    ["work_item.cancelled", { reason: "r".repeat(501) }, "/details/reason"],
    ["work_item.cancelled", { resolutionSha: "abc12" }, "/details/resolutionSha"],
    ["work_item.cancelled", { resolutionSha: "g".repeat(40) }, "/details/resolutionSha"],
    ["work_item.agent_stuck", { killed: false }, "/details/killed"],
    ["work_item.agent_stuck", { stuckSeconds: 1.5 }, "/details/stuckSeconds"],
    ["work_item.recovered", { recoveryAttempt: 0 }, "/details/recoveryAttempt"],
    ["work_item.question_answered", { answeredBy: "me" }, "/details/answeredBy"],
    ["sandbox.leak_detected", { name: "other-1" }, "/details/name"],
    ["quota.reset_optimal", { optimalUntil: "tomorrow" }, "/details/optimalUntil"]
  ])("is refused when %s carries %o", (name, changes, path) => {
    assert.include(faultPaths(withDetails(name, changes)), path)
  })

  it.each([
    ["work_item.suggestion", { title: "t".repeat(120) }],
    ["work_item.question_asked", { questionId: "q".repeat(64), questionText: "x".repeat(4_000) }],
    ["work_item.cancelled", { reason: "r".repeat(500), resolutionSha: "ABCDEF0" }],
    ["work_item.cancelled", { reason: null, resolutionSha: null }]
  ])("is accepted when %s is exactly at its limits", (name, changes) => {
    assert.deepStrictEqual(faultPaths(withDetails(name, changes)), [])
  })

  it("keeps the null rules of each event", () => {
    assert.include(
      faultPaths({ ...example("queue.paused"), workItem: example("work_item.merged")["workItem"] }),
      "/workItem"
    )
    assert.include(faultPaths({ ...example("work_item.merged"), workItem: null }), "/workItem")
    assert.include(faultPaths({ ...example("work_item.merged"), details: {} }), "/details")
    assert.include(
      faultPaths({ ...example("project.budget_warning"), project: example("work_item.merged")["project"] }),
      "/project"
    )
    assert.deepStrictEqual(faultPaths({ ...example("work_item.cancelled"), details: null }), [])
    assert.deepStrictEqual(faultPaths({ ...example("agent.smoke_failed"), workItem: null, project: null }), [])
  })

  it("has usage null only on quota.reset_optimal, and absent or whole elsewhere", () => {
    const { usage: _usage, ...without } = example("quota.reset_optimal")
    assert.include(faultPaths(without), "/usage")
    assert.include(faultPaths({ ...example("work_item.merged"), usage: null }), "/usage")
    assert.deepStrictEqual(faultPaths(example("work_item.merged")), [])
  })

  it("carries a release in place of a work item on release events", () => {
    const { release: _release, ...without } = example("release.created")
    assert.include(faultPaths(without), "/release")
    assert.include(
      faultPaths({ ...example("release.created"), release: { id: "a", name: "b", state: "lost" } }),
      "/release/state"
    )
  })

  it("is accepted with an unknown name and unknown fields, which are listed as additive", () => {
    const unknownName = decodeEnvelope({ ...example("work_item.merged"), event: "work_item.levitated" })
    assert.isTrue(Result.isSuccess(unknownName) && !unknownName.success.known)
    const extended = decodeEnvelope({ ...withDetails("queue.paused", { mood: "calm" }), colour: "blue" })
    assert.deepStrictEqual(Result.isSuccess(extended) && extended.success.unknownFields, ["/colour", "/details/mood"])
  })

  it("gets every fault at once", () => {
    const paths = faultPaths({
      event: "work_item.merged",
      eventSchemaVersion: "2.0.0",
      occurredAt: "2026-02-30T00:00:00Z"
    })
    assert.includeMembers(paths, ["/eventSchemaVersion", "/occurredAt", "/workItem", "/project", "/details"])
  })

  it.each(["2026-02-30T10:00:00Z", "2026-11-20", "2026-11-20T10:00:00", "2026-13-01T00:00:00Z", "now"])(
    "does not accept %s as a time with an offset",
    (occurredAt) => assert.include(faultPaths({ ...example("work_item.merged"), occurredAt }), "/occurredAt")
  )

  it.each(["2024-02-29T23:59:59Z", "2026-11-20T10:00:00.123456789+05:30", "2026-11-20T10:00:00-00:00"])(
    "accepts %s as a time with an offset",
    (occurredAt) => assert.deepStrictEqual(faultPaths({ ...example("work_item.merged"), occurredAt }), [])
  )
})
