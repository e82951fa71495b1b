import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { jsonAnswer, routesOf } from "#http"

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
