import { assert, describe, it } from "@effect/vitest"
import {
  afterAnswer,
  afterCheck,
  afterFailedCall,
  doubtMs,
  faultsText,
  type ProviderFaults,
  type StatusClass,
  statusClassOf
} from "../../../../services/model-gateway/upstream/provider-faults.ts"

const failed = (reason: StatusClass, model = "m", faults: ProviderFaults = []) =>
  afterFailedCall(faults, { model, reason, atMs: 0 })

describe("a provider's answer", () => {
  it.each([
    [200, "2xx"],
    [401, "401"],
    [402, "402"],
    [403, "403"],
    [404, "404"],
    [409, "4xx"],
    [422, "4xx"],
    [429, "429"],
    [500, "5xx"],
    [529, "5xx"]
  ] as const)("of status %d is of class %s", (status, expected) => {
    assert.strictEqual(statusClassOf(status), expected)
  })
})

describe("a provider without calls", () => {
  it.each<readonly [StatusClass, string | undefined]>([
    ["2xx", undefined],
    ["401", "401"],
    ["5xx", "5xx"],
    ["timeout", "timeout"],
    ["unreachable", "unreachable"],
    // It is there. Whether it answers calls is not known.
    ["403", undefined],
    ["404", undefined],
    ["429", undefined]
  ])("that answers %s for its models has the fault %s", (found, expected) => {
    assert.strictEqual(faultsText(afterCheck([], found, 0)), expected)
  })
})

describe("the fault of a call", () => {
  it.each<readonly [StatusClass, StatusClass, StatusClass]>([
    ["401", "401", "2xx"],
    ["401", "401", "404"],
    ["403", "403", "2xx"],
    ["5xx", "5xx", "2xx"],
    ["timeout", "timeout", "404"]
  ])("%s that a check has shown as %s ends with a check that answers %s", (reason, shown, mended) => {
    const known = afterCheck(failed(reason), shown, 1)
    assert.strictEqual(faultsText(known), `${reason} for m`)
    assert.deepStrictEqual(afterCheck(known, mended, 2), [])
  })

  it.each<readonly [StatusClass, StatusClass]>([
    // A list of models that everyone gets.
    ["401", "2xx"],
    // No list of models.
    ["401", "404"],
    ["404", "404"],
    ["402", "2xx"],
    ["5xx", "2xx"],
    ["cut off", "2xx"],
    ["garbled", "2xx"]
  ])("%s is not disproved by a check that answers %s, and ends when nothing failed for a while", (reason, found) => {
    const doubted = afterCheck(failed(reason), found, doubtMs - 1)
    assert.strictEqual(faultsText(doubted), `${reason} for m`)
    assert.deepStrictEqual(afterCheck(doubted, found, doubtMs), [])
  })

  it("unreachable ends with any answer", () => {
    assert.deepStrictEqual(afterCheck(failed("unreachable"), "404", 1), [])
  })

  it("ends with the model's next answer; of another model's, only what is the provider's own", () => {
    assert.deepStrictEqual(afterAnswer(failed("5xx"), "m"), [])
    assert.strictEqual(faultsText(afterAnswer(failed("5xx"), "other")), "5xx for m")
    assert.deepStrictEqual(afterAnswer(failed("401"), "other"), [])
    assert.deepStrictEqual(afterAnswer(afterCheck([], "5xx", 0), "m"), [])
  })

  it("is told for five models, however many there are", () => {
    const models = ["a", "b", "c", "d", "e", "f", "g"]
    const faults = models.reduce<ProviderFaults>((before, model) => failed("404", model, before), [])
    assert.strictEqual(faultsText(faults), "404 for a, 404 for b, 404 for c, 404 for d, 404 for e and 2 more")
  })
})
