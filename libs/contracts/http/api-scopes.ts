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
  "voices:create",
  "voices:delete",
  "voices:read"
] as const
export type ApiScope = (typeof apiScopes)[number]

/** A right of roles. Service accounts have no role of their own: their scopes decide alone. */
export type Permission = "content.manage"
