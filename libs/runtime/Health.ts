/**
 * What liveness and readiness are made of. A loop of a role beats whenever it comes round; the process is
 * alive while every loop has beaten within its limit. Readiness asks the outside: the broker, the streams.
 * A broker that is away makes a process unready, never dead.
 */
import { Clock, Context, Effect, Layer, type Scope } from "effect"

export interface HealthLoop {
  readonly beat: () => void
}

export interface LoopOptions {
  /** How long the loop may take to come round before it counts as stuck. */
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
    /** The check's failure is the reason shown. */
    readonly readiness: (name: string, check: Effect.Effect<void, string>) => Effect.Effect<void, never, Scope.Scope>
    /** Everything stands; before that the process is not ready, whatever the checks say. */
    readonly started: Effect.Effect<void>
    readonly live: Effect.Effect<HealthReport>
    readonly ready: Effect.Effect<HealthReport>
  }
>()("starling/runtime/Health") {
  static readonly layer = Layer.sync(Health, () => {
    const loops = new Map<string, { stallMs: number; beatAtMs: number }>()
    const checks = new Map<string, Effect.Effect<void, string>>([["start", Effect.fail("starting")]])

    const loop = Effect.fnUntraced(function* (name: string, { stallMs }: LoopOptions) {
      const clock = yield* Clock.Clock
      const state = { stallMs, beatAtMs: clock.currentTimeMillisUnsafe() }
      loops.set(name, state)
      yield* Effect.addFinalizer(() => Effect.sync(() => loops.delete(name)))
      return { beat: () => void (state.beatAtMs = clock.currentTimeMillisUnsafe()) }
    })

    const readiness = Effect.fnUntraced(function* (name: string, check: Effect.Effect<void, string>) {
      checks.set(name, check)
      yield* Effect.addFinalizer(() => Effect.sync(() => checks.delete(name)))
    })

    const live = Effect.map(Clock.currentTimeMillis, (nowMs) =>
      report([...loops].map(([name, { stallMs, beatAtMs }]) => [name, judge(nowMs - beatAtMs, stallMs)]))
    )
    const ready = Effect.suspend(() =>
      Effect.forEach([...checks], ([name, check]) =>
        Effect.match(check, {
          onFailure: (reason) => [name, reason] as const,
          onSuccess: () => [name, "ok"] as const
        })
      )
    ).pipe(Effect.map(report))
    return Health.of({ loop, readiness, live, ready, started: Effect.sync(() => void checks.delete("start")) })
  })
}

const judge = (ageMs: number, stallMs: number) => (ageMs <= stallMs ? "ok" : `no progress for ${Math.round(ageMs)} ms`)

const report = (checks: ReadonlyArray<readonly [string, string]>): HealthReport => ({
  ok: checks.every(([, state]) => state === "ok"),
  checks: Object.fromEntries(checks)
})
