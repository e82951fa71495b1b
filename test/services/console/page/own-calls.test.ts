import { assert, describe, it } from "@effect/vitest"
import { type BrowserCall, originAt, verdictOn } from "../../../../services/console/page/PageAccess.ts"

const own = "http://127.0.0.1:7405"
const host = "127.0.0.1:7405"
const configured = ["https://console.example.com"]
const stream = "text/event-stream"

const call = (more: Partial<BrowserCall>): BrowserCall => ({
  method: "POST",
  host,
  origin: undefined,
  site: undefined,
  accept: undefined,
  ...more
})

describe("the page's origin", () => {
  it.each([
    ["127.0.0.1:7405", own],
    ["localhost:7405", "http://localhost:7405"],
    ["LOCALHOST", "http://localhost"],
    ["localhost:9000", "http://localhost:9000"],
    ["[::1]:7405", "http://[::1]:7405"],
    ["console.example.com", "https://console.example.com"],
    ["console.example.com:8443", undefined],
    ["evil.example", undefined],
    ["127.0.0.1.evil.example:7405", undefined],
    ["localhost.evil.example", undefined],
    ["evil.example@localhost", undefined],
    ["10.0.0.7:7405", undefined],
    ["127.0.0.1:7405, evil.example", undefined],
    ["", undefined],
    [undefined, undefined]
  ])("under the name %s is %s", (named, origin) => {
    assert.strictEqual(originAt(named, configured), origin)
  })
})

describe("a call by cookie", () => {
  it.each([
    ["a write of the page", { origin: own, site: "same-origin" }],
    ["a write of an old browser's page", { origin: own }],
    ["a write that only Sec-Fetch-Site describes", { site: "same-origin" }],
    ["a read of the page", { method: "GET", site: "same-origin" }],
    ["a file that is opened by its address", { method: "GET", site: "none" }],
    ["a read without any of these headers", { method: "GET" }],
    ["a stream of the page", { method: "GET", site: "same-origin", accept: stream }]
  ])("is the page's own: %s", (_, more) => {
    assert.deepStrictEqual(verdictOn(call(more), configured), { _tag: "Own", origin: own })
  })

  it.each([
    ["a write that nothing describes", {}],
    ["a write of another page", { origin: "https://evil.example", site: "cross-site" }],
    ["a write of a page on another port", { origin: "http://127.0.0.1:3000", site: "same-site" }],
    ["a write of a page without an origin", { origin: "null" }],
    ["a write with one wrong header of two", { origin: own, site: "cross-site" }],
    ["a write with a foreign origin and no more", { origin: "http://localhost:7405", site: "same-origin" }],
    ["a write that was opened by its address", { site: "none" }],
    ["a read of another page", { method: "GET", site: "cross-site" }],
    ["a read with another origin", { method: "GET", origin: "http://localhost:3000" }],
    ["a stream that nothing describes", { method: "GET", accept: stream }],
    ["a stream of another page", { method: "GET", accept: stream, site: "same-site" }]
  ])("is foreign: %s", (_, more) => {
    assert.strictEqual(verdictOn(call(more), configured)._tag, "Foreign")
  })

  it("is misdirected under a name that is none of the page's, whatever else it says", () => {
    const rebound = { host: "evil.example:7405", origin: "http://evil.example:7405", site: "same-origin" }
    for (const method of ["GET", "POST"])
      assert.strictEqual(verdictOn(call({ ...rebound, method }), configured)._tag, "Misdirected")
  })
})
