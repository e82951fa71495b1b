import { assert, describe, it } from "@effect/vitest"
import { packingFor } from "../../../../services/console/page/PageFiles.ts"
import { urlBelow } from "#http"

describe("how a file of the page is packed", () => {
  it.each([
    ["gzip, deflate, br, zstd", "br"],
    ["GZIP;q=0.5", "gzip"],
    ["br;q=0, gzip", "gzip"],
    ["br; q=0.0", "identity"],
    ["identity", "identity"],
    [undefined, "identity"]
  ] as const)("for %s it is %s", (accepted, packing) => {
    assert.strictEqual(packingFor(accepted), packing)
  })
})

describe("where a call is passed on to", () => {
  it.each([
    ["http://speech:7402", "/v1/voices?limit=2&q=a%2Fb", "http://speech:7402/v1/voices?limit=2&q=a%2Fb"],
    ["http://host:7402/base/", "/v1/x%20y", "http://host:7402/base/v1/x%20y"],
    ["http://host:7402/base", "/../admin", undefined],
    ["http://host:7402/base", "/%2e%2e/admin", undefined],
    ["http://host:7402/base", "/a/../../admin", undefined],
    ["http://host:7402/base", "/a/../b", "http://host:7402/base/b"],
    ["http://host:7402", "//evil.example/x", "http://host:7402//evil.example/x"],
    ["http://host:7402", "@evil.example/x", undefined],
    ["http://host:7402", ":80/x", undefined],
    ["http://host:7402", "", undefined]
  ])("below %s for %s", (base, target, url) => {
    assert.strictEqual(urlBelow(base, target), url)
  })
})
