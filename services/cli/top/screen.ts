/**
 * The terminal as a screen: a page of its own, no cursor, keys as they are pressed. However it ends, the terminal is
 * as it was before. A stream of lines and a callback of keys, so the terminal's own API is fenced in here.
 */
import { Deferred, Effect } from "effect"
import type { Room } from "./text.ts"

export interface Screen {
  readonly room: Effect.Effect<Room>
  readonly show: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /** Completes when it is to end: q, Ctrl-C or Ctrl-D. */
  readonly left: Effect.Effect<void>
}

const escape = "\u001B"
const enter = `${escape}[?1049h${escape}[?25l${escape}[?7l`
const leave = `${escape}[?7h${escape}[?25h${escape}[?1049l`
const home = `${escape}[H`
const clearLine = `${escape}[K`
const clearBelow = `${escape}[J`
const leavingKeys = ["q", "Q", "\u0003", "\u0004"]

/** Needs both ends of the terminal; the scope gives it back. */
export const openScreen = Effect.gen(function* () {
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
