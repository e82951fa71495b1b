import { createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { verify } from "#webhooks/signature"

const nowSeconds = 1_795_176_000
const body = '{"event":"queue.paused"}'
const text = "a-secret-of-16-b"
const encoded = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`
const keyOf = (secret: string) =>
  secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret)

const signatureOf = (secret: string, timestamp = String(nowSeconds)) =>
  `v1,${createHmac("sha256", keyOf(secret)).update(`id.${timestamp}.${body}`).digest("base64")}`
const headersOf = (signature = signatureOf(text), timestamp = String(nowSeconds)) => ({
  "webhook-id": "id",
  "webhook-timestamp": timestamp,
  "webhook-signature": signature
})

/** Of a receiver with this secret. */
const isTaken = (
  headers: Parameters<typeof verify>[1] = headersOf(),
  secret = text,
  given: Uint8Array | string = body
) => verify(secret, headers, given, nowSeconds)

describe("a webhook's signature", () => {
  it("is taken with the body as it came, as text or bytes, and headers of Node or of Fetch", async () => {
    assert.isTrue(await isTaken())
    assert.isTrue(await isTaken(headersOf(), text, new TextEncoder().encode(body)))
    assert.isTrue(await isTaken(new Headers(headersOf())))
    assert.isFalse(await isTaken(new Headers()))
  })

  it.each([
    ["another body", () => isTaken(headersOf(), text, `${body} `)],
    ["another id", () => isTaken({ ...headersOf(), "webhook-id": "di" })],
    ["no id", () => isTaken({ ...headersOf(), "webhook-id": "" })],
    ["another time", () => isTaken(headersOf(signatureOf(text), String(nowSeconds - 1)))],
    ["a time that is no number", () => isTaken(headersOf(signatureOf(text, "soon"), "soon"))],
    ["another secret", () => isTaken(headersOf(), "another-secret-of-16")],
    ["several values of one header", () => isTaken({ ...headersOf(), "webhook-id": ["id"] })],
    ["no signature", () => isTaken(headersOf(""))],
    ["a signature of another version", () => isTaken(headersOf(signatureOf(text).replace("v1,", "v2,")))],
    ["a signature that is no base64", () => isTaken(headersOf("v1,***"))],
    ["a signature with something behind it", () => isTaken(headersOf(`${signatureOf(text)}!`))]
  ])("is refused with %s", async (_, taken) => {
    assert.isFalse(await taken())
  })

  it("is taken within five minutes of its time, before and after", async () => {
    const at = (seconds: number) => {
      const timestamp = String(nowSeconds + seconds)
      return isTaken(headersOf(signatureOf(text, timestamp), timestamp))
    }
    assert.deepStrictEqual(await Promise.all([-301, -300, 300, 301].map((seconds) => at(seconds))), [
      false,
      true,
      true,
      false
    ])
  })

  it("is one of at most eight, while secrets are rotated", async () => {
    const among = (others: number) =>
      isTaken(
        headersOf([...Array.from({ length: others }, () => signatureOf(encoded(24))), signatureOf(text)].join(" "))
      )
    assert.deepStrictEqual([await among(1), await among(7), await among(8)], [true, true, false])
  })

  it.each([
    ["a text of sixteen bytes", text, true],
    ["a text of fifteen", text.slice(1), false],
    ["24 bytes in base64", encoded(24), true],
    ["23 bytes in base64", encoded(23), false],
    ["64 bytes in base64", encoded(64), true],
    ["65 bytes in base64", encoded(65), false],
    ["base64 that is none", "whsec_***************************", false],
    ["a signature in its place", `v1,${"a".repeat(40)}`, false]
  ])("is taken by a secret that is a key alone: %s", async (_, secret, taken) => {
    assert.strictEqual(await isTaken(headersOf(signatureOf(secret)), secret), taken)
  })
})
