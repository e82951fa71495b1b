/**
 * Whether the page is on, and what its browser sends: judged once for each call by cookie, before anything else.
 *
 * Which calls are the page's own, and the cookie of its session. A cookie accompanies every call that a browser makes,
 * whichever page makes it, so a call by cookie counts only under a name that is ours (or a foreign name, bound anew to
 * this machine, would count as our origin) and only when the browser reports that our page made it. Pure.
 */
import { Context, Effect, Layer, Option } from "effect"
import { conflict, HttpCall, WireError } from "#http"
import { Configuration } from "#configuration"

export interface BrowserCall {
  readonly method: string
  readonly host: string | undefined
  readonly origin: string | undefined
  /** `Sec-Fetch-Site`, which no script can set. */
  readonly site: string | undefined
  readonly accept: string | undefined
}

export type Verdict =
  | { readonly _tag: "Own"; readonly origin: string }
  | { readonly _tag: "Misdirected" }
  | { readonly _tag: "Foreign" }

// Tunnels and port forwards use any port, and an origin is compared with its port.
const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/u

/** The page's origin under this `Host`; undefined if the page has no such name. */
export const originAt = (host: string | undefined, origins: ReadonlyArray<string>): string | undefined => {
  if (host === undefined) return undefined
  const named = host.toLowerCase()
  const configured = origins.find((origin) => new URL(origin).host === named)
  return configured ?? (loopback.test(named) ? new URL(`http://${named}`).origin : undefined)
}

export const verdictOn = (call: BrowserCall, origins: ReadonlyArray<string>): Verdict => {
  const origin = originAt(call.host, origins)
  if (origin === undefined) return { _tag: "Misdirected" }
  const isProven = call.origin === origin || call.site === "same-origin"
  const isDenied =
    (call.origin !== undefined && call.origin !== origin) ||
    (call.site !== undefined && call.site !== "same-origin" && call.site !== "none")
  return !isDenied && (isProven || isPlainRead(call)) ? { _tag: "Own", origin } : { _tag: "Foreign" }
}

/** Requests that a person can make by address. A stream stays open, and is opened only by the page. */
const isPlainRead = ({ method, accept = "" }: BrowserCall) =>
  (method === "GET" || method === "HEAD") && !accept.includes("text/event-stream")

export interface SessionCookie {
  readonly token: string
  /** It was made for this session, and ends with it. */
  readonly isMadeForIt: boolean
}

// Ports of one machine share their cookies, so each has a name of its own. Browsers limit `__Host-` to https.
const nameAt = (origin: string) => {
  const { protocol, port } = new URL(origin)
  return protocol === "https:" ? "__Host-starling" : `starling-${port === "" ? 80 : port}`
}

const names = /(?:^|;\s*)(__Host-starling|starling-\d{1,5})=(code|token)\.([\w.-]{1,512})(?=;|$)/gu

/** Whether any session's cookie was sent, even that of another name of this host. */
export const hasCookie = (header: string | undefined): boolean => sessionsIn(header).length > 0

export const cookieIn = (header: string | undefined, origin: string): SessionCookie | undefined =>
  sessionsIn(header).find(({ name }) => name === nameAt(origin))

const sessionsIn = (header = "") =>
  [...header.matchAll(names)].map(([, name = "", kind, token = ""]) => ({ name, token, isMadeForIt: kind === "code" }))

/** The header that sets it. Without an expiry it ends with the browser. */
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

const foreignOrigin = () =>
  new WireError({ status: 403, code: "foreign_origin", message: "only the console's own page may call by cookie" })

const misdirected = () =>
  new WireError({
    status: 421,
    code: "misdirected_request",
    message: "the page has no such name: use localhost, or list the origin in Console.PageOrigins"
  })

const off = () => conflict("the page is off: Console.Page turns it on")

export class PageAccess extends Context.Service<
  PageAccess,
  {
    /** Fails under a foreign name: it can be bound to this machine. */
    readonly requireName: Effect.Effect<void, WireError, HttpCall>
    /** The page's origin, for calls that only the page makes. */
    readonly origin: Effect.Effect<string, WireError, HttpCall>
    /** None without a cookie; fails for a cookie sent by another page's call. */
    readonly cookie: Effect.Effect<Option.Option<SessionCookie>, WireError, HttpCall>
    readonly requireOn: Effect.Effect<void, WireError>
  }
>()("starling/console/PageAccess") {
  static readonly layer = Layer.effect(
    PageAccess,
    Effect.gen(function* () {
      const { Page, PageOrigins } = (yield* Configuration).Console
      const requireOn = Page ? Effect.void : Effect.suspend(() => Effect.fail(off()))

      const requireName = Effect.gen(function* () {
        const host = Option.getOrUndefined((yield* HttpCall).header("host"))
        if (originAt(host, PageOrigins) === undefined) return yield* misdirected()
      })
      const judged = Effect.gen(function* () {
        const { header, method } = yield* HttpCall
        const given = (name: string) => Option.getOrUndefined(header(name))
        const verdict = verdictOn(
          {
            method,
            host: given("host"),
            origin: given("origin"),
            site: given("sec-fetch-site"),
            accept: given("accept")
          },
          PageOrigins
        )
        if (verdict._tag === "Misdirected") return yield* misdirected()
        if (verdict._tag === "Foreign") return yield* foreignOrigin()
        return verdict.origin
      })
      const cookie = Effect.gen(function* () {
        const sent = Option.getOrUndefined((yield* HttpCall).header("cookie"))
        if (!Page || !hasCookie(sent)) return Option.none<SessionCookie>()
        return Option.fromNullishOr(cookieIn(sent, yield* judged))
      })
      return PageAccess.of({ requireName, origin: Effect.andThen(requireOn, judged), cookie, requireOn })
    })
  )
}
