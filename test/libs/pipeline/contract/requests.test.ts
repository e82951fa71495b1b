import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import {
  commandEntities,
  CommandAnswer,
  CommandRequest,
  decodeCommand,
  PickupAnswer,
  PickupQuestion
} from "#pipeline/contract"
import { faultsOf, subjects } from "#base"

const id = "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01"

const many = <A>(count: number, entry: A) => Array.from({ length: count }, () => entry)

const faultPaths = (schema: Schema.Codec<unknown, unknown>, input: unknown) => {
  const decoded = Schema.decodeUnknownResult(schema, { errors: "all" })(input)
  return Result.isFailure(decoded) ? faultsOf(decoded.failure.issue).map(({ path }) => path) : []
}

describe("a runner's request for work", () => {
  const question = {
    pickupId: id,
    runner: "host-1",
    agent: "gardener",
    agentInstanceId: null,
    model: null,
    phases: ["work", "audit"],
    sandboxProvider: "local",
    sandboxId: null,
    disks: [{ mountPath: "/", freeBytes: 10 }]
  }

  it("has one optional field, the wait", () => {
    assert.deepStrictEqual(faultPaths(PickupQuestion, question), [])
    assert.deepStrictEqual(faultPaths(PickupQuestion, { ...question, waitMs: 30_000 }), [])
    assert.sameMembers(
      faultPaths(PickupQuestion, {}),
      Object.keys(question).map((key) => `/${key}`)
    )
  })

  it.each([
    [{ pickupId: "1" }, "/pickupId"],
    [{ runner: "" }, "/runner"],
    [{ agent: "a".repeat(129) }, "/agent"],
    [{ phases: [] }, "/phases"],
    [{ phases: ["work", "sleep"] }, "/phases/1"],
    [{ waitMs: 30_001 }, "/waitMs"],
    [{ disks: many(17, { mountPath: "/", freeBytes: 1 }) }, "/disks"],
    [{ disks: [{ mountPath: "/", freeBytes: -1 }] }, "/disks/0/freeBytes"]
  ])("is refused for %o", (changes, path) => {
    assert.deepStrictEqual(faultPaths(PickupQuestion, { ...question, ...changes }), [path])
  })

  it("has a subject below its agent kind, whatever the kind's name", () => {
    assert.strictEqual(subjects.pickupNext("gardener"), "pickup.next.gardener")
    for (const kind of ["a.b", "a b", "*", ">", "ü"]) {
      assert.lengthOf(subjects.pickupNext(kind).split("."), 3, kind)
      assert.notMatch(subjects.pickupNext(kind), /[*>\s]/u)
    }
  })

  it("gets one of two answers", () => {
    const nothing = { _tag: "Nothing", retryAfterMs: 1_000, why: "empty", reason: null }
    assert.deepStrictEqual(faultPaths(PickupAnswer, nothing), [])
    assert.deepStrictEqual(faultPaths(PickupAnswer, { ...nothing, why: "tired" }), ["/why"])
    assert.isNotEmpty(faultPaths(PickupAnswer, { _tag: "Dispatch", dispatchId: "d" }))
  })
})

describe("a command", () => {
  it("has an id of its own and the entity's id", () => {
    const request = { commandId: "c1", id, command: { _tag: "Resume" } }
    assert.deepStrictEqual(faultPaths(CommandRequest, request), [])
    assert.sameMembers(faultPaths(CommandRequest, {}), ["/commandId", "/id", "/command"])
    assert.deepStrictEqual(faultPaths(CommandRequest, { ...request, commandId: "c".repeat(129) }), ["/commandId"])
    assert.deepStrictEqual(faultPaths(CommandRequest, { ...request, command: "Resume" }), ["/command"])
  })

  it("is read by its entity's own schema", () => {
    assert.deepStrictEqual(decodeCommand("workitem", { _tag: "Resume" }), Result.succeed({ _tag: "Resume" as const }))
    assert.isTrue(Result.isSuccess(decodeCommand("queue", { _tag: "Pause", reason: "maintenance", pausedBy: "ann" })))
    assert.isTrue(Result.isFailure(decodeCommand("queue", { _tag: "Cancel", reason: null, resolutionSha: null })))
  })

  it("with faults gets all of them, with paths below the command", () => {
    const decoded = decodeCommand("workitem", { _tag: "Cancel", reason: "r".repeat(501), resolutionSha: "xyz" })
    const paths = Result.isFailure(decoded) ? decoded.failure.map(({ path }) => path) : []
    assert.sameMembers(paths, ["/command/reason", "/command/resolutionSha"])
  })

  it("goes to the entity by its name in LOG", () => {
    for (const entity of Object.keys(commandEntities)) {
      assert.strictEqual(subjects.commands(entity), `commands.${entity}`)
      assert.isTrue(subjects.log(entity, "x").startsWith(`log.${entity}.`))
    }
  })

  it("gets one of five outcomes", () => {
    const answers: ReadonlyArray<CommandAnswer> = [
      { _tag: "Accepted", was: "decided", sequence: 1, state: { id } },
      { _tag: "Refused", state: "Done", reason: "it has ended" },
      { _tag: "NotFound", entity: "workitem", id },
      { _tag: "Busy", retryAfterMs: 50 },
      { _tag: "Invalid", faults: [{ path: "/id", message: "missing" }] }
    ]
    for (const answer of answers) assert.deepStrictEqual(faultPaths(CommandAnswer, answer), [])
    assert.isNotEmpty(faultPaths(CommandAnswer, { _tag: "Perhaps" }))
  })
})
