import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { pipelineDocuments } from "../../../../services/pipeline-api/documents.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { createItem, eventsTold, type Json, setUpProject, withPipeline } from "../../../support/pipeline.ts"
import { at } from "../../../support/openapi-answers.ts"

const document = JSON.parse(JSON.stringify(pipelineDocuments.openApi())) as Json
const schemas = at(document, "components", "schemas") as Record<string, Json>

/** The fields of a body that may be left out, by the API's own description. */
const optionalOf = (name: string): ReadonlyArray<readonly [string, Json]> => {
  const { properties = {}, required = [] } = schemas[name] as {
    properties?: Record<string, Json>
    required?: ReadonlyArray<string>
  }
  return Object.entries(properties).filter(([field]) => !required.includes(field))
}

const takesNull = (schema: Json): boolean => {
  if (schema["type"] === "null" || (Array.isArray(schema["type"]) && schema["type"].includes("null"))) return true
  const choices = schema["anyOf"]
  return Array.isArray(choices) && choices.some((choice) => takesNull(choice as Json))
}

/** Every route that takes a body, with the name of its shape and an example. */
const bodies = Object.entries(at(document, "paths")).flatMap(([path, methods]) =>
  Object.entries(methods as Json).flatMap(([method, operation]) => {
    const { schema, example } = at(operation, "requestBody", "content", "application/json")
    const ref = at({ schema }, "schema")["$ref"]
    return typeof ref === "string"
      ? [
          {
            method: method.toUpperCase(),
            path,
            body: { schema: ref.split("/").at(-1) ?? "", example: example as Json }
          }
        ]
      : []
  })
)

describe("null for an optional field", () => {
  it("is in the description of every body", () => {
    const names = new Set([...bodies.map(({ body }) => body.schema), "ProjectWorkItemSettingsRequest"])
    let fields = 0
    for (const name of names) {
      for (const [field, schema] of optionalOf(name)) {
        assert.isTrue(takesNull(schema), `${name}.${field}`)
        fields += 1
      }
    }
    assert.isAbove(fields, 30)
  })

  it.live("is accepted by every route as absent", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call)
        for (const { method, path, body } of bodies) {
          const nulls = Object.fromEntries(optionalOf(body.schema).map(([field]) => [field, null]))
          const required = Object.fromEntries(Object.entries(body.example).filter(([field]) => !(field in nulls)))
          const ids: Record<string, string> = { workitems: id, projects: "gates", agents: "smith" }
          const verb = `${method} ${path.replace("{id}", ids[path.split("/")[1] ?? ""] ?? id)}`
          const heard = yield* call(verb, { body: { ...required, ...nulls } })
          assert.notInclude([400, 500], heard.status, `${verb}: ${JSON.stringify(heard.body)}`)
        }
        const plain = { title: "Oil the gate", projectId: "gates" }
        const left = yield* call("POST /workitems", { body: plain })
        const none = Object.fromEntries(optionalOf("CreateWorkItemRequest").map(([field]) => [field, null]))
        const given = yield* call("POST /workitems", { body: { ...plain, ...none } })
        for (const field of ["agent", "baseBranch", "kind", "priority", "externalId", "releaseId", "instructions"]) {
          assert.deepStrictEqual(given.body[field], left.body[field], field)
        }
      })
    )
  )

  it.live("is no reason and no commit for a cancellation, and leaves the query's values", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const body = { reason: null, resolutionSha: null }
        assert.strictEqual((yield* call(`DELETE /workitems/${(yield* createItem(call)).id}`, { body })).status, 200)
        const asked = `DELETE /workitems/${(yield* createItem(call)).id}?reason=asked`
        assert.strictEqual((yield* call(asked, { body })).status, 200)
        const cancelled = Effect.map(eventsTold, (events) =>
          events.filter(({ event }) => event === "work_item.cancelled").map(({ details }) => details)
        )
        yield* eventually(cancelled, { is: (all) => all.length === 2 })
        assert.deepStrictEqual(yield* cancelled, [null, { priorState: "Queued", reason: "asked", resolutionSha: null }])
      })
    )
  )

  it.live("unsets a project's settings for items, and is a value only where documented", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const shown = yield* setUpProject(call, {
          workItems: { autoMerge: null, maxAuditIterations: 2, transientBackoff: null, delegatesAfterFailures: null }
        })
        assert.deepStrictEqual(shown.body["workItems"], { maxAuditIterations: 2, delegatesAfterFailures: null })
        const unset = yield* setUpProject(call, { workItems: null, warningThresholdPct: null, hardCapPct: null })
        assert.deepInclude(unset.body, { workItems: {}, warningThresholdPct: 80, hardCapPct: 100 })
      })
    )
  )
})
