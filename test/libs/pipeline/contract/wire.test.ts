import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { faultsOf } from "#base"
import {
  AnswerQuestionRequest,
  CancelWorkItemRequest,
  CreateReleaseRequest,
  CreateWorkItemRequest,
  DelegateWorkItemRequest,
  PauseAgentRequest,
  PauseQueueRequest,
  PutProjectRequest,
  WorkItemsQuery
} from "#pipeline/api"

const faultPaths = (schema: Schema.Codec<unknown, unknown>, input: unknown) => {
  const decoded = Schema.decodeUnknownResult(schema, { errors: "all" })(input)
  return Result.isFailure(decoded) ? faultsOf(decoded.failure.issue).map(({ path }) => path) : []
}
const id = "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01"
const item = { title: "Ripen", projectId: "orchard" }
const project = { displayName: "Orchard", repositoryUrl: "https://git.example/orchard.git" }

describe("a new work item", () => {
  it("needs a title and a project", () => {
    assert.deepStrictEqual(faultPaths(CreateWorkItemRequest, item), [])
    assert.sameMembers(faultPaths(CreateWorkItemRequest, {}), ["/title", "/projectId"])
  })

  it.each([
    [{ title: "" }, "/title"],
    [{ title: "   " }, "/title"],
    [{ title: "t".repeat(301) }, "/title"],
    [{ instructions: "i".repeat(8_001) }, "/instructions"],
    [{ releaseId: "autumn" }, "/releaseId"],
    [{ kind: "follow-up" }, "/kind"],
    [{ priority: 10 }, "/priority"],
    [{ priority: 1.5 }, "/priority"],
    [{ externalId: "" }, "/externalId"],
    [{ externalId: "e".repeat(257) }, "/externalId"]
  ])("is refused with %o", (changes, path) => {
    assert.deepStrictEqual(faultPaths(CreateWorkItemRequest, { ...item, ...changes }), [path])
  })

  it.each(["main", "release/1.2", "feature/a_b-c.d", "ünïcode", "a".repeat(250)])(
    "accepts the branch %s",
    (baseBranch) => {
      assert.deepStrictEqual(faultPaths(CreateWorkItemRequest, { ...item, baseBranch }), [])
    }
  )

  it.each([
    "",
    "a b",
    "a..b",
    "a//b",
    "/a",
    "a/",
    ".a",
    "a/.b",
    "a.lock",
    "a.lock/b",
    "a.",
    "-a",
    "@",
    "a@{b",
    "a~1",
    "a^",
    "a:b",
    "a?",
    "a*",
    "a[b",
    "a\\b",
    "a\u0000b",
    "a\u007fb",
    "a\nb",
    "a".repeat(251)
  ])("refuses the branch %j", (baseBranch) => {
    assert.include(faultPaths(CreateWorkItemRequest, { ...item, baseBranch }), "/baseBranch")
  })
})

describe("a request about a work item", () => {
  it.each([
    [CancelWorkItemRequest, {}, []],
    [CancelWorkItemRequest, { reason: "r".repeat(500), resolutionSha: "ABCDEF0" }, []],
    [CancelWorkItemRequest, { reason: "r".repeat(501) }, ["/reason"]],
    [CancelWorkItemRequest, { resolutionSha: "abc12" }, ["/resolutionSha"]],
    [CancelWorkItemRequest, { resolutionSha: "g".repeat(7) }, ["/resolutionSha"]],
    [CancelWorkItemRequest, { resolutionSha: "a".repeat(41) }, ["/resolutionSha"]],
    [AnswerQuestionRequest, { questionId: "q_1-A", answer: "a".repeat(8_000) }, []],
    [AnswerQuestionRequest, { questionId: "q 1", answer: " " }, ["/questionId", "/answer"]],
    [AnswerQuestionRequest, { questionId: "q".repeat(65), answer: "a".repeat(8_001) }, ["/questionId", "/answer"]],
    [DelegateWorkItemRequest, { reason: "", note: "n".repeat(2_001) }, ["/reason", "/note"]],
    [WorkItemsQuery, { limit: "50", state: "Queued", release: id }, []],
    [WorkItemsQuery, { limit: "-1", state: "queued", cursor: "" }, ["/limit", "/state", "/cursor"]]
  ])("has limits: %o with %o", (schema, input, paths) => {
    assert.sameMembers(faultPaths(schema, input), paths)
  })
})

describe("the settings of a project", () => {
  it.each([
    "https://git.example/a.git",
    "http://git.example/a",
    "ssh://git@git.example/a.git",
    "git@git.example:a/b.git",
    "file:///srv/git/a.git"
  ])("accept the repository %s", (repositoryUrl) => {
    assert.deepStrictEqual(faultPaths(PutProjectRequest, { ...project, repositoryUrl }), [])
  })

  it.each(["", "orchard", "javascript:alert(1)", "https://ann:secret@git.example/a", "git@git.example:a b"])(
    "refuse the repository %j",
    (repositoryUrl) => assert.include(faultPaths(PutProjectRequest, { ...project, repositoryUrl }), "/repositoryUrl")
  )

  it.each([
    [{ monthlyBudgetUsd: 0 }, "/monthlyBudgetUsd"],
    [{ monthlyBudgetUsd: 10_000_001 }, "/monthlyBudgetUsd"],
    [{ warningThresholdPct: 0 }, "/warningThresholdPct"],
    [{ warningThresholdPct: 100, hardCapPct: 100 }, ""],
    [{ maxInFlightItems: 0 }, "/maxInFlightItems"],
    [{ workItems: { failingSeverity: "Fatal" } }, "/workItems/failingSeverity"],
    [{ workItems: { maxAuditIterations: 0 } }, "/workItems/maxAuditIterations"]
  ])("are refused with %o", (changes, path) => {
    assert.deepStrictEqual(faultPaths(PutProjectRequest, { ...project, ...changes }), [path])
  })

  it("may unset the budget and the limits", () => {
    const unset = { monthlyBudgetUsd: null, maxInFlightItems: null, maxInFlightItemsPerAgent: null, workItems: {} }
    assert.deepStrictEqual(faultPaths(PutProjectRequest, { ...project, ...unset }), [])
  })
})

describe("releases and pauses", () => {
  it.each([
    [CreateReleaseRequest, { name: "Autumn", projectId: "orchard" }, []],
    [CreateReleaseRequest, { name: " ", projectId: "" }, ["/name", "/projectId"]],
    [CreateReleaseRequest, { name: "n".repeat(201), projectId: "p", targetBranch: "a b" }, ["/name", "/targetBranch"]],
    [PauseQueueRequest, { reason: "maintenance" }, []],
    [PauseQueueRequest, {}, ["/reason"]],
    [PauseQueueRequest, { reason: "r".repeat(501) }, ["/reason"]],
    [PauseAgentRequest, { reason: "r", agentInstanceId: null, expiresInSeconds: null }, []],
    [PauseAgentRequest, { reason: "r", expiresInSeconds: 0 }, ["/expiresInSeconds"]],
    [PauseAgentRequest, { reason: "r", expiresInSeconds: 31_536_001 }, ["/expiresInSeconds"]]
  ])("have limits: %o with %o", (schema, input, paths) => {
    assert.sameMembers(faultPaths(schema, input), paths)
  })
})
