import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeConfiguration } from "#contracts"

const faultsOf = (...origins: ReadonlyArray<string>) => {
  const decoded = decodeConfiguration({ ModelGateway: { AllowedOrigins: origins } })
  return Result.isFailure(decoded) ? decoded.failure.map(({ message }) => message) : []
}

describe("the pages that may call an API", () => {
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
  ])("%s is told to be none", (origin, why) => {
    const [fault = ""] = faultsOf(origin)
    assert.include(fault, why)
  })

  it("are all of them for the gateway and none for speech, when nobody says", () => {
    const { ModelGateway, SpeechApi } = Result.getOrThrow(decodeConfiguration({}))
    assert.deepStrictEqual([ModelGateway.AllowedOrigins, SpeechApi.AllowedOrigins], [["*"], []])
  })
})
