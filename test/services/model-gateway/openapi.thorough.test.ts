import { assert, describe, it } from "@effect/vitest"
import { Context, Option, Schema } from "effect"
import { AnswerExample, BodyExample, bodyOf, refusalsOf } from "#base/http"
import { gatewayBases, gatewayCodes, gatewayErrorCodes, GatewayHttpApi } from "#gateway/api"
import { endpointsOf, templateOf } from "#http"
import { modelResource, offerOf, paymentRequired, settlementFailed, verificationFailed } from "#payments"
import { type ErrorDialect, fault, faultBody } from "../../../services/model-gateway/errors/GatewayFault.ts"
import { bazaarTexts } from "../../../services/model-gateway/discovery.ts"
import { gatewayDocuments } from "../../../services/model-gateway/documents.ts"
import { gatewayRoutes } from "../../../services/model-gateway/role.ts"
import { at, contractOf, type Json, refsIn, resolved, wholeOf } from "../../support/openapi-answers.ts"
import { assertPromisesKept } from "../../support/openapi-promises.ts"
import { testNetwork } from "../../support/payments.ts"

// As callers get it: without anything that JSON lacks.
const document = JSON.parse(JSON.stringify(gatewayDocuments.openApi())) as Json
const endpoints = endpointsOf(GatewayHttpApi)
const { faultsOf } = contractOf(document)

/** The path of each dialect's calls. */
const paths = {
  chat: "/v1/chat/completions",
  embeddings: "/v1/embeddings",
  images: "/v1/images/generations",
  messages: "/v1/messages",
  responses: "/v1/responses"
} as const satisfies Record<ErrorDialect, string>
const dialects = Object.keys(paths) as ReadonlyArray<ErrorDialect>

const schemaOf = (dialect: ErrorDialect, status: number) =>
  at(
    wholeOf(document, at(document, "paths", paths[dialect], "post", "responses", String(status))),
    "content",
    "application/json",
    "schema"
  )

describe("the gateway's OpenAPI document", () => {
  it("describes the existing routes under each base path, and no others", () => {
    const described = Object.entries(at(document, "paths")).flatMap(([path, item]) =>
      Object.keys(item as Json).map((method) => `${method.toUpperCase()} ${path}`)
    )
    // A response that is not stored is told of in words: a generated client has no use for a call that always fails.
    const answering = gatewayRoutes.filter(({ path }) => !path.includes("/v1/responses/"))
    // The id of a model may hold a slash.
    const served = answering.map(({ method, path }) => `${method} ${templateOf(path).replace("/*", "/{model}")}`)
    const expected = gatewayBases.flatMap((base) => described.map((verb) => verb.replace(" ", ` ${base}`)))
    assert.sameMembers(served, expected)
    assert.deepStrictEqual(document["servers"], [{ url: "/" }, { url: "/api" }, { url: "/solana/api" }])
  })

  it("keeps every promise to its callers", () => {
    assertPromisesKept(document, new URL("openapi-promises.txt", import.meta.url), 300)
  })

  it("resolves every reference, and uses every schema", () => {
    const refs = new Set(refsIn(document))
    for (const ref of refs) assert.isDefined(resolved(document, ref), ref)
    for (const name of Object.keys(at(document, "components", "schemas"))) {
      assert.isTrue(refs.has(`#/components/schemas/${name}`), `${name} is not used`)
    }
    assert.notInclude(JSON.stringify(document), "$defs")
  })

  it("has an example of every body, valid by its schema", () => {
    const taking = endpoints.filter((endpoint) => bodyOf(endpoint).body !== undefined)
    // A count of tokens takes a conversation, and is no call.
    assert.lengthOf(taking, dialects.length + 1)
    for (const endpoint of taking) {
      const example = Option.getOrUndefined(Context.getOption(endpoint.annotations, BodyExample))
      const accepts = Schema.is(bodyOf(endpoint).body as unknown as Schema.Codec<unknown>)
      assert.isTrue(accepts(example), endpoint.identifier)
    }
  })

  it("has an example of every call's answer, valid by its schema", () => {
    const sold = endpoints.filter(({ method }) => method === "POST")
    // A count of tokens may be sold too, in the dialect of a conversation.
    assert.lengthOf(sold, dialects.length + 1)
    for (const { annotations, path } of sold) {
      const example = Option.getOrThrow(Context.getOption(annotations, AnswerExample))
      const content = at(document, "paths", path, "post", "responses", "200", "content", "application/json")
      assert.deepStrictEqual(content["example"], example, path)
      assert.deepStrictEqual(faultsOf(content["schema"] as Json, example), [], path)
      assert.isNotEmpty(faultsOf(content["schema"] as Json, {}), path)
    }
  })

  it("names every code under its status for every call, and on the page", () => {
    const page = gatewayDocuments.page()
    for (const [code, { status, type = "" }] of Object.entries(gatewayErrorCodes)) {
      assert.include(page, `| ${status} | \`${code}\` | ${type} |`)
    }
    for (const endpoint of endpoints.filter(({ method }) => method === "POST")) {
      assert.include(page, `\`POST ${endpoint.path}\``)
      const named = refusalsOf(endpoint).flatMap(({ status, codes }) => codes.map((code) => `${status} ${code}`))
      const all = Object.entries(gatewayCodes).map(([code, { status }]) => `${status} ${code}`)
      assert.sameMembers(named, all)
    }
  })
})

describe("every refusal of a call has the shape that the document gives it", () => {
  it.each(dialects)("for errors of %s, with any code", (dialect) => {
    const details = [{ path: ["model"], message: "Missing key" }]
    for (const [code, { status, type }] of Object.entries(gatewayCodes)) {
      if (type === "payment_required") continue
      const given = fault(code as keyof typeof gatewayCodes, { debug: "reason", details, param: "model" })
      assert.deepStrictEqual(faultsOf(schemaOf(dialect, status), faultBody(dialect, given)), [], code)
    }
  })

  it.each(dialects)("for the 402 and the 412 of %s: its quote, and payments that were not taken", (dialect) => {
    const shape = dialect === "images" || dialect === "embeddings" ? "chat" : dialect
    const resource = modelResource({ origin: "https://models.example.com", path: paths[dialect], model: "demo/echo" })
    const quote = { resource, offers: [offerOf(testNetwork, 25_685n, { maxTimeoutSeconds: 600 })] as const }
    const failure = { code: "PAYMENT_UNFUNDED", reason: "insufficient_funds", payer: "0xabc" } as const
    const replies = [
      paymentRequired(quote, shape),
      paymentRequired(quote, shape, bazaarTexts("body")(resource.url)),
      verificationFailed(quote, shape, failure),
      verificationFailed(quote, shape, { ...failure, code: "PAYMENT_REPLAY", payer: null }),
      verificationFailed(quote, shape, { ...failure, code: "PERMIT2_ALLOWANCE_REQUIRED" }),
      settlementFailed(quote, shape, { ...failure, network: "eip155:84532", transaction: null })
    ]
    for (const { status, body } of replies) {
      assert.deepStrictEqual(faultsOf(schemaOf(dialect, status), JSON.parse(body)), [], body)
    }
    assert.isNotEmpty(faultsOf(schemaOf(dialect, 402), { error: { message: "Pay" } }))
  })
})
