import { assert, describe, it } from "@effect/vitest"
import { gatewayCodes } from "#contracts"
import { gatewayOpenApi, modelGatewayPage } from "../../../services/model-gateway/openapi.ts"
import { gatewayRoutes } from "../../../services/model-gateway/routes.ts"

const document = gatewayOpenApi() as {
  paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>
  components: { schemas: Record<string, { required?: ReadonlyArray<string> }> }
}

describe("the gateway's OpenAPI document", () => {
  it("names every route, and every code under its status", () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/gu, ":$1")}`)
    )
    const served = gatewayRoutes
      .filter(({ path }) => path.startsWith("/v1/") && !path.endsWith("*"))
      .map(({ method, path }) => `${method} ${path}`)
    assert.sameMembers(described, served)
    const refusals = document.paths["/v1/chat/completions"]?.["post"]?.responses ?? {}
    for (const [code, { status }] of Object.entries(gatewayCodes)) {
      assert.include(refusals[status]?.description ?? "", code)
      assert.include(modelGatewayPage(), `| \`${code}\` | ${status} |`)
    }
  })

  it("leaves no reference unresolved", () => {
    const text = JSON.stringify(document)
    const names = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/gu)].map(([, name]) => name ?? "")
    assert.isAbove(names.length, 5)
    for (const name of names) assert.property(document.components.schemas, name)
    assert.notInclude(text, "$defs")
    assert.includeMembers([...(document.components.schemas["ChatRequest"]?.required ?? [])], ["model", "messages"])
  })
})
