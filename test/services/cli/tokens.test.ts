import { assert, describe, it } from "@effect/vitest"
import { tokenLimits } from "#base"
import type { TokenRecord } from "#http"
import { readLifetime, span, tokenJson, tokenRow } from "../../../services/cli/tokens.ts"

const nowMs = Date.parse("2026-06-01T12:00:00.000Z")
const at = (ms: number) => new Date(nowMs + ms).toISOString() as TokenRecord["createdAt"]
const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

const record = (id: string, more: Partial<TokenRecord> = {}): TokenRecord => ({
  id,
  workspace: "default",
  kind: "member",
  role: "viewer",
  scopes: ["*"],
  createdAt: at(-2 * day),
  revokedAt: null,
  ...more
})

describe("a lifetime", () => {
  it.each([
    ["30d", 30 * day],
    ["12h", 12 * hour],
    ["26w", 26 * 7 * day],
    ["45m", 45 * minute],
    ["90s", 90_000],
    ["3650d", tokenLimits.lifetimeMsMax],
    ["never", undefined]
  ])("of %s is read as %s ms", (text, lifetimeMs) => {
    assert.deepStrictEqual(readLifetime(text), { lifetimeMs })
  })

  it.each(["", "0d", "-1d", "1.5h", "30", "d", "30 d", "3651d", "999999999w", "forever", "30D", "1e3d"])(
    "is refused for %j",
    (text) => {
      assert.strictEqual(readLifetime(text), "refused")
    }
  )

  it.each([
    [-5, "0 s"],
    [59_999, "59 s"],
    [minute, "1 min"],
    [hour - 1, "59 min"],
    [day - 1, "23 h"],
    [90 * day + hour, "90 d"]
  ])("of %s ms is shown as %s", (ms, told) => {
    assert.strictEqual(span(ms), told)
  })
})

describe("the list of tokens", () => {
  it.each([
    [
      record("bbb", { label: "ci", kind: "service", scopes: ["audio:speech", "voices:read"], expiresAt: at(90 * day) }),
      at(-26 * hour),
      "bbb | ci | default | service | audio:speech,voices:read | 2 d | in 90 d | 1 d ago"
    ],
    [
      record("aaa", { createdAt: at(-3 * day), role: "owner", purpose: "home" }),
      at(-5 * minute),
      "aaa | owner of the home | default | owner | * | 3 d | never | within the hour"
    ],
    [
      record("ccc", { createdAt: at(-hour), expiresAt: at(-minute) }),
      undefined,
      "ccc | - | default | viewer | * | 1 h | expired 1 min ago | never"
    ],
    [
      record("ddd", { createdAt: at(-minute), revokedAt: at(-30_000), workspace: "w" }),
      undefined,
      "ddd | - | w | viewer | * | 1 min | revoked 30 s ago | never"
    ]
  ])("shows the rights, age, end and last use of %j", (given, lastUsedAt, row) => {
    assert.strictEqual(
      Object.values(tokenRow(given, lastUsedAt, nowMs))
        .map((cell) => cell ?? "-")
        .join(" | "),
      row
    )
  })

  it("fills in JSON the fields that a record omits", () => {
    assert.deepStrictEqual(tokenJson(record("aaa"), undefined), {
      id: "aaa",
      label: null,
      workspace: "default",
      kind: "member",
      role: "viewer",
      scopes: ["*"],
      createdAt: at(-2 * day),
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null
    })
  })
})
