import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeConfiguration, environmentKeys, environmentValue } from "#contracts"

const faults = (input: unknown) => {
  const decoded = decodeConfiguration(input)
  return Result.isFailure(decoded) ? decoded.failure : []
}
const endpoint = (changes: object) => ({ Name: "a", Url: "https://receiver.example/hook", ...changes })

describe("the configuration", () => {
  it("may be empty: everything has a default", () => {
    const decoded = decodeConfiguration({ Webhooks: [endpoint({})] })
    assert.isTrue(Result.isSuccess(decoded))
    if (!Result.isSuccess(decoded)) return
    const [entry] = decoded.success.Webhooks
    assert.deepInclude(entry, { MaxAttempts: 3, InitialBackoffSeconds: 1, TimeoutSeconds: 10, EventFilter: [] })
    assert.strictEqual(decoded.success.WebhookDelivery.RetryAfterMaxSeconds, 60)
  })

  it("names every unknown key and wrong value at once, by its path", () => {
    const paths = faults({
      Webhoks: [],
      Webhooks: [endpoint({ Url: "ftp://x" }), endpoint({ Name: "b", MaxAttempts: 0, Retries: 1 })],
      Bus: { Replicas: 2 }
    }).map((fault) => fault.path)
    assert.includeMembers(paths, [
      "Webhoks",
      "Webhooks[0].Url",
      "Webhooks[1].MaxAttempts",
      "Webhooks[1].Retries",
      "Bus.Replicas"
    ])
  })

  it("refuses two endpoints of one name, and says which", () => {
    const [fault] = faults({ Webhooks: [endpoint({}), endpoint({ Url: "http://other.example" })] })
    assert.strictEqual(fault?.message, `the Name "a" is used twice`)
  })

  it.each([
    ["not a url", "not a URL"],
    ["https://user:pass@receiver.example/", "credentials"],
    ["file:///etc/passwd", "https and http"],
    ["https://receiver.example/#part", "fragment"]
  ])("refuses the Url %s", (Url, reason) => {
    assert.include(faults({ Webhooks: [endpoint({ Url })] })[0]?.message, reason)
  })

  it.each(["10.0.0.0/8", "::1/128", "fd00::/8", "192.168.1.7/32"])("takes %s as a network", (cidr) => {
    assert.deepStrictEqual(faults({ WebhookDelivery: { AllowCidrs: [cidr] } }), [])
  })

  it.each(["10.0.0.0", "10.0.0.0/33", "everything", "::1/129"])("does not take %s as a network", (cidr) => {
    assert.strictEqual(faults({ WebhookDelivery: { AllowCidrs: [cidr] } })[0]?.path, "WebhookDelivery.AllowCidrs[0]")
  })

  it("can be overridden key by key from the environment", () => {
    const variables = new Map(environmentKeys.map((key) => [key.variable, `${key.section}.${key.key}`]))
    assert.strictEqual(variables.get("BUS_URL"), "Bus.Url")
    assert.strictEqual(variables.get("WEBHOOK_DELIVERY_PARKED_MAX_DAYS"), "WebhookDelivery.ParkedMaxDays")
    assert.deepStrictEqual(["7", "0.5", "true", '["10.0.0.0/8"]', "nats://a:1", "[broken"].map(environmentValue), [
      7,
      0.5,
      true,
      ["10.0.0.0/8"],
      "nats://a:1",
      "[broken"
    ])
  })
})
