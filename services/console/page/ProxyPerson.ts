/**
 * The person whom an authenticating proxy in front names as its caller. Anybody can send the header that names a
 * person, so the name counts only with the secret that only the proxy knows.
 */
import { hash, timingSafeEqual } from "node:crypto"
import { Context, Effect, Layer, Option } from "effect"
import { faultOfName } from "#base"
import { HttpCall, rateLimited, rateWindow, type TokenRecord, type WireError } from "#http"
import { Configuration } from "#configuration"
import { InvalidConfiguration, secretFromEnv } from "#runtime"

export const proofHeader = "x-starling-proxy-secret"

// A browser keeps its session for a working day; a caller who signs in this often keeps no cookies, and each session is
// a token.
const sessionsMax = 20
const sessionsWindowMs = 3_600_000

export type Claim =
  /** The call names no person, or no proxy is configured. */
  | { readonly _tag: "Nobody" }
  /** `isGuess`: it counts like a wrong token. */
  | { readonly _tag: "Refused"; readonly why: string; readonly isGuess: boolean }
  | { readonly _tag: "Proven"; readonly person: string }

/**
 * Each call brings its own facts.
 * @effect-expect-leaking HttpCall
 */
export class ProxyPerson extends Context.Service<
  ProxyPerson,
  {
    readonly claim: Effect.Effect<Claim, never, HttpCall>
    /** None unless the proxy proved it. */
    readonly proven: Effect.Effect<Option.Option<string>, never, HttpCall>
    /** Fails for a person who begins too many sessions. */
    readonly admit: (person: string) => Effect.Effect<void, WireError>
    /** The role of everybody whom the proxy admits. */
    readonly role: TokenRecord["role"]
    /** The proxy's claims are only for this process: no other API gets them. */
    readonly headers: ReadonlyArray<string>
  }
>()("starling/console/ProxyPerson") {
  static readonly layer = Layer.effect(
    ProxyPerson,
    Effect.gen(function* () {
      const settings = (yield* Configuration).Console
      const { PageProxyHeader: header, PageProxySecretEnvVar: variable, PageProxyRole: role } = settings
      const sessions = rateWindow({ name: "proxy_sign_ins", limit: sessionsMax, windowMs: sessionsWindowMs })
      const admit = Effect.fnUntraced(function* (person: string) {
        const taken = yield* sessions.take(person)
        if (taken._tag === "Refused") return yield* rateLimited(taken.retryAfterMs / 1_000, sessions.name)
      })
      const ofAll = { admit, role }
      if (header === undefined || variable === undefined) {
        return ProxyPerson.of({
          ...ofAll,
          claim: Effect.succeed({ _tag: "Nobody" }),
          proven: Effect.succeedNone,
          headers: [proofHeader]
        })
      }
      const secret = yield* secretOf(variable)
      const claim = Effect.gen(function* () {
        const { header: given } = yield* HttpCall
        return claimOf(
          {
            name: Option.getOrUndefined(given(header.toLowerCase())),
            proof: Option.getOrUndefined(given(proofHeader))
          },
          secret
        )
      })
      const proven = Effect.map(claim, (made) =>
        made._tag === "Proven" ? Option.some(made.person) : Option.none<string>()
      )
      return ProxyPerson.of({ ...ofAll, claim, proven, headers: [proofHeader, header.toLowerCase()] })
    })
  )
}

const secretOf = (variable: string) =>
  Effect.mapError(
    secretFromEnv({ variable, path: "Console.PageProxySecretEnvVar", kind: "proof" }),
    (fault) => new InvalidConfiguration({ faults: [fault] })
  )

interface Sent {
  readonly name: string | undefined
  readonly proof: string | undefined
}

// Several headers of one name arrive as one with commas: a caller's own name can precede the proxy's.
const personPattern = /^[^\p{Cc},]{1,100}$/u

/** A call's claim. Pure. */
export const claimOf = ({ name, proof }: Sent, secret: string): Claim => {
  const person = name?.trim() ?? ""
  if (person === "") return { _tag: "Nobody" }
  if (proof === undefined) return { _tag: "Refused", why: `the proxy sends no ${proofHeader}`, isGuess: false }
  // Hashes have one length, which the comparison needs.
  const [sent, wanted] = [hash("sha256", proof, "buffer"), hash("sha256", secret, "buffer")]
  if (!timingSafeEqual(sent, wanted)) return { _tag: "Refused", why: "the proxy's secret is wrong", isGuess: true }
  if (!personPattern.test(person) || faultOfName(person) !== undefined) {
    return { _tag: "Refused", why: "the proxy names no person, or more than one", isGuess: false }
  }
  return { _tag: "Proven", person }
}
