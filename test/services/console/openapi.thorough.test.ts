import { assert, describe, it } from "@effect/vitest"
import { consoleErrorCodes, ConsoleHttpApi } from "#console/api"
import { bodyOf, BodyExample, NeededScopes, refusalsOf } from "#base/http"
import { Context, Option, Schema } from "effect"
import { endpointsOf, templateOf } from "#http"
import { consoleRoutes } from "../../../services/console/role.ts"
import { consoleDocuments } from "../../../services/console/documents.ts"
import { at, type Json, refsIn, resolved } from "../../support/openapi-answers.ts"
import { assertPromisesKept } from "../../support/openapi-promises.ts"

// As callers get it: without anything that JSON lacks.
const document = JSON.parse(JSON.stringify(consoleDocuments.openApi())) as Json
const endpoints = endpointsOf(ConsoleHttpApi)

describe("the console's OpenAPI document", () => {
  it("describes the existing routes, and no others", () => {
    const described = Object.entries(at(document, "paths")).flatMap(([path, item]) =>
      Object.keys(item as Json).map((method) => `${method.toUpperCase()} ${path}`)
    )
    assert.sameMembers(
      described,
      consoleRoutes.map(({ method, path }) => `${method} ${templateOf(path)}`)
    )
  })

  it("keeps every promise to its callers", () => {
    assertPromisesKept(document, new URL("openapi-promises.txt", import.meta.url), 100)
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
    assert.isAbove(taking.length, 4)
    for (const endpoint of taking) {
      const example = Option.getOrUndefined(Context.getOption(endpoint.annotations, BodyExample))
      const { body, isOptional } = bodyOf(endpoint)
      const accepts = Schema.is(body as unknown as Schema.Codec<unknown>)
      assert.isTrue(accepts(example), endpoint.identifier)
      if (isOptional) assert.isTrue(accepts({}), endpoint.identifier)
    }
  })

  it("lists every operation's parameters and refusals, also on the page", () => {
    const page = consoleDocuments.page()
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
        path.includes("/:") || path === "/find",
        identifier
      )
    }
    for (const code of Object.keys(consoleErrorCodes)) assert.include(page, `| \`${code}\` |`)
  })
})
