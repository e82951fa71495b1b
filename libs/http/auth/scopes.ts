/**
 * Scopes like `audio:speech`, and the grants of a caller. A grant is a scope, a whole family (`audio:all` or
 * `audio:*`), one verb of every family (`*:read`), or `*`. Pure.
 */
import { apiScopes, type Permission } from "#contracts"
import type { TokenRecord } from "./Tokens.ts"

export type RoleScopes = Readonly<Record<TokenRecord["role"], ReadonlyArray<string>>>

// A member uses the fleet; what operators decide for all of it takes an admin.
const memberScopes = ["audio:*", "pipeline:*", "voices:*", "*:read", "console:write"]

export const roleScopes: RoleScopes = {
  owner: ["*"],
  admin: ["*"],
  member: memberScopes,
  viewer: ["*:read"]
}

const covers = (grant: string, scope: string): boolean => {
  if (grant === "*" || grant === scope) return true
  const [family, verb] = grant.split(":")
  const [wantedFamily, wantedVerb] = scope.split(":")
  if (family === "*") return verb === wantedVerb
  return family === wantedFamily && (verb === "*" || verb === "all")
}

const grantedBy = (grants: ReadonlyArray<string>, scope: string) => grants.some((grant) => covers(grant, scope))

/** A member may use a scope that its role and its token both allow, a service account one that its token allows. */
export const mayUse = (record: Pick<TokenRecord, "kind" | "role" | "scopes">, roles: RoleScopes, scope: string) =>
  grantedBy(record.scopes, scope) && (record.kind === "service" || grantedBy(roles[record.role], scope))

const permittedRoles: Readonly<Record<Permission, ReadonlyArray<TokenRecord["role"]>>> = {
  "content.manage": ["owner", "admin", "member"]
}

/** A member has the permissions of its role; for a service account its scopes decide alone. */
export const isPermitted = ({ kind, role }: Pick<TokenRecord, "kind" | "role">, permission: Permission): boolean =>
  kind === "service" || permittedRoles[permission].includes(role)

/** Grants that match no existing scope. */
export const unknownGrants = (grants: ReadonlyArray<string>): ReadonlyArray<string> =>
  grants.filter((grant) => !apiScopes.some((scope) => covers(grant, scope)))

/** Grants of which the role allows nothing. */
export const grantsBeyond = (
  role: TokenRecord["role"],
  grants: ReadonlyArray<string>,
  roles: RoleScopes = roleScopes
): ReadonlyArray<string> =>
  grants.filter((grant) => !apiScopes.some((scope) => covers(grant, scope) && grantedBy(roles[role], scope)))

/** The role with the fewest rights that allows all of every grant; a viewer without grants. */
export const leastRole = (grants: ReadonlyArray<string>, roles: RoleScopes = roleScopes): TokenRecord["role"] => {
  const wanted = apiScopes.filter((scope) => grantedBy(grants, scope))
  const fromLeast = ["viewer", "member", "admin"] as const
  return fromLeast.find((role) => wanted.every((scope) => grantedBy(roles[role], scope))) ?? "owner"
}
