import { assert, describe, it } from "@effect/vitest"
import { mayManageContent } from "../../../../services/speech-api/routes/voices.ts"

describe("the content of a workspace", () => {
  it.each([
    ["member", "owner", true],
    ["member", "admin", true],
    ["member", "member", true],
    ["member", "viewer", false],
    // A service account has no role of its own: its scopes decide.
    ["service", "viewer", true],
    ["service", "owner", true]
  ] as const)("is managed by a %s with the role %s: %s", (kind, role, may) => {
    assert.strictEqual(mayManageContent({ kind, role }), may)
  })
})
