/** Whether the page is on, and what its browser sends: judged once for each call by cookie, before anything else. */
import { Context, Effect, Layer, Option } from "effect"
import { conflict, HttpCall, WireError } from "#http"
import { Configuration } from "#runtime"
import { cookieIn, hasCookie, originAt, type SessionCookie, verdictOn } from "./own-calls.ts"

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
    /** Fails under a name that is none of the page's: a foreign one may be bound to this machine. */
    readonly requireName: Effect.Effect<void, WireError, HttpCall>
    /** The page's origin, for calls that only the page makes. */
    readonly origin: Effect.Effect<string, WireError, HttpCall>
    /** None without a cookie; fails for a cookie that another page's call brought. */
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
