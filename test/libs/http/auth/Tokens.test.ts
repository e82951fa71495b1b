import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { apiScopes } from "#base"
import { grantsNotHeld, leastRole, type TokenOrder, type TokenRecord, tokenRequest } from "#http"
import { isPermitted, mayUse, roleScopes } from "../../../../libs/http/auth/Tokens.ts"

type Rights = Pick<TokenRecord, "kind" | "role" | "scopes">
const member = (role: TokenRecord["role"], ...scopes: ReadonlyArray<string>): Rights => ({
  kind: "member",
  role,
  scopes
})
const ofVoices = apiScopes.filter((scope) => scope.startsWith("voices:"))
const service = (...scopes: ReadonlyArray<string>): Rights => ({ kind: "service", role: "viewer", scopes })

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

describe("the scope tokens:manage", () => {
  it.each([
    ["an owner's token", member("owner", "*"), true],
    ["an owner's token that names it", member("owner", "tokens:manage"), true],
    ["an owner's token of other scopes", member("owner", "console:*"), false],
    ["an admin's token", member("admin", "*"), false],
    ["an admin's token that names it", member("admin", "tokens:manage"), false],
    ["a member's token", member("member", "*"), false],
    ["a viewer's token", member("viewer", "*"), false],
    // It may have been made before there was such a scope.
    ["a service account's token", service("*"), false],
    ["a service account's token that names it", service("tokens:manage"), true]
  ])("is had by %s: %s %s", (_, rights, isHad) => {
    assert.strictEqual(mayUse(rights, roleScopes, "tokens:manage"), isHad)
  })

  it("needs an owner's role, which all other scopes together do not", () => {
    assert.strictEqual(leastRole(["tokens:manage"]), "owner")
    assert.strictEqual(leastRole(["*"]), "admin")
  })
})

describe("the grants that somebody may not give", () => {
  it.each([
    [member("owner", "*"), member("owner", "*"), []],
    [member("owner", "*"), service("*", "tokens:manage"), []],
    [member("owner", "*"), member("viewer", "*:read", "audio:*"), []],
    [member("owner", "tokens:manage"), member("viewer", "*"), ["*"]],
    [
      member("owner", "tokens:manage", "console:read"),
      member("viewer", "console:read", "voices:read"),
      ["voices:read"]
    ],
    // All that there is today is less than all that there will be.
    [member("owner", ...apiScopes), member("owner", "*"), ["*"]],
    [member("owner", ...apiScopes), member("owner", "audio:*", "audio:speech"), ["audio:*"]],
    [member("owner", "tokens:*", "audio:all"), member("member", "audio:*"), []],
    [member("owner", "tokens:manage", "*:read"), member("viewer", "*:read", "console:read"), []],
    [member("owner", "tokens:manage", "console:*"), member("viewer", "*:read"), ["*:read"]],
    [service("tokens:manage", "pipeline:read"), service("pipeline:*"), ["pipeline:*"]],
    // All scopes of a family now are not those of a later release.
    [service("audio:*", ...ofVoices), service("voices:*"), ["voices:*"]],
    [service("audio:*", ...ofVoices), service(...ofVoices), []],
    [service("voices:all"), service("voices:*"), []],
    // The role of a member bounds what its grants mean.
    [member("owner", "tokens:manage", "*:read"), member("admin", "console:operate"), ["console:operate"]]
  ])("%j, of %j, are %j", (giver, given, beyond) => {
    assert.deepStrictEqual(grantsNotHeld(giver, given), beyond)
  })

  it("leave nothing that the new token may and its giver may not, for any rights of both", () => {
    const grants = [[], ["*"], ["*:read"], ["console:*"], ["audio:all", "console:read"], ["tokens:manage", "voices:*"]]
    const rights = grants.flatMap((scopes) => [
      service(...scopes),
      ...(["viewer", "member", "admin", "owner"] as const).map((role) => member(role, ...scopes))
    ])
    for (const giver of rights) {
      for (const given of rights) {
        if (grantsNotHeld(giver, given).length > 0) continue
        const more = apiScopes.filter((scope) => mayUse(given, roleScopes, scope) && !mayUse(giver, roleScopes, scope))
        assert.isEmpty(more, `${JSON.stringify(giver)} gives ${JSON.stringify(given)}`)
      }
    }
  })
})

describe("an order for a token", () => {
  const order = (more: Partial<TokenOrder>) =>
    tokenRequest({ workspace: "w", fleetWorkspace: "w", kind: "member", scopes: [], lifetimeMs: 60_000, ...more })

  it.each([
    [{}, { role: "viewer", scopes: ["*"] }],
    [{ kind: "service" }, { role: "viewer", scopes: ["*:read"] }],
    [{ role: "admin" }, { role: "admin", scopes: ["*"] }],
    [{ scopes: ["console:write"] }, { role: "member", scopes: ["console:write"] }],
    // In another workspace than the fleet's these mean what stays within it.
    [{ workspace: "acme" }, { workspace: "acme", role: "viewer", scopes: ["*"] }],
    [
      { workspace: "acme", scopes: ["*", "*:read", "audio:*"] },
      { workspace: "acme", role: "admin" }
    ],
    [{ scopes: ["tokens:manage"] }, { role: "owner", scopes: ["tokens:manage"] }]
  ] as const)("%j has few rights unless it says more: %j", (more, rights) => {
    assert.deepInclude(Result.getOrThrow(order(more)), {
      workspace: "w",
      lifetimeMs: 60_000,
      ...rights
    })
  })

  it.each([
    [{ scopes: ["nosuch", "console:read"] }, { _tag: "UnknownScopes", scopes: ["nosuch"] }],
    [
      { role: "viewer", scopes: ["console:write"] },
      { _tag: "BeyondRole", scopes: ["console:write"], role: "viewer" }
    ],
    [
      { workspace: "acme", scopes: ["voices:read", "console:read", "pipeline:*", "*:operate"] },
      { _tag: "BeyondWorkspace", scopes: ["console:read", "pipeline:*", "*:operate"] }
    ],
    [
      { workspace: "acme", kind: "service", scopes: ["payloads:read", "*"] },
      { _tag: "BeyondWorkspace", scopes: ["payloads:read"] }
    ],
    [{ label: "\u001B[2J" }, { _tag: "UnfitLabel" }],
    [{ label: "" }, { _tag: "UnfitLabel" }],
    [{ label: "x".repeat(101) }, { _tag: "UnfitLabel" }]
  ] as const)("%j is refused: %j", (more, fault) => {
    assert.deepStrictEqual(order(more), Result.fail(fault) as never)
  })
})
