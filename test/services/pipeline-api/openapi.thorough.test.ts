import { assert, describe, it } from "@effect/vitest"
import { pipelineErrorCodes, PipelineHttpApi } from "#pipeline/api"
import { bodyOf, BodyExample, NeededScopes, refusalsOf } from "#base/http"
import { Context, Option, Schema } from "effect"
import { endpointsOf, templateOf } from "#http"
import { pipelineRoutes } from "../../../services/pipeline-api/role.ts"
import { pipelineDocuments } from "../../../services/pipeline-api/documents.ts"
import { at, type Json, refsIn, resolved } from "../../support/openapi-answers.ts"
import { assertPromisesKept, breakingChanges } from "../../support/openapi-promises.ts"

// As callers get it: without anything that JSON lacks.
const document = JSON.parse(JSON.stringify(pipelineDocuments.openApi())) as Json
const endpoints = endpointsOf(PipelineHttpApi)

describe("the pipeline's OpenAPI document", () => {
  it("describes the existing routes, and no others", () => {
    const described = Object.entries(at(document, "paths")).flatMap(([path, item]) =>
      Object.keys(item as Json).map((method) => `${method.toUpperCase()} ${path}`)
    )
    assert.sameMembers(
      described,
      pipelineRoutes.map(({ method, path }) => `${method} ${templateOf(path)}`)
    )
  })

  it("keeps every promise to its callers", () => {
    assertPromisesKept(document, new URL("openapi-promises.txt", import.meta.url), 500)
  })

  it("breaks a promise when a field, a route or a code disappears, and when more is required", () => {
    const promised = ["GET /a", "GET /a 404 not_found", "Thing.name: string, always", "Wish.name: string"]
    assert.deepStrictEqual(breakingChanges(promised, [...promised, "Thing.age: integer, always", "GET /b"]), [])
    assert.deepStrictEqual(breakingChanges(promised, promised.slice(1)), ["gone: GET /a"])
    assert.deepStrictEqual(
      breakingChanges(promised, [...promised, "Wish.age: integer, required", "New.x: any, required"]),
      ["newly required: Wish.age: integer, required"]
    )
    assert.deepStrictEqual(breakingChanges(promised, [...promised, "GET /a query limit: string, required"]), [
      "newly required: GET /a query limit: string, required"
    ])
  })

  it("lets a field of a request take more values, and none of an answer", () => {
    const [promised, now] = [
      ['Wish.kind: "a" | "b"', 'Thing.kind: "a"'],
      ['Wish.kind: "b" | "c" | "a"', 'Thing.kind: "a"']
    ]
    assert.deepStrictEqual(breakingChanges(promised, now, new Set(["Wish"])), [])
    assert.deepStrictEqual(breakingChanges(promised, now), [`gone: ${promised[0]}`])
    assert.deepStrictEqual(breakingChanges(now, promised, new Set(["Wish"])), [`gone: ${now[0]}`])
    const [text, orNull] = [["Wish.name: string"], ["Wish.name: string | null"]]
    assert.deepStrictEqual(breakingChanges(text, orNull, new Set(["Wish"])), [])
    assert.deepStrictEqual(breakingChanges(text, orNull), ["gone: Wish.name: string"])
    assert.deepStrictEqual(breakingChanges(orNull, text, new Set(["Wish"])), ["gone: Wish.name: string | null"])
  })

  it("resolves every reference, and uses every schema", () => {
    const refs = new Set(refsIn(document))
    for (const ref of refs) assert.isDefined(resolved(document, ref), ref)
    for (const name of Object.keys(at(document, "components", "schemas"))) {
      assert.isTrue(refs.has(`#/components/schemas/${name}`), `${name} is not used`)
    }
  })

  it("has an example of every body, valid by its schema", () => {
    const taking = endpoints.filter((endpoint) => bodyOf(endpoint).body !== undefined)
    assert.isAbove(taking.length, 10)
    for (const endpoint of taking) {
      const example = Option.getOrUndefined(Context.getOption(endpoint.annotations, BodyExample))
      const { body, isOptional } = bodyOf(endpoint)
      const accepts = Schema.is(body as unknown as Schema.Codec<unknown>)
      assert.isTrue(accepts(example), endpoint.identifier)
      if (isOptional) assert.isTrue(accepts({}), endpoint.identifier)
    }
  })

  it("lists every operation's parameters and refusals, also on the page", () => {
    const page = pipelineDocuments.page()
    for (const endpoint of endpoints) {
      const { identifier, method, path, annotations } = endpoint
      assert.include(page, `\`${method} ${path}\``)
      if (Option.isNone(Context.getOption(annotations, NeededScopes))) continue
      const refusals = refusalsOf(endpoint)
      assert.includeMembers(
        refusals.flatMap(({ codes }) => [...codes]),
        ["unauthorized", "insufficient_scope", "internal_error", "service_unavailable"],
        identifier
      )
      assert.strictEqual(
        refusals.some(({ status }) => status === 404),
        path.includes(":id"),
        identifier
      )
    }
    for (const code of Object.keys(pipelineErrorCodes)) assert.include(page, `| \`${code}\` |`)
  })
})
