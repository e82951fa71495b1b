import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeConfiguration, environmentKeys, environmentValue } from "#configuration"

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

  it("takes no header of a receiver that the dispatcher or the connection sets, and names each", () => {
    const told = (Headers: object) =>
      faults({ Webhooks: [endpoint({ Headers })] }).map(({ path, message }) => `${path}: ${message}`)
    assert.deepStrictEqual(told({ Authorization: "Bearer abc", "X-Api-Key": "k 1" }), [])
    const setByUs = ["Connection", "content-length", "Host", "TE", "X-Service-Signature", "webhook-id", "Content-Type"]
    assert.deepStrictEqual(
      told(Object.fromEntries(setByUs.map((name) => [name, "x"]))),
      setByUs.map((name) => `Webhooks[0].Headers.${name}: set by the dispatcher`)
    )
    assert.lengthOf(told({ "a b": "x", "X-A": "line\r\nInjected: 1", "x-a": "twice", "X-B": "", "X-C": "ü" }), 5)
    assert.lengthOf(told(Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`X-${index}`, "x"]))), 1)
  })

  it("reports all faults once and in order: shapes, duplicates, and contradictions", () => {
    const network = { Network: "eip155:8453", RpcUrls: ["https://node.example"], PayTo: `0x${"1".repeat(40)}` }
    const asset = `0x${"2".repeat(40)}`
    const other = `the token ${asset} of eip155:10 is not in the table of known ones`
    const told = faults({
      Buss: {},
      Webhooks: [endpoint({ Url: "ftp://x" }), endpoint({ Tries: 1 }), { Url: "https://b.example" }, "nonsense"],
      Payments: {
        Networks: [
          { ...network, RpcUrls: [] },
          { ...network, PayTo: "9xQeWvG816bUx9EP", FeePayer: "?" },
          { ...network, Network: "eip155:10", Asset: asset, AssetDecimals: 99 }
        ],
        LeaseSeconds: "long"
      },
      Bus: { TlsCertificateFile: "cert.pem", Replicas: 2 },
      Budget: { WarningThresholdPct: 90, HardCapPct: 80, RetryAfterSeconds: 0 },
      Agents: { Kinds: [{ Kind: "a" }, { Kind: "a", Models: 3 }, { Class: "a", Kind: "c" }] }
    })
    assert.deepStrictEqual(
      told.map(({ path, message }) => `${path}: ${message.split("\n")[0]}`),
      [
        "Buss: Expected no excess property",
        'Webhooks: the Name "a" is used twice',
        "Webhooks[0].Url: only https and http URLs can be called",
        "Webhooks[1].Tries: Expected no excess property",
        "Webhooks[2].Name: Missing key",
        "Webhooks[3]: Expected object",
        "Payments.Networks: the Network eip155:8453 is configured twice",
        "Payments.Networks[0].RpcUrls: Expected a value with a length between 1 and 8",
        "Payments.Networks[1]: 9xQeWvG816bUx9EP is not an address of eip155:8453",
        "Payments.Networks[1].FeePayer: Expected a string matching the RegExp ^[0-9A-Za-z]{1,64}$",
        "Payments.Networks[2].AssetDecimals: Expected a value between 0 and 18",
        `Payments.Networks[2].AssetName: AssetName is needed: ${other}`,
        `Payments.Networks[2].AssetVersion: AssetVersion is needed: ${other}`,
        "Payments.LeaseSeconds: Expected number",
        "Bus: TlsCertificateFile and TlsKeyFile come together",
        "Bus.Replicas: Expected 1 | 3 | 5",
        "Budget: WarningThresholdPct must be less than HardCapPct",
        "Budget.RetryAfterSeconds: Expected a value between 1 and 86400",
        'Agents.Kinds: the Kind "a" is there twice',
        'Agents.Kinds: "a" is the name of a Class and of a Kind',
        "Agents.Kinds[1].Models: Expected array"
      ]
    )
  })

  it("reports no fault that only follows from an unreadable value", () => {
    const network = { RpcUrls: ["https://node.example"], PayTo: "9xQeWvG816bUx9EP" }
    const paths = faults({
      Webhooks: [endpoint({ Name: 5 }), endpoint({ Name: 5 })],
      Payments: {
        Networks: [
          { ...network, Network: "base" },
          { ...network, Network: "base" }
        ]
      },
      Bus: { TlsCertificateFile: "cert.pem", TlsKeyFile: 5 },
      Budget: { WarningThresholdPct: "much" }
    }).map(({ path }) => path)
    assert.deepStrictEqual(paths, [
      "Webhooks[0].Name",
      "Webhooks[1].Name",
      "Payments.Networks[0].Network",
      "Payments.Networks[1].Network",
      "Bus.TlsKeyFile",
      "Budget.WarningThresholdPct"
    ])
  })

  it("refuses two endpoints of one name, and names them", () => {
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

  it.each(["10.0.0.0/8", "::1/128", "fd00::/8", "192.168.1.7/32"])("accepts %s as a network", (cidr) => {
    assert.deepStrictEqual(faults({ WebhookDelivery: { AllowCidrs: [cidr] } }), [])
  })

  it.each(["10.0.0.0", "10.0.0.0/33", "everything", "::1/129"])("refuses %s as a network", (cidr) => {
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
