/** Every scope that a route can require. */
export const apiScopes = [
  "audio:speech",
  "audio:stream",
  "pipeline:operate",
  "pipeline:read",
  "pipeline:write",
  "voices:create",
  "voices:delete",
  "voices:read"
] as const
export type ApiScope = (typeof apiScopes)[number]
