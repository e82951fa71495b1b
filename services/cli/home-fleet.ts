/**
 * The running fleet of this home, by its `ready.json`, and the errors of a call to it.
 *
 * The metrics addresses of the processes: the given ones, otherwise those of this home's fleet.
 */
import { readFile } from "node:fs/promises"
import { Effect, Schema } from "effect"
import { readNotes, readSettings } from "#fleet"
import { processesMax, type Target } from "#console/readings"
import { CommandRefused, misused, noFleet } from "./console.ts"

/** Reads the part of it that a command needs. `otherwise`: the advice when no fleet has run. */
export const readReady = Effect.fnUntraced(function* <A>(
  home: string,
  part: Schema.Codec<A, unknown>,
  otherwise = ""
): Effect.fn.Return<A, CommandRefused> {
  const text = yield* Effect.tryPromise({
    try: () => readFile(`${home}/ready.json`, "utf8"),
    catch: () => noFleet(`no fleet has run in ${home} yet; start it with ./starling up${otherwise}`)
  })
  return yield* Effect.mapError(Schema.decodeEffect(Schema.fromJsonString(part))(text), () =>
    noFleet(`${home}/ready.json cannot be read; start the fleet again with ./starling up`)
  )
})

/** Nothing listens at the address. */
export const isAbsent = (cause: unknown) =>
  cause instanceof Error && cause.cause instanceof Error && "code" in cause.cause && cause.cause.code === "ECONNREFUSED"

export const brokenOff = (cause: unknown) => {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const detail = inner instanceof Error ? inner.message : String(inner)
  return new CommandRefused({ reason: `the fleet broke off: ${detail}` })
}

/** An API's message, truncated to one line of a terminal. */
export const oneLine = (text: string) => text.replaceAll(/\s+/gu, " ").trim().slice(0, 500)

const Ready = Schema.Struct({ metrics: Schema.String })

/**
 * The addresses of a home's fleet, looked up again before each reading, because a restarted process listens elsewhere.
 */
export const findTargets = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  if (given.length > 0) return yield* targetsOf(given)
  const { home } = yield* readSettings
  const { metrics } = yield* readReady(home, Ready, ", or name one with --url")
  const notes = yield* readNotes(home)
  const targets: ReadonlyArray<Target> = [
    { url: metrics, roles: [] },
    ...notes.map((note) => ({ url: note.metrics, roles: [note.role] }))
  ]
  return targets
})

const targetsOf = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  const urls = [...new Set(given.flatMap((each) => each.split(",")).map((each) => each.trim()))]
  if (urls.length > processesMax) return yield* misused(`at most ${processesMax} processes can be watched at once`)
  return yield* Effect.forEach(urls, targetOf)
})

const targetOf = Effect.fnUntraced(function* (given: string) {
  const written = given.includes("://") ? given : `http://${given}`
  const url = URL.canParse(written) ? new URL(written) : undefined
  if (url === undefined || !/^https?:$/u.test(url.protocol)) {
    return yield* misused(`--url ${given}? it is where a process shows its metrics, such as http://10.0.0.7:9400`)
  }
  const target: Target = { url: `${url.origin}${url.pathname.replace(/\/(?:metrics)?$/u, "")}`, roles: [] }
  return target
})
