/**
 * The orders in a last user message that begins with `!`, to try how a gateway copes. Any other text is echoed like an
 * ordinary message.
 *
 * For agents, which wrap what they are told, `!use NAME JSON` may begin any line of it: that tool is called with that
 * JSON (or, without one, with the least that its schema allows; a custom tool of OpenAI's with any text); several lines are calls of one answer. After a line
 * `!then` come the calls of the answer to their results, and after the last ones the results are echoed:
 *
 *     !use read_file {"path":"notes.txt"}
 *     !use list_files {}
 *     !then
 *     !use shell {"command":"date"}
 *
 * Pure.
 */
import { type FailureName, failureNames } from "./failures.ts"

export type Order =
  | { readonly _tag: "Echo"; readonly delayMs: number; readonly everyMs: number }
  | { readonly _tag: "Fail"; readonly name: FailureName; readonly retryAfterSeconds: number | undefined }
  | { readonly _tag: "Status"; readonly status: number }
  | { readonly _tag: "Reject"; readonly parameter: string }
  /** After so many chunks, cuts the connection, falls silent, sends an error, sends broken JSON, or just ends. */
  | { readonly _tag: "Break"; readonly how: "drop" | "stall" | "error" | "garbage" | "end"; readonly after: number }
  | { readonly _tag: "Hang" | "Reset" | "BadJson" | "Html" | "ContentType" | "Empty" | "NoUsage" | "KeepAlive" }
  | { readonly _tag: "Huge"; readonly bytes: number }
  /** `isEndless`: more than the request allows, as from a provider that does not heed it. */
  | { readonly _tag: "Words"; readonly count: number; readonly everyMs: number; readonly isEndless?: true }
  | { readonly _tag: "Finish"; readonly reason: string }
  | { readonly _tag: "Tool"; readonly name: string; readonly input: string }
  /** So many calls of the first declared tools in one answer. */
  | { readonly _tag: "Calls"; readonly count: number; readonly deltas: Deltas }
  /** The calls of each answer in turn. */
  | { readonly _tag: "Use"; readonly steps: ReadonlyArray<ReadonlyArray<UsedTool>> }
  | { readonly _tag: "Think"; readonly isHidden: boolean }

/**
 * How the arguments of several calls come in a stream of OpenAI's shape: call by call, turn and turn about, or call by
 * call without the `index` that tells whose they are.
 */
export type Deltas = "in turn" | "interleaved" | "unindexed"

export interface UsedTool {
  readonly name: string
  readonly text: string | undefined
}

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
  "no-usage": "NoUsage",
  keepalive: "KeepAlive"
} as const

const breaks = { drop: "drop", stall: "stall", break: "error", garbage: "garbage", end: "end" } as const

const usedTools = (message: string): ReadonlyArray<ReadonlyArray<UsedTool>> => {
  const steps: Array<Array<UsedTool>> = [[]]
  for (const line of message.split("\n").map((line) => line.trim())) {
    const found = /^!use (\S+)(?: (.*))?$/u.exec(line)
    if (found !== null) steps.at(-1)?.push({ name: found[1] ?? "", text: found[2] })
    if (line === "!then") steps.push([])
  }
  return steps
}

export const orderOf = (message: string): Order => {
  const steps = usedTools(message)
  if (steps.some((step) => step.length > 0)) return { _tag: "Use", steps }
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
    case "nameless":
      return { _tag: "Tool", name: "", input: "{}" }
    case "finish":
      return { _tag: "Finish", reason: first ?? "length" }
    case "tool":
      return { _tag: "Tool", name: first ?? "look_up", input: second ?? '{"word":"starling"}' }
    case "calls":
      return { _tag: "Calls", count: count(first, 2), deltas: "in turn" }
    case "interleaved":
    case "unindexed":
      return { _tag: "Calls", count: count(first, 2), deltas: name }
    case "think":
      return { _tag: "Think", isHidden: false }
    case "redacted":
      return { _tag: "Think", isHidden: true }
    default:
      return echo
  }
}
