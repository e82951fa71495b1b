/** Secrets at every place of a body, in bodies of every shape. */
import { assert, describe, it } from "@effect/vitest"
import { makeRedact, redactBody } from "#runtime"
import { diceOf } from "../../support/random-ssml.ts"
import { computed } from "../../support/processor-time.ts"

const known = 'correct "horse" \\ bättery'
const redact = makeRedact([{ Name: "badge", Pattern: "BADGE-\\d{6}" }], [known])
const token = "ghp_0123456789abcdefghij0123456789abcdef"
const encode = (text: string) => new TextEncoder().encode(text)
const bytesMax = 64 * 1_024
const redacted = (text: string, max = bytesMax) => {
  const { bytes } = redactBody(encode(text), redact, max)
  return new TextDecoder().decode(bytes)
}

describe("an unreadable message body, redacted", () => {
  it("is cut, but never in the middle of a secret", () => {
    for (let before = bytesMax - 60; before <= bytesMax + 10; before++) {
      for (const text of [`{"error":"${".".repeat(before)}${token}"}`, `${".".repeat(before)} ${token} and more`]) {
        const { bytes, isCut } = redactBody(encode(text), redact, bytesMax)
        assert.isTrue(isCut || bytes.length < text.length)
        assert.isAtMost(bytes.length, bytesMax)
        assert.notInclude(new TextDecoder().decode(bytes), "ghp_")
      }
    }
    const whole = encode(" ".repeat(bytesMax))
    assert.deepStrictEqual(redactBody(whole, redact, bytesMax), { bytes: whole, isCut: false })
  })

  it("holds no part of a secret when a long one shrinks and another is cut", () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${"A".repeat(bytesMax)}\n-----END PRIVATE KEY-----`
    for (let after = 3_900; after < 4_100; after++) {
      assert.notInclude(redacted(`${key}${" ".repeat(after)}${token.repeat(4)}`), "ghp_")
    }
  })

  it("takes time proportional to its length, for any content", () => {
    for (const part of ['"', "\\", '\\"', '{"token":', '"a":"', "eyJ", "-----BEGIN A PRIVATE KEY-----", "\u0000"]) {
      const body = encode(part.repeat(Math.ceil(200_000 / part.length)))
      assert.isBelow(computed(() => redactBody(body, redact, bytesMax)).processorMs, 2_000, part)
    }
  })

  it("stays JSON of the same structure wherever secrets are planted", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const { below, of } = diceOf(seed)
      const text = () =>
        `${of(["", "a ", '"', "\\", "é "])}${of([token, known, "BADGE-123456", "plain", ""])}${of(["", " b", "\n"])}`
      const value = (depth: number): unknown => {
        const kind = below(depth > 3 ? 3 : 5)
        if (kind === 0) return text()
        if (kind === 1) return of([null, true, 7, -1.5e10])
        if (kind === 2) return text()
        const many = Array.from({ length: below(4) }, () => value(depth + 1))
        return kind === 3 ? many : Object.fromEntries(many.map((each, index) => [`${index} ${text()}`, each]))
      }
      const body = value(0)
      const clean = redacted(JSON.stringify(body))
      const shapeOf = (json: unknown): unknown => {
        if (Array.isArray(json)) return json.map(shapeOf)
        if (typeof json === "object" && json !== null) return Object.values(json).map(shapeOf)
        return typeof json === "string" ? "text" : json
      }
      assert.deepStrictEqual(shapeOf(JSON.parse(clean)), shapeOf(body))
      for (const secret of [token, "horse", "BADGE-1"]) assert.notInclude(clean, secret)
    }
  })
})
