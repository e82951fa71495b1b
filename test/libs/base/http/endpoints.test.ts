import { assert, describe, it } from "@effect/vitest"
import { Context, Option, Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { commonErrorCodes } from "#base"
import { BodyExample, endpointsFor, NeededScopes, refusalsOf } from "#base/http"

const Body = Schema.Struct({ reason: Schema.String })

const endpoints = endpointsFor({
  table: {
    ...commonErrorCodes,
    bad_request: { status: 400, when: "It cannot be read." },
    not_found: { status: 404, when: "There is nothing." },
    conflict: { status: 409, when: "The state does not allow it." }
  },
  always: ["unauthorized", "internal_error"],
  changing: ["validation_failed", "bad_request"],
  reading: "console:read",
  body: Body
})
const { read, act, put, remove } = endpoints("not_found")

const about = { summary: "A thing", description: "One thing." }
const scope = "console:write"

const codesOf = (endpoint: unknown) => refusalsOf(endpoint as HttpApiEndpoint.Top).flatMap(({ codes }) => codes)
const scopesOf = (endpoint: Pick<HttpApiEndpoint.Top, "annotations">) =>
  Option.getOrUndefined(Context.getOption(endpoint.annotations, NeededScopes))

describe("a declared endpoint", () => {
  it.each([
    { what: "one that reads", endpoint: read("read", "/things", about), codes: [] },
    {
      what: "one that reads by a query",
      endpoint: read("list", "/things", { ...about, query: { state: Schema.String } }),
      codes: ["validation_failed"]
    },
    { what: "one that reads one thing", endpoint: read("get", "/things/:id", about), codes: ["not_found"] },
    {
      what: "an act",
      endpoint: act("make", "/things", { ...about, scope }),
      codes: ["validation_failed", "bad_request"]
    },
    {
      what: "an act on one thing, with a refusal of its own",
      endpoint: act("close", "/things/:id/close", { ...about, scope, refused: ["conflict"] }),
      codes: ["validation_failed", "bad_request", "not_found", "conflict"]
    },
    {
      what: "one that replaces",
      endpoint: put("put", "/things/:id", { ...about, scope, payload: Body }),
      codes: ["validation_failed", "bad_request", "not_found"]
    },
    {
      what: "one that removes, without a body",
      endpoint: remove("remove", "/things/:id", { ...about, scope }),
      codes: ["not_found"]
    },
    {
      what: "one that removes, with a body",
      endpoint: remove("cancel", "/things/:id", { ...about, scope, payload: Body }),
      codes: ["validation_failed", "bad_request", "not_found"]
    }
  ])("refuses as each does, and by what it is: $what", ({ endpoint, codes }) => {
    assert.sameMembers(codesOf(endpoint), ["unauthorized", "internal_error", ...codes])
  })

  it("has the parameters that its path names", () => {
    const { params } = act("close", "/things/:id/parts/:part/close", { ...about, scope })
    assert.deepStrictEqual((params as unknown as Schema.Struct<Schema.Struct.Fields>).fields, {
      id: Schema.String,
      part: Schema.String
    })
    assert.isUndefined(read("list", "/things", about).params)
  })

  it("needs the scope of reading, or the one that it names", () => {
    assert.deepStrictEqual(scopesOf(read("list", "/things", about)), ["console:read"])
    assert.deepStrictEqual(scopesOf(read("list", "/things", { ...about, scope: "voices:read" })), ["voices:read"])
    assert.deepStrictEqual(scopesOf(act("make", "/things", { ...about, scope })), ["console:write"])
  })

  it("takes the API's body where it names no other", () => {
    const bodiesOf = (endpoint: Pick<HttpApiEndpoint.Top, "payload">) =>
      [...endpoint.payload.values()].flatMap(({ schemas }) => schemas)
    assert.deepStrictEqual(bodiesOf(act("make", "/things", { ...about, scope })), [Body])
    const Own = Schema.Struct({ name: Schema.String })
    assert.deepStrictEqual(bodiesOf(act("make", "/things", { ...about, scope, payload: Own })), [Own])
    assert.deepStrictEqual(bodiesOf(remove("remove", "/things/:id", { ...about, scope })), [])
  })

  it("keeps its example", () => {
    const { annotations } = act("make", "/things", { ...about, scope, example: { reason: "a test" } })
    assert.deepStrictEqual(Context.getUnsafe(annotations, BodyExample), { reason: "a test" })
  })

  it("cannot be declared where it changes something and names no scope", () => {
    // @ts-expect-error
    act("make", "/things", about)
  })
})
