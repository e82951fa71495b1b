import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { jsonAnswer, route, routesOf } from "#http"
import { routeTable } from "../../../../libs/http/listener/routes.ts"

const Things = HttpApiGroup.make("things").add(
  HttpApiEndpoint.get("getThing", "/things/:id", {
    disableCodecs: true,
    params: { id: Schema.String },
    success: Schema.Struct({ name: Schema.String })
  }),
  HttpApiEndpoint.post("makeThing", "/things", {
    disableCodecs: true,
    payload: Schema.Struct({ name: Schema.String }),
    success: Schema.Struct({ name: Schema.String })
  })
)

const options = { bodyBytesMax: Effect.succeed(1_000) }
const getThing = () => Effect.succeed(jsonAnswer({ name: "gate" }))
const makeThing = () => Effect.succeed(jsonAnswer({ name: "gate" }))

describe("handlers of a declared API", () => {
  it("become routes with the method and the path of their endpoints", () => {
    const routes = routesOf(Things, { getThing, makeThing }, options)
    assert.deepStrictEqual(
      routes.map(({ method, path }) => `${method} ${path}`),
      ["GET /things/:id", "POST /things"]
    )
  })

  it("exist for every endpoint, and for no other", () => {
    // @ts-expect-error one is missing
    assert.throws(() => routesOf(Things, { getThing }, options), "makeThing is declared and not handled")
    const all = { getThing, makeThing, dropThing: getThing }
    assert.throws(() => routesOf(Things, all, options), "handled and not declared: dropThing")
  })

  it("must answer with the declared shape", () => {
    const wrong = () => Effect.succeed(jsonAnswer({ name: 7 }))
    // @ts-expect-error a number is no name
    assert.lengthOf(routesOf(Things, { getThing: wrong, makeThing }, options), 2)
  })
})

describe("a table of routes", () => {
  const answer = Effect.succeed(jsonAnswer({}))
  const find = routeTable([
    route("GET", "/things/:id", answer),
    route("DELETE", "/things/:id", answer),
    route("POST", "/things/samples", answer),
    route("GET", "/files/*", answer)
  ])

  it.each([
    ["HEAD", "/things/one", "Found", []],
    ["POST", "/things/one", "WrongMethod", ["GET", "HEAD", "DELETE"]],
    ["POST", "/things/samples", "Found", []],
    ["GET", "/things/samples", "WrongMethod", ["POST"]],
    ["OPTIONS", "/things/samples", "WrongMethod", ["POST"]],
    ["PUT", "/files/a/b", "WrongMethod", ["GET", "HEAD"]],
    ["GET", "/nothing", "Unknown", []]
  ] as const)("decides by the path before the method: %s %s is %s", (method, url, tag, allowed) => {
    const found = find(method, url)
    assert.deepStrictEqual([found._tag, found._tag === "WrongMethod" ? [...found.allowed] : []], [tag, allowed])
  })

  it("has one route for a method of a path", () => {
    const twice = [route("GET", "/things", answer), route("GET", "/things", answer)]
    assert.throws(() => routeTable(twice), "two routes have one method of /things")
  })
})
