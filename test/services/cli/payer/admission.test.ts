import { assert, describe, it } from "@effect/vitest"
import { callerFault } from "../../../../services/cli/payer/admission.ts"

const token = "a-token-of-this-run"
const host = "127.0.0.1:7409"
const bearer = `Bearer ${token}`

describe("the payer's door", () => {
  it.each([
    ["a bearer token", { host, authorization: bearer }, undefined],
    ["a bearer token in another case", { host, authorization: `bearer ${token}` }, undefined],
    ["an API key", { host, "x-api-key": token }, undefined],
    ["an API key beside another's bearer token", { host, authorization: "Bearer none", "x-api-key": token }, undefined],
    ["the name localhost", { host: "LOCALHOST:7409", authorization: bearer }, undefined],
    ["no token", { host }, 401],
    ["an empty token", { host, authorization: "Bearer ", "x-api-key": "" }, 401],
    ["a wrong token", { host, authorization: "Bearer a-token-of-this-ru" }, 401],
    ["a token as a password", { host, authorization: `Basic ${token}` }, 401],
    ["another port", { host: "127.0.0.1:7402", authorization: bearer }, 403],
    ["no port", { host: "127.0.0.1", authorization: bearer }, 403],
    ["a foreign name", { host: "evil.example:7409", authorization: bearer }, 403],
    ["no host", { authorization: bearer }, 403],
    ["a page of another origin", { host, authorization: bearer, origin: "https://evil.example" }, 403],
    ["a page without an origin", { host, authorization: bearer, origin: "null" }, 403],
    ["a page of its own", { host, authorization: bearer, origin: "http://127.0.0.1:7409" }, 403]
  ])("with %s answers as it should", (_, headers, status) => {
    assert.strictEqual(callerFault({ headers, port: 7_409 }, token)?.status, status)
  })
})
