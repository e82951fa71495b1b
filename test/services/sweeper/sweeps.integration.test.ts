import { fork } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { BusUnavailable } from "#bus"
import { Metrics } from "#runtime"
import { busOn, natsServer } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { watchProcessorShare } from "../../support/processor-share.ts"
import { type Findings, runSweeps, type Sweep } from "../../../services/sweeper/sweeps.ts"

const sweepOf = (run: Effect.Effect<Findings, BusUnavailable>, everyMs = 20): Sweep => ({
  name: "agents",
  everyMs,
  begin: Effect.succeed(run)
})

/** A process that lives in that scope. */
const process = (server: Parameters<typeof busOn>[0], epoch: string, sweep: Sweep) =>
  Effect.forkScoped(
    Effect.scoped(Effect.andThen(runSweeps({ epoch }, [sweep]), Effect.never)).pipe(Effect.provide(busOn(server)))
  )

describe("a sweep", () => {
  it.live("runs in one process at a time, and in another one within seconds after a kill", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const child = yield* Effect.acquireRelease(
        Effect.sync(() => fork(new URL("sweeping-child.ts", import.meta.url).pathname, [server.url])),
        (child) => Effect.sync(() => void child.kill("SIGKILL"))
      )
      let theirs = 0
      child.on("message", () => (theirs += 1))
      yield* eventually(() => theirs, { is: (seen) => seen > 2 })
      let ours = 0
      yield* process(server, "ours", sweepOf(Effect.sync(() => ({ seen: (ours += 1) }))))
      const before = theirs
      yield* eventually(() => theirs, { is: (seen) => seen > before + 20 })
      assert.strictEqual(ours, 0)

      const killedAtMs = performance.now()
      child.kill("SIGKILL")
      yield* eventually(() => ours, { is: (seen) => seen > 0 })

      assert.isBelow(performance.now() - killedAtMs, 6_000)
    }).pipe(Effect.scoped)
  )

  it.live("releases its lease at once when its process shuts down", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const [firstScope, seen] = [yield* Scope.make(), new Set<string>()]
      const see = (name: string) => sweepOf(Effect.sync(() => ({ seen: seen.add(name).size })))
      yield* Scope.provide(process(server, "first", see("first")), firstScope)
      yield* eventually(() => seen.has("first"))
      yield* process(server, "second", see("second"))
      const share = watchProcessorShare()
      yield* Scope.close(firstScope, Exit.void)
      const endedAtMs = performance.now()
      yield* eventually(() => seen.has("second"))
      const tookMs = performance.now() - endedAtMs
      assert.isBelow(tookMs, 2_500 / (yield* Effect.promise(share.end)))
    }).pipe(Effect.scoped)
  )

  it.live("that fails or dies is counted, and runs again at its next interval", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* Effect.gen(function* () {
        let runs = 0
        const run = Effect.suspend(() => {
          runs += 1
          if (runs === 1) return Effect.fail(new BusUnavailable({ operation: "look", detail: "nobody there" }))
          if (runs === 2) return Effect.die(new Error("a mistake"))
          if (runs > 4) return Effect.never
          return Effect.succeed({ found: 2 })
        })
        const running = yield* Effect.forkChild(
          Effect.scoped(Effect.andThen(runSweeps({ epoch: "ours" }, [sweepOf(run)]), Effect.never))
        )
        yield* eventually(() => runs, { is: (seen) => seen >= 5 })
        const text = yield* (yield* Metrics).text
        assert.match(text, /sweeper_failures_total\{[^}]*sweep="agents"\} 2/u)
        assert.match(text, /sweeper_held\{[^}]*sweep="agents"\} 1/u)
        assert.match(text, /sweeper_findings_total\{[^}]*finding="found"\} 4/u)
        yield* Fiber.interrupt(running)
        const after = yield* (yield* Metrics).text
        assert.match(after, /sweeper_held\{[^}]*sweep="agents"\} 0/u)
      }).pipe(Effect.provide(busOn(server)))
    }).pipe(Effect.scoped)
  )
})
