/**
 * The orders in a last user message that begins with `!`, to try how a gateway copes. Any other text is echoed like an
 * ordinary message. Pure.
 */
import { type FailureName, failureNames } from "./failures.ts"

export type Order =
  | { readonly _tag: "Echo"; readonly delayMs: number; readonly everyMs: number }
  | { readonly _tag: "Fail"; readonly name: FailureName; readonly retryAfterSeconds: number | undefined }
  | { readonly _tag: "Status"; readonly status: number }
  | { readonly _tag: "Reject"; readonly parameter: string }
  /** After so many chunks, cuts the connection, falls silent, sends an error, sends broken JSON, or just ends. */
  | { readonly _tag: "Break"; readonly how: "drop" | "stall" | "error" | "garbage" | "end"; readonly after: number }
  | { readonly _tag: "Hang" | "Reset" | "BadJson" | "Html" | "ContentType" | "Empty" | "NoUsage" }
  | { readonly _tag: "Huge"; readonly bytes: number }
  /** `isEndless`: more than the request allows, as from a provider that does not heed it. */
  | { readonly _tag: "Words"; readonly count: number; readonly everyMs: number; readonly isEndless?: true }
  | { readonly _tag: "Finish"; readonly reason: string }
  | { readonly _tag: "Tool"; readonly name: string; readonly input: string }
  | { readonly _tag: "Think"; readonly text: string }

const echo: Order = { _tag: "Echo", delayMs: 0, everyMs: 0 }
const count = (text: string | undefined, otherwise: number) =>
  text !== undefined && /^\d{1,9}$/u.test(text) ? Number(text) : otherwise

/** `5s`, `250ms`, or a bare number of milliseconds. */
const milliseconds = (text: string | undefined, otherwise: number) => {
  const found = /^(\d{1,7}(?:\.\d{1,3})?)(ms|s)?$/u.exec(text ?? "")
  if (found === null) return otherwise
  return Number(found[1]) * (found[2] === "s" ? 1_000 : 1)
}

const bare = {
  hang: "Hang",
  reset: "Reset",
  "bad-json": "BadJson",
  html: "Html",
  "content-type": "ContentType",
  empty: "Empty",
  "no-usage": "NoUsage"
} as const

const breaks = { drop: "drop", stall: "stall", break: "error", garbage: "garbage", end: "end" } as const

export const orderOf = (message: string): Order => {
  if (!message.startsWith("!")) return echo
  const [name = "", first, second] = message.slice(1).trim().split(/\s+/u)
  const failure = failureNames.find((known) => known === name)
  if (failure !== undefined) {
    const after = count(first, -1)
    return { _tag: "Fail", name: failure, retryAfterSeconds: after < 0 ? undefined : after }
  }
  if (name in bare) return { _tag: bare[name as keyof typeof bare] }
  if (name in breaks) return { _tag: "Break", how: breaks[name as keyof typeof breaks], after: count(first, 3) }
  switch (name) {
    case "status":
      return { _tag: "Status", status: Math.min(599, Math.max(200, count(first, 500))) }
    case "delay":
      return { ...echo, delayMs: milliseconds(first, 1_000) }
    case "slow":
      return { ...echo, everyMs: milliseconds(first, 100) }
    case "reject":
      return { _tag: "Reject", parameter: first ?? "temperature" }
    case "huge":
      return { _tag: "Huge", bytes: count(first, 64 * 1_024 * 1_024) }
    case "words":
      return { _tag: "Words", count: count(first, 1_000), everyMs: milliseconds(second, 0) }
    case "overrun":
      return { _tag: "Words", count: count(first, 1_000), everyMs: milliseconds(second, 0), isEndless: true }
    case "finish":
      return { _tag: "Finish", reason: first ?? "length" }
    case "tool":
      return { _tag: "Tool", name: first ?? "look_up", input: second ?? '{"word":"starling"}' }
    case "think":
      return { _tag: "Think", text: "the words come back" }
    default:
      return echo
  }
}
