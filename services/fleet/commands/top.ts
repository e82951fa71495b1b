/**
 * `top`: the fleet as it is now, again each second: roles, backlogs, breakers, streams, payments, latencies. `--once`,
 * or a standard output that is no terminal, prints one frame; `--json` prints it as JSON.
 */
import { Effect, Option } from "effect"
import { print, runCommand } from "./connect.ts"
import { readParameters } from "./parameters.ts"
import { leave, misused, noFleet } from "./say-stopped.ts"
import { type Frame, frameOf } from "./top-frame.ts"
import type { Target } from "./top-roles.ts"
import { scrape, type Scraped } from "./top-scrape.ts"
import { openScreen } from "./top-screen.ts"
import { findTargets } from "./top-targets.ts"
import { frameLines } from "./top-text.ts"

// Enough for a rate that does not jump, few enough to follow what happens.
const windowReadings = 5
const intervalSecondsMax = 3_600
const printed = { columns: 160, rows: 1_000 }

export const top = (parameters: ReadonlyArray<string>) => {
  runCommand(Effect.catchTag(Effect.scoped(topCommand(parameters)), "SayStopped", leave))
}

const readOrder = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const { values, positionals } = yield* readParameters({
    args: [...parameters],
    allowPositionals: true,
    options: {
      url: { type: "string", multiple: true, default: [] },
      interval: { type: "string", default: "1" },
      once: { type: "boolean", default: false },
      json: { type: "boolean", default: false }
    }
  }).pipe(Effect.mapError(({ reason }) => misused(reason)))
  const seconds = Number(values.interval)
  if (!(seconds >= 0.1 && seconds <= intervalSecondsMax)) {
    return yield* misused(`--interval ${values.interval}? it is seconds, from 0.1 to ${intervalSecondsMax}`)
  }
  if (positionals.length > 0) return yield* misused(`top ${positionals.join(" ")}? processes are named with --url`)
  return { urls: values.url, intervalMs: seconds * 1_000, isOnce: values.once, isJson: values.json }
})

const topCommand = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const { urls, intervalMs, isOnce, isJson } = yield* readOrder(parameters)
  const next = watch(urls)
  yield* mustRun(yield* next, urls)
  const isTerminal = process.stdout.isTTY && process.stdin.isTTY
  if (isOnce || isJson || !isTerminal) {
    yield* Effect.sleep(intervalMs)
    const frame = yield* next
    return yield* print(isJson ? JSON.stringify(frame) : frameLines(frame, printed).join("\n"))
  }
  const screen = yield* openScreen
  const draw = Effect.gen(function* () {
    yield* screen.show(frameLines(yield* next, yield* screen.room))
    // The terminal may change in between; what is shown is then at most this old.
    yield* Effect.sleep(intervalMs)
  })
  yield* Effect.raceFirst(Effect.forever(draw), screen.left)
})

/** Each time a frame, over the last few readings. What was seen to run at an address is known when it is gone. */
const watch = (urls: ReadonlyArray<string>) => {
  const readings: Array<Scraped["reading"]> = []
  const rolesAt = new Map<string, ReadonlyArray<string>>()
  let last: ReadonlyArray<Target> = []
  return Effect.gen(function* () {
    // A home whose fleet is gone for the moment is looked at where it was.
    const found = yield* last.length === 0 ? findTargets(urls) : Effect.orElseSucceed(findTargets(urls), () => last)
    last = found
    const { reading, readiness } = yield* scrape(found)
    const targets = found.map(({ url, roles }) => ({ url, roles: rolesAt.get(url) ?? roles }))
    const frame = frameOf({ before: readings[0], after: reading, targets, readiness })
    for (const { url } of targets) {
      const here = frame.roles.filter(({ at, state }) => at === url && state !== "down").map(({ role }) => role)
      if (here.length > 0) rolesAt.set(url, here)
    }
    readings.push(reading)
    if (readings.length > windowReadings) readings.shift()
    return frame
  })
}

const mustRun = Effect.fnUntraced(function* (frame: Frame, urls: ReadonlyArray<string>) {
  if (frame.roles.some(({ state }) => state !== "down")) return
  const places = Option.fromUndefinedOr(urls.length === 0 ? undefined : urls.join(", "))
  const where = Option.getOrElse(places, () => [...new Set(frame.roles.map(({ at }) => at))].join(", "))
  return yield* noFleet(`no fleet runs there, nothing answers at ${where}; start one with ./starling up`)
})
