/** Where the processes show themselves: at the given addresses, otherwise those of the fleet in this home. */
import { Effect, Schema } from "effect"
import { readNotes, readSettings } from "#fleet"
import { processesMax, type Target } from "#fleet-view"
import { misused } from "../console.ts"
import { readReady } from "../home-fleet.ts"

const Ready = Schema.Struct({ metrics: Schema.String })

/** The addresses of a fleet's home, found again before each reading, for a restarted process listens elsewhere. */
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
