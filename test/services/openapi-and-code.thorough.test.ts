/** What the OpenAPI documents say of every route, held against the code that answers: methods of a path, and null. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, type Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { ConsoleHttpApi } from "#console/api"
import { BodyExample, bodyOf, NullIsAbsent } from "#base/http"
import { GatewayHttpApi } from "#gateway/api"
import { PipelineHttpApi } from "#pipeline/api"
import { OpenAiSpeechRequest, SpeechHttpApi } from "#speech/api"
import { endpointsOf, jsonDecoder, type Route, templateOf } from "#http"
import { routeTable } from "../../libs/http/listener/routes.ts"
import { consoleDocuments } from "../../services/console/documents.ts"
import { consoleRoutes } from "../../services/console/role.ts"
import { gatewayDocuments } from "../../services/model-gateway/documents.ts"
import { gatewayRoutes } from "../../services/model-gateway/role.ts"
import { pipelineDocuments } from "../../services/pipeline-api/documents.ts"
import { pipelineRoutes } from "../../services/pipeline-api/role.ts"
import { speechDocuments } from "../../services/speech-api/documents.ts"
import { speechRoutes } from "../../services/speech-api/role.ts"
import { at, contractOf, events, type Json, resolved } from "../support/openapi-answers.ts"

const endpointsOfAll = {
  console: endpointsOf(ConsoleHttpApi),
  gateway: endpointsOf(GatewayHttpApi),
  pipeline: endpointsOf(PipelineHttpApi),
  speech: endpointsOf(SpeechHttpApi)
}
const apis = [
  { api: "console", make: consoleDocuments.openApi, routes: consoleRoutes },
  { api: "gateway", make: gatewayDocuments.openApi, routes: gatewayRoutes },
  { api: "pipeline", make: pipelineDocuments.openApi, routes: pipelineRoutes },
  { api: "speech", make: speechDocuments.openApi, routes: speechRoutes }
] as const
type Api = (typeof apis)[number]

const documentOf = ({ make }: Api) => JSON.parse(JSON.stringify(make())) as Json

describe("Allow of a wrong method", () => {
  it.each(apis)("names the methods that the document of $api has at the path, on every path", (each) => {
    const find = routeTable(each.routes as ReadonlyArray<Route<unknown>>)
    for (const [template, operations] of Object.entries(at(documentOf(each), "paths"))) {
      const methods = Object.keys(operations as Json).map((method) => method.toUpperCase())
      const allowed = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
      const path = template.replaceAll(/\{\w+\}/gu, "other")
      for (const method of ["OPTIONS", "GET", "POST", "PUT", "PATCH", "DELETE"]) {
        const found = find(method, path)
        if (methods.includes(method)) assert.strictEqual(found._tag, "Found", `${method} ${path}`)
        else if (found._tag === "WrongMethod") assert.sameMembers([...found.allowed], allowed, `${method} ${path}`)
        else assert.fail(`${method} ${path} is ${found._tag}`)
      }
    }
  })
})

/** A body with null in one optional field, however deep that lies, and the same body without the field. */
interface WithNull {
  readonly place: string
  readonly nulled: unknown
  readonly left: unknown
}

const within = ({ place, nulled, left }: WithNull, put: (inner: unknown) => unknown): WithNull => ({
  place,
  nulled: put(nulled),
  left: put(left)
})

