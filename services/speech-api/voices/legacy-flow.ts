/**
 * The flow of before 2026-09-13, in which a caller only says that the speaker agreed: who may still use it, until
 * when, and what its answers say about that (RFC 9745, RFC 8594). Pure.
 */
import { forbidden, type WireError } from "#http"

const deprecatedAtSeconds = Date.parse("2026-09-13T00:00:00Z") / 1_000
const links = [
  '</openapi.json>; rel="deprecation"; type="application/json"',
  '</v1/voices/consent-challenges>; rel="successor-version"'
]

/** A caller of old who names a challenge uses it. */
export const isDeclaredFlow = (
  { hasDeclaredConsent }: { readonly hasDeclaredConsent: boolean },
  fields: Readonly<Record<string, string>>
): boolean => hasDeclaredConsent && fields["consent_challenge_id"] === undefined

const sunsetMs = (sunset: string) => Date.parse(`${sunset}T00:00:00Z`)

/** `sunset`: the first day, in UTC, on which it is over. */
export const noticeHeaders = (sunset: string): Readonly<Record<string, string>> => ({
  deprecation: `@${deprecatedAtSeconds}`,
  sunset: new Date(sunsetMs(sunset)).toUTCString(),
  link: links.join(", ")
})

export const refusalAfter = (sunset: string, nowMs: number): WireError | undefined =>
  nowMs < sunsetMs(sunset)
    ? undefined
    : forbidden(
        `since ${sunset} voices are cloned with a consent challenge only: POST /v1/voices/consent-challenges, and send ` +
          "consent_challenge_id and consent_recording",
        { sunset }
      )
