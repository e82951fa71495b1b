import { assert, describe, it } from "@effect/vitest"
import { reachable } from "../../../services/model-gateway/origin.ts"

describe("the default origin of a gateway", () => {
  it.each([
    ["http://127.0.0.1:7402", "http://127.0.0.1:7402"],
    ["http://0.0.0.0:4711", "http://127.0.0.1:4711"],
    ["http://[::]:4711", "http://127.0.0.1:4711"],
    ["http://[::1]:4711", "http://[::1]:4711"],
    ["http://models.internal:80", "http://models.internal:80"]
  ])("at %s is %s", (listening, origin) => {
    assert.strictEqual(reachable(listening), origin)
  })
})
