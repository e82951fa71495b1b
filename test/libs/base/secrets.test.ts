import { assert, describe, it } from "@effect/vitest"
import { secretFault, type SecretKind } from "#base"
import { standardWebhooksKey } from "#webhooks"

const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString("base64")
const whsec = (bytes: number) => `whsec_${base64(bytes)}`

type Verdict = "good" | "bad" | "none"
type Row = readonly [kind: SecretKind, what: string, secret: string, verdict: Verdict]

const everyKind: ReadonlyArray<SecretKind> = [
  "signature",
  "standardWebhooks",
  "sealing",
  "provider",
  "proof",
  "password"
]
const good = "a-secret-of-more-than-32-characters"

const rows: ReadonlyArray<Row> = [
  ...everyKind.flatMap((kind): ReadonlyArray<Row> => [
    [kind, "a good one", good, "good"],
    [kind, "nothing", "", "none"],
    [kind, "a line break alone", "\n", "none"],
    [kind, "spaces alone", "  \t ", "none"],
    [kind, "a line break at its end", `${good}\n`, "bad"],
    [kind, "a line break of Windows", `${good}\r\n`, "bad"]
  ]),
  ["checked", "a line break, which its reader cuts", `${good}\n`, "good"],
  ["checked", "nothing", "", "none"],
  ["signature", "one letter", "s", "bad"],
  ["signature", "15 characters", "x".repeat(15), "bad"],
  ["signature", "16 characters", "x".repeat(16), "good"],
  ["signature", "257 characters", "x".repeat(257), "bad"],
  ["signature", "a space within", `${good} ${good}`, "bad"],
  ["signature", "letters beyond ASCII", "ein-Schlüssel-für-alle", "bad"],
  ["standardWebhooks", "24 bytes", whsec(24), "good"],
  ["standardWebhooks", "64 bytes", whsec(64), "good"],
  ["standardWebhooks", "23 bytes", whsec(23), "bad"],
  ["standardWebhooks", "65 bytes", whsec(65), "bad"],
  ["standardWebhooks", "the prefix alone", "whsec_", "none"],
  ["standardWebhooks", "no base64 at all", "whsec_!!!", "none"],
  ["standardWebhooks", "one letter of it", "whsec_!a!", "none"],
  ["standardWebhooks", "padding alone", "whsec_====", "none"],
  ["standardWebhooks", "no base64 and a line break", "whsec_!!!\n", "none"],
  ["standardWebhooks", "base64 without its padding", whsec(32).replaceAll("=", ""), "bad"],
  ["standardWebhooks", "base64 of URLs", `whsec_${"-_".repeat(16)}`, "bad"],
  ["standardWebhooks", "base64 with bits left over", `${whsec(31).slice(0, -2)}x=`, "bad"],
  ["standardWebhooks", "base64 with a space", `whsec_${base64(32).slice(0, 8)} ${base64(32).slice(8)}`, "bad"],
  ["standardWebhooks", "the prefix of a signature", `v1,${whsec(32)}`, "bad"],
  ["standardWebhooks", "23 characters", "x".repeat(23), "bad"],
  ["standardWebhooks", "65 characters", "x".repeat(65), "bad"],
  ["sealing", "15 characters", "x".repeat(15), "bad"],
  ["provider", "any length", "x", "good"],
  ["provider", "a line break within", "a\nb", "bad"],
  ["provider", "a letter beyond ASCII", "schlüssel", "bad"],
  ["provider", "a space at its end", "key ", "bad"],
  ["proof", "31 characters", "x".repeat(31), "none"],
  ["proof", "31 characters and a line break", `${"x".repeat(31)}\n`, "none"],
  ["proof", "a letter beyond ASCII", `${good}ü`, "bad"]
]

describe("a secret", () => {
  const named = rows.map(([kind, what, secret, verdict]) => [kind, what, verdict, secret] as const)
  it.each(named)("of the kind %s: %s is %s", (kind, _what, verdict, secret) => {
    const fault = secretFault(kind, secret)
    assert.strictEqual(fault === undefined ? "good" : fault.isNoSecret ? "none" : "bad", verdict)
    if (secret.trim().length > 6) assert.notInclude(fault?.message ?? "", secret.trim())
  })

  it("is none exactly where its signing key would be empty", () => {
    const letters = ["a", "!", "=", "-", "+", "\n", "ü"]
    let texts = [""]
    for (let length = 0; length < 4; length++) {
      texts = texts.flatMap((text) => letters.map((letter) => text + letter))
      for (const text of texts) {
        const isEmpty = standardWebhooksKey(`whsec_${text}`).length === 0
        assert.strictEqual(secretFault("standardWebhooks", `whsec_${text}`)?.isNoSecret, isEmpty, JSON.stringify(text))
      }
    }
  })
})
