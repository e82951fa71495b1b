/** The version that the caller who is being answered is pinned to. */
import { Effect } from "effect"
import { HttpCall } from "#http"
import { Configuration } from "#runtime"
import { readVersion } from "./version.ts"

export const callerVersion = Effect.gen(function* () {
  const call = yield* HttpCall
  const { SpeechApi } = yield* Configuration
  return yield* Effect.fromResult(readVersion(call.header, SpeechApi.HeaderPrefixes))
})
