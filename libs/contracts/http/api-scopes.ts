/** Every scope and every permission that a route can require. */
export const apiScopes = [
  "audio:speech",
  "audio:stream",
  "console:operate",
  "console:read",
  "console:write",
  "payloads:read",
  "pipeline:operate",
  "pipeline:read",
  "pipeline:write",
  "tokens:manage",
  "voices:create",
  "voices:delete",
  "voices:read"
] as const
export type ApiScope = (typeof apiScopes)[number]

/** A right of roles. Service accounts have no role of their own: their scopes decide alone. */
export type Permission = "content.manage"

/** Bearer tokens: a label fits on one line of a list, and a longer life than ten years is given as none. */
export const tokenLimits = { labelCharactersMax: 100, scopesMax: 50, lifetimeMsMax: 3_650 * 86_400_000 } as const

/** A forgotten token expires by itself; the user of one makes another in time. */
export const tokenLifetimeMsDefault = 90 * 86_400_000
