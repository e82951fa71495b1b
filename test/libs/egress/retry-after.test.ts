import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { retryAfterMs } from "#egress"

const nowMs = Date.UTC(2026, 10, 20, 12)
const at = (...parts: readonly [number, number, number, number, number, number]) => Date.UTC(...parts) - nowMs

describe("what a Retry-After asks for", () => {
  it.each<readonly [value: string | undefined, ms: number | undefined]>([
    ["3", 3_000],
    [" 3 ", 3_000],
    ["007", 7_000],
    ["1.5", 1_500],
    ["0", 0],
    ["1234567890", 1_234_567_890_000],
    ["9".repeat(400), Infinity],
    ["Fri, 20 Nov 2026 12:00:07 GMT", 7_000],
    ["fri, 20 nov 2026 12:00:07 gmt", 7_000],
    ["Friday, 20-Nov-26 12:00:07 GMT", 7_000],
    ["Fri Nov 20 12:00:07 2026", 7_000],
    ["Tue Dec  1 00:00:00 2026", at(2026, 11, 1, 0, 0, 0)],
    ["Tue Dec 1 00:00:00 2026", at(2026, 11, 1, 0, 0, 0)],
    ["Fri, 20 Nov 2026 11:00:00 GMT", 0],
    // Fifty years ahead it still is; more is of the past.
    ["Sunday, 06-Nov-76 08:49:37 GMT", at(2076, 10, 6, 8, 49, 37)],
    ["Sunday, 06-Nov-77 08:49:37 GMT", 0],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
    [undefined, undefined],
    ["", undefined],
    ["soon", undefined],
    ["-5", undefined],
    ["1e9", undefined],
    ["5, 5", undefined],
    ["2026-11-20T12:00:09Z", undefined],
    ["Fri, 20 Nov 2026 12:00:07", undefined],
    ["Fri, 20 Nov 2026 12:00:07 CET", undefined],
    ["Fri, 31 Feb 2026 12:00:07 GMT", undefined],
    ["Fri, 20 Nov 2026 24:00:07 GMT", undefined],
    ["Fri, 20 Now 2026 12:00:07 GMT", undefined],
    ["Fri Nov 20 12:00:07 2026 GMT", undefined]
  ])("%s", (value, ms) => assert.strictEqual(retryAfterMs(value, nowMs), ms))

  const Seconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_000_000_000 }))
  it.prop("is the same in each of the three forms of a date", [Seconds], ([seconds]) => {
    const date = new Date(nowMs + seconds * 1_000)
    const [, day = "", month, year = "", time] = /^\w+, (\d\d) (\w+) (\d+) ([\d:]+)/u.exec(date.toUTCString()) ?? []
    const [short, long] = ["short", "long"].map((weekday) =>
      date.toLocaleDateString("en-US", { weekday: weekday as "short", timeZone: "UTC" })
    )
    const forms = [date.toUTCString(), `${short} ${month} ${day.replace(/^0/u, " ")} ${time} ${year}`]
    if (Number(year) <= 2076) forms.push(`${long}, ${day}-${month}-${year.slice(2)} ${time} GMT`)
    for (const form of forms) assert.strictEqual(retryAfterMs(form, nowMs), seconds * 1_000, form)
  })
})
