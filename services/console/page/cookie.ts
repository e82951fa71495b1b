/** The cookie of a session: the token, and whether signing in made it. Pure. */
export interface SessionCookie {
  readonly token: string
  /** It was made for this session, and goes with it. */
  readonly isMadeForIt: boolean
}

// Ports of one machine share their cookies, so each has a name of its own. Browsers keep `__Host-` to https.
const nameAt = (origin: string) => {
  const { protocol, port } = new URL(origin)
  return protocol === "https:" ? "__Host-starling" : `starling-${port === "" ? 80 : port}`
}

const names = /(?:^|;\s*)(__Host-starling|starling-\d{1,5})=(code|token)\.([\w.-]{1,512})(?=;|$)/gu

/** Whether any session's cookie came along, be it of another name of this host. */
export const hasCookie = (header: string | undefined): boolean => sessionsIn(header).length > 0

export const cookieIn = (header: string | undefined, origin: string): SessionCookie | undefined =>
  sessionsIn(header).find(({ name }) => name === nameAt(origin))

const sessionsIn = (header = "") =>
  [...header.matchAll(names)].map(([, name = "", kind, token = ""]) => ({ name, token, isMadeForIt: kind === "code" }))

/** The header that sets it. Without an end it goes when the browser does. */
export const setCookie = (
  { token, isMadeForIt }: SessionCookie,
  origin: string,
  lastsMs: number | undefined
): string => {
  const age = lastsMs === undefined ? [] : [`Max-Age=${Math.max(0, Math.floor(lastsMs / 1_000))}`]
  return [`${nameAt(origin)}=${isMadeForIt ? "code" : "token"}.${token}`, ...attributesAt(origin), ...age].join("; ")
}

export const clearCookie = (origin: string): string =>
  [`${nameAt(origin)}=`, ...attributesAt(origin), "Max-Age=0"].join("; ")

const attributesAt = (origin: string) => [
  "HttpOnly",
  "SameSite=Strict",
  "Path=/",
  ...(origin.startsWith("https:") ? ["Secure"] : [])
]
