/**
 * The fleet's present state, each second: roles, backlogs, breakers, streams, payments, latencies. Prints one frame
 * when standard output is no terminal, or when once is enough.
 */
import { Deferred, Effect, Option } from "effect"
import { type Frame, framesOf, type Target } from "#fleet-view"
import { noFleet, print } from "../console.ts"
import { findTargets } from "./targets.ts"
import { frameLines, type Room } from "./text.ts"

const printed = { columns: 160, rows: 1_000 }

interface TopOrder {
  readonly urls: ReadonlyArray<string>
  readonly intervalSeconds: number
  readonly once: boolean
  readonly json: boolean
}

export const top = Effect.fnUntraced(function* ({ urls, intervalSeconds, once, json }: TopOrder) {
  const intervalMs = intervalSeconds * 1_000
  const next = watch(urls)
  yield* mustRun(yield* next, urls)
  const isTerminal = process.stdout.isTTY && process.stdin.isTTY
  if (once || json || !isTerminal) {
    yield* Effect.sleep(intervalMs)
    const frame = yield* next
    return yield* print(json ? JSON.stringify(frame) : frameLines(frame, printed).join("\n"))
  }
  const screen = yield* openScreen
  const draw = Effect.gen(function* () {
    yield* screen.show(frameLines(yield* next, yield* screen.room))
    // The terminal may change in between; the picture is then at most this old.
    yield* Effect.sleep(intervalMs)
  })
  yield* Effect.raceFirst(Effect.forever(draw), screen.left)
}, Effect.scoped)

const watch = (urls: ReadonlyArray<string>) => {
  const frameAt = framesOf()
  let last: ReadonlyArray<Target> = []
  return Effect.gen(function* () {
    // While a home's fleet is gone for a moment, its last addresses are read.
    last = yield* last.length === 0 ? findTargets(urls) : Effect.orElseSucceed(findTargets(urls), () => last)
    return yield* frameAt(last)
  })
}

const mustRun = Effect.fnUntraced(function* (frame: Frame, urls: ReadonlyArray<string>) {
  if (frame.roles.some(({ state }) => state !== "down")) return
  const places = Option.fromUndefinedOr(urls.length === 0 ? undefined : urls.join(", "))
  const where = Option.getOrElse(places, () => [...new Set(frame.roles.map(({ at }) => at))].join(", "))
  return yield* noFleet(`no fleet runs there, nothing answers at ${where}; start one with ./starling up`)
})

interface Screen {
  readonly room: Effect.Effect<Room>
  readonly show: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /** Completes when the user quits: q, Ctrl-C or Ctrl-D. */
  readonly left: Effect.Effect<void>
}

const escape = "\u001B"
const enter = `${escape}[?1049h${escape}[?25l${escape}[?7l`
const leave = `${escape}[?7h${escape}[?25h${escape}[?1049l`
const home = `${escape}[H`
const clearLine = `${escape}[K`
const clearBelow = `${escape}[J`
const leavingKeys = ["q", "Q", "\u0003", "\u0004"]

/** Needs a terminal for input and output; the scope restores it. */
const openScreen = Effect.gen(function* () {
  const left = yield* Deferred.make<void>()
  const onKeys = (keys: Buffer) => {
    const text = keys.toString("latin1")
    if (leavingKeys.some((key) => text.includes(key))) Deferred.doneUnsafe(left, Effect.void)
  }
  const { stdin, stdout } = process
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      stdin.setRawMode(true)
      stdin.on("data", onKeys)
      stdin.resume()
      stdout.write(enter)
    }),
    () =>
      Effect.sync(() => {
        stdin.off("data", onKeys)
        stdin.setRawMode(false)
        stdin.pause()
        stdout.write(leave)
      })
  )
  const screen: Screen = {
    room: Effect.sync(() => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 })),
    show: (lines) =>
      Effect.sync(() => void stdout.write(`${home}${lines.map((line) => line + clearLine).join("\r\n")}${clearBelow}`)),
    left: Deferred.await(left)
  }
  return screen
})
