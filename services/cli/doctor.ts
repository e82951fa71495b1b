/**
 * Reports what is wrong, why, and how to fix it: for a running fleet the conditions that its console sees, or for a
 * cluster before the fleet is applied to it, whose checks are in deploy/doctor. Changes nothing.
 */
import { Effect } from "effect"
import { examine, type Finding, isIll, report } from "#deploy/doctor"
import { conditions, conditionsView, looks } from "#console/conditions"
import { framesOf } from "#console/readings"
import { CommandRefused, fileOf, misused, print } from "./console.ts"
import { type OnConsole, onConsole } from "./operate/client.ts"
import { findingsOf } from "./operate/diagnose.ts"
import { findTargets } from "./home-fleet.ts"
import { writeOut } from "./screen.ts"

interface Examined extends OnConsole {
  readonly kubernetes: boolean
  /** A path relative to the user's own folder. */
  readonly overlay: string | undefined
  readonly context: string | undefined
  /** The readiness addresses of processes of a remote fleet. */
  readonly metrics: ReadonlyArray<string>
  readonly json: boolean
}

export const doctor = Effect.fnUntraced(function* (order: Examined) {
  const { kubernetes, overlay, context, metrics, url } = order
  if (!kubernetes) {
    if (overlay !== undefined || context !== undefined)
      return yield* misused("--overlay and --context go with --kubernetes")
    return yield* examineFleet(order)
  }
  if (url !== undefined || metrics.length > 0)
    return yield* misused("--url and --metrics are a fleet's; leave out --kubernetes")
  yield* examineCluster(order)
})

const examineFleet = Effect.fnUntraced(function* ({ url, metrics, json }: Examined) {
  const findings = yield* onConsole({ url }, (client) => client.listConditions()).pipe(
    Effect.map(findingsOf),
    Effect.catch((refused) => Effect.mapError(withoutConsole({ url, metrics }, refused), () => refused))
  )
  const wrong = findings.filter(({ state }) => state !== "advice").length
  if (json) yield* print(JSON.stringify({ ok: !isIll(findings), findings }))
  else {
    const names = [...new Set(findings.map(({ check }) => check))]
    yield* Effect.forEach(report(names, findings), print, { discard: true })
    if (wrong === 0) yield* print(`nothing is wrong: none of ${conditions.length} conditions stands`)
  }
  if (wrong > 0) return yield* new CommandRefused({ reason: `${wrong} to mend` })
})

// Rates need two readings.
const readAgainAfter = "3 seconds"

/** A console that answers nothing, as when the broker is away, does not hide what its processes show. */
const withoutConsole = Effect.fnUntraced(function* (order: Pick<Examined, "url" | "metrics">, refused: CommandRefused) {
  if (order.url !== undefined && order.metrics.length === 0) return yield* Effect.fail("nothing else to ask")
  const [scanOf, lookAt] = [framesOf(), looks()]
  lookAt(yield* scanOf(yield* findTargets(order.metrics)))
  yield* Effect.sleep(readAgainAfter)
  const last = lookAt(yield* scanOf(yield* findTargets(order.metrics)))
  const findings = findingsOf({ ...conditionsView({ ...last, standing: last.again }), isWhole: true })
  return findings.length === 0 ? yield* Effect.fail("nothing is seen") : [consoleUnread(refused), ...findings]
})

const consoleUnread = ({ reason }: CommandRefused): Finding => ({
  check: "console",
  state: "advice",
  what: `the console was not read: ${reason}`,
  why: "what follows was read from the processes themselves",
  mend: "./starling top --once"
})

const examineCluster = Effect.fnUntraced(function* ({ overlay, context, json }: Examined) {
  // The default is beside the launcher, which changes to its own folder.
  const folder = overlay === undefined ? "deploy/k8s/overlays/prod" : yield* fileOf(overlay)
  const print = (line: string) => writeOut(`${line}\n`)
  const code = yield* examine({ overlay: folder, context, isJson: json, print })
  if (code !== 0) return yield* new CommandRefused({ reason: "the cluster is not ready for the fleet" })
})
