import { assert, describe, it } from "@effect/vitest"
import { faultOfHead } from "../../../libs/runtime/request-head.ts"

const faultOf = (rawHeaders: ReadonlyArray<string>, [major, minor] = [1, 1]) =>
  faultOfHead({ rawHeaders: [...rawHeaders], httpVersionMajor: major, httpVersionMinor: minor })

describe("the head of a request", () => {
  it.each([
    "Authorization",
    "Content-Length",
    "Content-Type",
    "Host",
    "Idempotency-Key",
    "Origin",
    "Proxy-Authorization"
  ])("has %s once, in whatever letters", (name) => {
    const others = name === "Host" ? [] : ["Host", "a"]
    assert.isUndefined(faultOf([...others, name, "x"]))
    const twice = faultOf([...others, name, "x", "Accept", "*/*", name.toLowerCase(), "x"])
    assert.strictEqual(twice, `the header ${name.toLowerCase()} is there twice`)
  })

  it("may have any other header twice, and one whose value is another's name", () => {
    assert.isUndefined(faultOf(["Host", "a", "Accept", "a", "Accept", "b", "X-Host", "host", "X-Other", "Host"]))
  })

  it("has a Host, but for versions that know none", () => {
    const missing = "the header host is missing"
    const versions = [
      [0, 9],
      [1, 0],
      [1, 1],
      [2, 0]
    ] as const
    assert.deepStrictEqual(
      versions.map((version) => faultOf(["Accept", "*/*"], [...version])),
      [undefined, undefined, missing, missing]
    )
  })
})
