import { assert, describe, it } from "@effect/vitest"
import { makeRedact } from "#runtime"
import { redactTexts } from "../../../services/pipeline-api/Commands.ts"
import { computed } from "../../support/processor-time.ts"

const redact = makeRedact(
  [{ Name: "badge", Pattern: "BADGE-\\d{6}" }],
  ["correct-horse-battery", "correct-horse-battery-staple", "short"]
)

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
const words = ["the", "gate", "creaks", "why?", "see", "(", ")", ",", "\n", "é", "🐦", "1.5", "a/b", "--", "'", "="]

/** Chance that comes out the same with the same seed. */
const chance = (seed: number) => {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const whole = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  const one = <A>(choices: ReadonlyArray<A>): A => choices[whole(0, choices.length - 1)] as A
  const token = (from: number, to = from, alphabet = letters) =>
    Array.from({ length: whole(from, to) }, () => one([...alphabet])).join("")
  return { whole, one, token }
}
type Chance = ReturnType<typeof chance>

/** Secrets of every shape that is known by sight, of the configured one, and the known values. */
const shapes: ReadonlyArray<(of: Chance) => string> = [
  ({ token }) => `AKIA${token(16, 16, capitals)}`,
  ({ token }) => `ghp_${token(36)}`,
  ({ token }) => `github_pat_${token(22, 80)}`,
  ({ token }) => `glpat-${token(20)}`,
  ({ token }) => `xoxb-${token(12, 40)}`,
  ({ token }) => `sk_live_${token(24)}`,
  ({ token }) => `whsec_${token(32)}`,
  ({ token }) => `sk-ant-${token(40)}`,
  ({ token }) => `AIza${token(35)}`,
  ({ token }) => `ya29.${token(30, 60)}`,
  ({ token }) => `npm_${token(36)}`,
  ({ token }) => `pypi-${token(60)}`,
  ({ token }) => `stl_${token(43)}`,
  ({ token }) => `eyJ${token(12)}.eyJ${token(12)}.${token(20)}`,
  ({ token }) => `-----BEGIN PRIVATE KEY-----\n${token(64)}\n-----END PRIVATE KEY-----`,
  () => "correct-horse-battery",
  () => "correct-horse-battery-staple",
  ({ token }) => `BADGE-${token(6, 6, "0123456789")}`
]

describe("redaction", () => {
  it("leaves nothing of a secret, wherever it is planted", () => {
    for (let seed = 1; seed <= 250; seed++) {
      const of = chance(seed)
      const around = () => Array.from({ length: of.whole(0, 8) }, () => of.one(words)).join(" ")
      const planted = Array.from({ length: of.whole(1, 4) }, () => ({ before: around(), hidden: of.one(shapes)(of) }))
      const text = planted.map(({ before, hidden }) => `${before} ${hidden}`).join(" ")
      const clean = redact(text)
      for (const { before, hidden } of planted) {
        assert.notInclude(clean, hidden, `seed ${seed}`)
        assert.include(clean, before.trim(), `seed ${seed}`)
      }
      assert.strictEqual(redact(clean), clean, `seed ${seed}`)
    }
  })

  it("leaves ordinary texts unchanged", () => {
    const texts = [
      "Which oil do you want: linseed or walnut?",
      "see https://git.example/gates/pull/7 and commit 0123456789abcdef0123456789abcdef01234567",
      "the tokens are counted per user; the password rules are in docs/passwords.md",
      "work_item.question_asked for 5f9d2a3e-8a40-4d53-9c8e-0d1f2a3b4c5d",
      "mask-it-and-task-it, sk-short, AKIA-less"
    ]
    for (const text of texts) assert.strictEqual(redact(text), text)
  })

  it.each([
    ["postgres://app:hunter2@db.example/gates", "postgres://app:[url-password]@db.example/gates"],
    ["Authorization: Bearer abcdefghijklmnopqrst==", "Authorization: Bearer [authorization]"],
    ["password = hunter2hunter2", "password = [secret]"],
    ['{"api_key": "q8w7e6r5t4"}', '{"api_key": "[secret]"}'],
    ["a short one stays", "a short one stays"],
    [
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nMIIE\n-----END RSA PRIVATE KEY-----, mind",
      "[private-key], mind"
    ],
    ["cut off: -----BEGIN PRIVATE KEY-----\nMIIE", "cut off: [private-key]"]
  ])("names the kind of the removed text: %s", (text, clean) => {
    assert.strictEqual(redact(text), clean)
  })

  it("takes time proportional to a text's length, for any content", () => {
    const pieces = [
      "eyJ",
      "sk-",
      "-----BEGIN PRIVATE KEY-----",
      "://a:",
      "password=",
      "ghp_",
      "bearer ",
      "a",
      "xoxb-",
      "://"
    ]
    for (const piece of pieces) {
      const text = piece.repeat(Math.ceil(200_000 / piece.length))
      // A text of a quadratic kind would take minutes.
      assert.isBelow(computed(() => redact(text)).processorMs, 2_000, piece)
    }
  })
})

describe("redaction of a command", () => {
  it("covers every text of people and agents, and no other field", () => {
    const hidden = "ghp_0123456789abcdefghij0123456789abcdef"
    const command = {
      _tag: "Report",
      report: {
        kind: "audit-ended",
        workItemId: hidden,
        findings: [{ title: hidden, description: `look: ${hidden}`, location: null, severity: "Error" }],
        questions: [{ questionId: "q", questionText: hidden }],
        usage: { tokensInput: 3 }
      },
      reason: hidden,
      note: null
    }
    const clean = redactTexts(command, redact)
    assert.deepStrictEqual(clean, {
      _tag: "Report",
      report: {
        kind: "audit-ended",
        workItemId: hidden,
        findings: [{ title: "[github-token]", description: "look: [github-token]", location: null, severity: "Error" }],
        questions: [{ questionId: "q", questionText: "[github-token]" }],
        usage: { tokensInput: 3 }
      },
      reason: "[github-token]",
      note: null
    })
  })

  it("never makes a text longer than its bound", () => {
    const long = `a://b:c@`.repeat(500)
    assert.isAtMost(redactTexts({ answer: long }, redact).answer.length, long.length)
    assert.isAtMost(redactTexts({ title: "a://b:c@" }, redact).title.length, 8)
  })
})
