import { assert, describe, it } from "@effect/vitest"
import { pipelineRoutes } from "../../../services/pipeline-api/role.ts"
import { templateOf } from "#http"
import { pipelineOpenApi } from "../../../services/pipeline-api/openapi/document.ts"
import { errorCodes } from "../../../services/pipeline-api/openapi/error-codes.ts"
import { operations } from "../../../services/pipeline-api/openapi/operations.ts"
import { pipelinePage } from "../../../services/pipeline-api/openapi/page.ts"
import { at, contractOf, type Json, refsIn, resolved } from "../../support/openapi-answers.ts"

// As callers get it: what JSON does not have is gone.
const document = JSON.parse(JSON.stringify(pipelineOpenApi())) as Json
const contract = contractOf(document)

describe("the description of the pipeline's API", () => {
  it("describes the routes that there are, and no others", () => {
    const described = Object.entries(at(document, "paths")).flatMap(([path, item]) =>
      Object.keys(item as Json).map((method) => `${method.toUpperCase()} ${path}`)
    )
    assert.sameMembers(
      described,
      pipelineRoutes.map(({ method, path }) => `${method} ${templateOf(path)}`)
    )
  })

  it("resolves every reference it makes, and refers to every schema it has", () => {
    const refs = new Set(refsIn(document))
    for (const ref of refs) assert.isDefined(resolved(document, ref), ref)
    for (const name of Object.keys(at(document, "components", "schemas"))) {
      assert.isTrue(refs.has(`#/components/schemas/${name}`), `${name} is not used`)
    }
  })

  it("gives examples that its own schemas accept", () => {
    const examples = operations.flatMap(({ body }) => (body === undefined ? [] : [body]))
    assert.isAbove(examples.length, 10)
    for (const { schema, example } of examples) {
      assert.deepStrictEqual(contract.faultsOf({ $ref: `#/components/schemas/${schema}` }, example), [], schema)
    }
  })

  it("says of every operation what it takes and how it refuses, and tells it on the page", () => {
    const page = pipelinePage()
    for (const { id, summary, scope, codes, path } of operations) {
      assert.include(page, `## ${summary}`)
      if (scope === undefined) continue
      assert.includeMembers(
        [...codes],
        ["unauthorized", "insufficient_scope", "internal_error", "service_unavailable"],
        id
      )
      const isOfOne = path.includes(":id")
      assert.strictEqual(
        codes.some((code) => errorCodes[code].status === 404),
        isOfOne,
        id
      )
    }
    for (const code of Object.keys(errorCodes)) assert.include(page, `| \`${code}\` |`)
  })
})
