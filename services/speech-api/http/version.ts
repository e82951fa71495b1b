/**
 * The version of the API that a caller is pinned to: a date in `Service-Version` (or the same header under another
 * prefix). No header means the newest version, but old client libraries send none and are known by their own version.
 */
import { Effect, Option, Result } from "effect"
import { newestVersion } from "#speech/api"
import { HttpCall, WireError } from "#http"
import { Configuration } from "#configuration"

/** Before this version a voice was cloned on a mere declaration that its speaker agreed. */
const challengesSince = "2026-09-13"
/** Before this version the voices came as a bare list. */
const listEnvelopeSince = "2026-07-07"

interface ApiVersion {
  readonly date: string
  readonly hasBareVoiceList: boolean
  /** Can clone voices without a consent challenge. */
  readonly hasDeclaredConsent: boolean
}

/** The version that the current caller is pinned to. */
export const callerVersion = Effect.gen(function* () {
  const call = yield* HttpCall
  const { SpeechApi } = yield* Configuration
  return yield* Effect.fromResult(readVersion(call.header, SpeechApi.HeaderPrefixes))
})

type HeaderReader = (name: string) => Option.Option<string>

export const readVersion = (
  header: HeaderReader,
  prefixes: ReadonlyArray<string>
): Result.Result<ApiVersion, WireError> => {
  const pinned = firstHeader(header, prefixes, "version")
  if (pinned === undefined) {
    const sdk = Option.getOrUndefined(header("x-fern-sdk-version"))
    const isOld = sdk !== undefined && /^[01]\./u.test(sdk)
    return Result.succeed({ date: newestVersion, hasBareVoiceList: isOld, hasDeclaredConsent: isOld })
  }
  if (!isDate(pinned)) {
    const message = `the version ${JSON.stringify(pinned)} is not a date like ${newestVersion}`
    return Result.fail(new WireError({ status: 400, code: "invalid_api_version", message }))
  }
  if (pinned > newestVersion) {
    const message = `there is no version ${pinned}, the newest is ${newestVersion}`
    return Result.fail(new WireError({ status: 400, code: "invalid_api_version", message }))
  }
  return Result.succeed({
    date: pinned,
    hasBareVoiceList: pinned < listEnvelopeSince,
    hasDeclaredConsent: pinned < challengesSince
  })
}

const firstHeader = (header: HeaderReader, prefixes: ReadonlyArray<string>, name: string) => {
  for (const prefix of prefixes) {
    const value = Option.getOrUndefined(header(`${prefix.toLowerCase()}-${name}`))
    if (value !== undefined) return value
  }
  return undefined
}

const isDate = (text: string) => {
  if (!/^\d{4}-\d{2}-\d{2}$/u.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
