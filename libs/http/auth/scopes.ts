/**
 * Scopes like `audio:speech`, and the grants of a caller. A grant is a scope, a whole family (`audio:all` or
 * `audio:*`), one verb of every family (`*:read`), or `*`: all that the role may. Pure.
 */
import { apiScopes, type Permission } from "#contracts"
import type { TokenRecord } from "./Tokens.ts"

export type RoleScopes = Readonly<Record<TokenRecord["role"], ReadonlyArray<string>>>

// A member uses the fleet; what operators decide for all of it takes an admin.
const memberScopes = ["audio:*", "pipeline:*", "voices:*", "*:read", "console:write"]

// Who has one can give rights to others. A `*` means them in an owner's token alone: service accounts that have `*`
// were not made for it.
const ownersScopes: ReadonlyArray<string> = ["tokens:manage"]

export const roleScopes: RoleScopes = {
  owner: ["*", ...ownersScopes],
  admin: ["*"],
  member: memberScopes,
  viewer: ["*:read"]
}

const covers = (grant: string, scope: string): boolean => {
  if (grant === scope) return true
  if (grant === "*") return !ownersScopes.includes(scope)
  const [family, verb] = grant.split(":")
  const [wantedFamily, wantedVerb] = scope.split(":")
  if (family === "*") return verb === wantedVerb
  return family === wantedFamily && (verb === "*" || verb === "all")
}

const grantedBy = (grants: ReadonlyArray<string>, scope: string) => grants.some((grant) => covers(grant, scope))

type Rights = Pick<TokenRecord, "kind" | "role" | "scopes">

/** A member may use a scope that its role and its token both allow, a service account one that its token allows. */
export const mayUse = ({ kind, role, scopes }: Rights, roles: RoleScopes, scope: string) =>
  kind === "service"
    ? grantedBy(scopes, scope)
    : grantedBy(roles[role], scope) && (scopes.includes("*") || grantedBy(scopes, scope))

/** The grants of a token that its giver may not give: nobody gives more than they have, now or in a later release. */
export const grantsNotHeld = (giver: Rights, given: Rights, roles: RoleScopes = roleScopes): ReadonlyArray<string> =>
  given.scopes.filter((grant) => {
    const only = { ...given, scopes: [grant] }
    const isHeldNow = apiScopes.every((scope) => !mayUse(only, roles, scope) || mayUse(giver, roles, scope))
    // A later release may have more scopes of the family.
    return !isHeldNow || !giver.scopes.some((own) => includes(own, grant))
  })

/** Whether all that a grant means now and later is meant by another one too; of a single scope that is told by now. */
const includes = (own: string, grant: string): boolean => {
  const [family, verb] = grant.split(":")
  if (own === "*" || own === grant || (family !== "*" && verb !== "*" && verb !== "all")) return true
  const [ownFamily, ownVerb] = own.split(":")
  return family !== "*" && ownFamily === family && (ownVerb === "*" || ownVerb === "all")
}

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