/** The example of a body, with each field null that the document lets callers leave out. */
const nullsIn = (document: Json, schema: Json, example: unknown, place = ""): ReadonlyArray<WithNull> => {
  const ref = schema["$ref"]
  if (typeof ref === "string") return nullsIn(document, resolved(document, ref) as Json, example, place)
  const choices = (schema["anyOf"] ?? schema["oneOf"]) as ReadonlyArray<Json> | undefined
  if (choices !== undefined) return choices.flatMap((choice) => nullsIn(document, choice, example, place))
  const [first] = Array.isArray(example) ? (example as ReadonlyArray<unknown>) : []
  if (schema["items"] !== undefined) {
    const items = nullsIn(document, schema["items"] as Json, first ?? {}, `${place}[]`)
    return items.map((one) => within(one, (item) => [item]))
  }
  const required = (schema["required"] ?? []) as ReadonlyArray<string>
  const fields = typeof example === "object" && example !== null && !Array.isArray(example) ? (example as Json) : {}
  return Object.entries(at(schema, "properties")).flatMap(([name, field]) => {
    const { [name]: value, ...others } = fields
    const at = `${place}.${name}`
    const here = required.includes(name) ? [] : [{ place: at, nulled: { ...others, [name]: null }, left: others }]
    const inside = value === undefined ? [] : nullsIn(document, field as Json, value, at)
    return [...here, ...inside.map((one) => within(one, (inner) => ({ ...others, [name]: inner })))]
  })
}

const takes = (endpoint: HttpApiEndpoint.Top, body: unknown) => {
  const schema = bodyOf(endpoint).body as unknown as Schema.Codec<unknown>
  const decode = jsonDecoder(schema, { nullIsAbsent: Context.get(endpoint.annotations, NullIsAbsent) })
  return Exit.isSuccess(Effect.runSyncExit(decode(body)))
}

describe("null for an optional field", () => {
  it.each(apis)("is taken by $api where its document says so, and nowhere else", (each) => {
    const document = documentOf(each)
    const { faultsOf } = contractOf(document)
    let places = 0
    for (const endpoint of endpointsOfAll[each.api]) {
      const { body, isForm } = bodyOf(endpoint)
      if (body === undefined || isForm) continue
      const operation = at(document, "paths", templateOf(endpoint.path), endpoint.method.toLowerCase())
      const schema = at(operation, "requestBody", "content", "application/json", "schema")
      // Of two dialects, that of the declared body.
      const [own = schema] = (schema["anyOf"] ?? []) as ReadonlyArray<Json>
      const example = Context.getUnsafe(endpoint.annotations, BodyExample)
      for (const { place, nulled, left } of nullsIn(document, own, example)) {
        places += 1
        // A rule over several fields, of which one must be there, has nothing to do with null.
        const isDocumented = faultsOf(own, nulled).length === 0 && takes(endpoint, left)
        assert.strictEqual(takes(endpoint, nulled), isDocumented, `${endpoint.identifier}${place}`)
      }
    }
    assert.isAbove(places, 10)
  })

  it("is taken in every optional field of OpenAI's requests for speech", () => {
    const document = documentOf(apis[3])
    const shape = { $ref: "#/components/schemas/OpenAiSpeechRequest" }
    const decode = jsonDecoder(OpenAiSpeechRequest, { nullIsAbsent: true })
    const nulls = nullsIn(document, shape, { model: "tts-1", input: "Hello.", voice: "alloy" })
    assert.sameMembers(
      nulls.map(({ place }) => place),
      [".response_format", ".speed", ".stream_format", ".instructions"]
    )
    for (const { place, nulled } of nulls) {
      assert.deepStrictEqual(contractOf(document).faultsOf(shape, nulled), [], place)
      assert.isTrue(Exit.isSuccess(Effect.runSyncExit(decode(nulled))), place)
    }
  })
})

describe("a stream of events", () => {
  it.each(apis)("of $api is described by one of its events", (each) => {
    const streams = Object.entries(at(documentOf(each), "paths")).flatMap(([path, operations]) =>
      Object.values(operations as Json).flatMap((operation) => {
        const schema = at(operation, "responses", "200", "content", events, "schema")
        return Object.keys(schema).length === 0 ? [] : [{ path, schema }]
      })
    )
    assert.lengthOf(streams, { console: 2, gateway: 3, pipeline: 0, speech: 3 }[each.api])
    for (const { path, schema } of streams) {
      assert.deepStrictEqual([schema["type"], schema["required"]], ["object", ["data"]], path)
      assert.strictEqual(at(schema, "properties", "data")["type"], "string", path)
    }
  })
})
