/**
 * Liveness and readiness. A role's loop beats on every round; the process is alive while every loop has beaten within
 * its limit. Readiness checks the outside: the broker, the streams. An unavailable broker makes a process unready,
 * never dead. Where several checks share a name, one unhealthy check makes them all unhealthy.
 */
import { Clock, Context, Effect, Layer, type Scope } from "effect"

export interface HealthLoop {
  readonly beat: () => void
}

export interface LoopOptions {
  /** How long a round of the loop may take before the loop counts as stuck. */
  readonly stallMs: number
}

export interface HealthReport {
  readonly ok: boolean
  readonly checks: Readonly<Record<string, string>>
}

export class Health extends Context.Service<
  Health,
  {
    readonly loop: (name: string, options: LoopOptions) => Effect.Effect<HealthLoop, never, Scope.Scope>
    /** The check's failure is the reason that `/readyz` shows. */
    readonly readiness: (name: string, check: Effect.Effect<void, string>) => Effect.Effect<void, never, Scope.Scope>
    /** A fault that does not make the process unready, shown beside the checks. Undefined when there is none. */
    readonly remark: (name: string, look: Effect.Effect<string | undefined>) => Effect.Effect<void, never, Scope.Scope>
    /** Startup is complete. Until then the process is not ready, whatever the checks say. */
    readonly started: Effect.Effect<void>
    readonly live: Effect.Effect<HealthReport>
    readonly ready: Effect.Effect<HealthReport>
  }
>()("starling/runtime/Health") {
  static readonly layer = Layer.sync(Health, () => {
    const loops = new Set<{ readonly name: string; readonly stallMs: number; beatAtMs: number }>()
    const start = { name: "start", check: Effect.fail("starting") }
    const checks = new Set<{ readonly name: string; readonly check: Effect.Effect<void, string> }>([start])

    const loop = Effect.fnUntraced(function* (name: string, { stallMs }: LoopOptions) {
      const clock = yield* Clock.Clock
      const state = { name, stallMs, beatAtMs: clock.currentTimeMillisUnsafe() }
      loops.add(state)
      yield* Effect.addFinalizer(() => Effect.sync(() => loops.delete(state)))
      return { beat: () => void (state.beatAtMs = clock.currentTimeMillisUnsafe()) }
    })

    const readiness = Effect.fnUntraced(function* (name: string, check: Effect.Effect<void, string>) {
      const registered = { name, check }
      checks.add(registered)
      yield* Effect.addFinalizer(() => Effect.sync(() => checks.delete(registered)))
    })

    const remarks = new Set<{ readonly name: string; readonly look: Effect.Effect<string | undefined> }>()
    const remark = Effect.fnUntraced(function* (name: string, look: Effect.Effect<string | undefined>) {
      const registered = { name, look }
      remarks.add(registered)
      yield* Effect.addFinalizer(() => Effect.sync(() => remarks.delete(registered)))
    })
    const remarked = Effect.suspend(() =>
      Effect.forEach([...remarks], ({ name, look }) => Effect.map(look, (text) => [name, text ?? well] as const))
    )

    const live = Effect.map(Clock.currentTimeMillis, (nowMs) =>
      report([...loops].map(({ name, stallMs, beatAtMs }) => [name, judge(nowMs - beatAtMs, stallMs)]))
    )
    const ready = Effect.suspend(() =>
      Effect.forEach([...checks], ({ name, check }) =>
        Effect.match(check, {
          onFailure: (reason) => [name, reason] as const,
          onSuccess: () => [name, well] as const
        })
      )
    ).pipe(
      Effect.map(report),
      Effect.zipWith(remarked, ({ ok, checks: found }, remarksNow) => ({
        ok,
        // What makes it unready comes first, and wins over a remark of the same name.
        checks: { ...found, ...report(remarksNow).checks, ...found }
      }))
    )
    return Health.of({ loop, readiness, remark, live, ready, started: Effect.sync(() => void checks.delete(start)) })
  })
}

const well = "ok"

const judge = (ageMs: number, stallMs: number) => (ageMs <= stallMs ? well : `no progress for ${Math.round(ageMs)} ms`)

const report = (found: ReadonlyArray<readonly [string, string]>): HealthReport => {
  const checks: Record<string, string> = {}
  for (const [name, state] of found) if (checks[name] === undefined || checks[name] === well) checks[name] = state
  return { ok: Object.values(checks).every((state) => state === well), checks }
}
