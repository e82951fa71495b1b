import { Option, Result } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { newestVersion } from "#speech/api"
import { readVersion } from "../../../../services/speech-api/http/version.ts"

const prefixes = ["Service", "Speechify"]
const read = (headers: Readonly<Record<string, string>>) =>
  readVersion((name) => Option.fromNullishOr(headers[name]), prefixes)

describe("the version", () => {
  it.each([
    [{}, newestVersion, false, false],
    [{ "service-version": "2026-09-13" }, "2026-09-13", false, false],
    [{ "speechify-version": "2026-09-13" }, "2026-09-13", false, false],
    [{ "speechify-version": "2026-09-12" }, "2026-09-12", false, true],
    [{ "speechify-version": "2026-07-07" }, "2026-07-07", false, true],
    [{ "speechify-version": "2026-07-06" }, "2026-07-06", true, true],
    [{ "service-version": "2024-02-29" }, "2024-02-29", true, true],
    [{ "service-version": "2026-09-13", "speechify-version": "2025-01-01" }, "2026-09-13", false, false],
    [{ "x-fern-sdk-version": "1.0.1" }, newestVersion, true, true],
    [{ "x-fern-sdk-version": "0.9.0" }, newestVersion, true, true],
    [{ "x-fern-sdk-version": "10.0.0" }, newestVersion, false, false],
    [{ "x-fern-sdk-version": "4.0.1" }, newestVersion, false, false],
    [{ "x-fern-sdk-version": "1.0.1", "service-version": "2026-09-13" }, "2026-09-13", false, false]
  ])(
    "of %j is %s, with a bare list of voices: %s, and clones without a challenge: %s",
    (headers, date, hasBareVoiceList, hasDeclaredConsent) => {
      assert.deepStrictEqual(Result.getOrThrow(read(headers)), { date, hasBareVoiceList, hasDeclaredConsent })
    }
  )

  it.each([
    "",
    "latest",
    "2026-9-13",
    "2026-09-13T00:00:00Z",
    "2026-02-30",
    "2025-02-29",
    "2026-13-01",
    "2026-10-01",
    "9999-12-31"
  ])("%s does not exist", (text) => {
    const result = read({ "service-version": text })
    if (Result.isSuccess(result)) throw new Error("it was read")
    const { status, code } = result.failure
    assert.deepStrictEqual({ status, code }, { status: 400, code: "invalid_api_version" })
  })
})
