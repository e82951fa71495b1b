import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeConfiguration } from "#configuration"

const faultsOf = (...origins: ReadonlyArray<string>) => {
  const decoded = decodeConfiguration({ ModelGateway: { AllowedOrigins: origins } })
  return Result.isFailure(decoded) ? decoded.failure.map(({ message }) => message) : []
}

describe("the allowed origins of an API", () => {
  it("are origins as browsers write them, or all", () => {
    assert.deepStrictEqual(faultsOf("*", "https://app.example.com", "http://localhost:3000"), [])
  })

  it.each([
    ["https://app.example.com/", "https://app.example.com"],
    ["https://App.example.com", "https://app.example.com"],
    ["https://app.example.com:443", "https://app.example.com"],
    ["https://app.example.com/page", "https://app.example.com"],
    ["app.example.com", "neither"],
    ["null", "neither"],
    ["file:///x", "neither"],
    ["https://*.example.com", "neither"]
  ])("do not include %s", (origin, why) => {
    const [fault = ""] = faultsOf(origin)
    assert.include(fault, why)
  })

  it("default to all for the gateway and to none for speech", () => {
    const { ModelGateway, SpeechApi } = Result.getOrThrow(decodeConfiguration({}))
    assert.deepStrictEqual([ModelGateway.AllowedOrigins, SpeechApi.AllowedOrigins], [["*"], []])
  })
})
