/** Which processes `top` looks at: those whose addresses it is given, else those of the fleet that runs in this home. */
import { readFile } from "node:fs/promises"
import { Effect, Schema } from "effect"
import { readNotes, readSettings } from "#fleet"
import { misused, noFleet } from "../refusals.ts"
import type { Target } from "./roles.ts"

// More is a monitoring system's work.
const targetsMax = 64

const Ready = Schema.fromJsonString(Schema.Struct({ metrics: Schema.String }))

/** Of a fleet's home, again before each reading: a process that was started anew shows itself elsewhere. */
export const findTargets = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  if (given.length > 0) return yield* targetsOf(given)
  const { home } = yield* readSettings
  const text = yield* Effect.tryPromise({
    try: () => readFile(`${home}/ready.json`, "utf8"),
    catch: () => noFleet(`no fleet has run in ${home} yet; start it with ./starling up, or name one with --url`)
  })
  const { metrics } = yield* Effect.mapError(Schema.decodeEffect(Ready)(text), () =>
    noFleet(`${home}/ready.json cannot be read; start the fleet again with ./starling up`)
  )
  const notes = yield* readNotes(home)
  const targets: ReadonlyArray<Target> = [
    { url: metrics, roles: [] },
    ...notes.map((note) => ({ url: note.metrics, roles: [note.role] }))
  ]
  return targets
})

const targetsOf = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  const urls = [...new Set(given.flatMap((each) => each.split(",")).map((each) => each.trim()))]
  if (urls.length > targetsMax) return yield* misused(`at most ${targetsMax} processes can be watched at once`)
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
