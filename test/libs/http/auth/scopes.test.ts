import { assert, describe, it } from "@effect/vitest"
import { isPermitted } from "../../../../libs/http/auth/scopes.ts"

describe("the permission content.manage", () => {
  it.each([
    ["member", "owner", true],
    ["member", "admin", true],
    ["member", "member", true],
    ["member", "viewer", false],
    // A service account has no role of its own: its scopes decide.
    ["service", "viewer", true],
    ["service", "owner", true]
  ] as const)("is had by a %s with the role %s: %s", (kind, role, isHad) => {
    assert.strictEqual(isPermitted({ kind, role }, "content.manage"), isHad)
  })
})
