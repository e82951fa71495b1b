/**
 * A role in a process of its own, for the sake of the others: an engine that crashes takes only its process
 * with it. Started again when it dies, ever later while it keeps dying; ends with the fleet.
 */
import { Clock, Deferred, Effect, Layer, Option, Queue, Ref } from "effect"
import type { RoleName } from "#contracts"
import { type Child, Health, startChild } from "#runtime"
import { afterDeath, type Deaths, noDeaths } from "./nats-server/restart-policy.ts"
import { forgetProcess, noteProcess } from "./process-note.ts"

// Its engines load in tens of milliseconds; a child that is not ready by then is slow, and started all the same.
const readyWithin = "20 seconds"

/** Where it shows its metrics is noted in the fleet's home. */
export const roleProcess = (role: RoleName, environment: Readonly<Record<string, string | undefined>>, home: string) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const current = yield* Ref.make(Option.none<Child>())
      let isReady = false
      const firstReady = yield* Deferred.make<void>()
      yield* Effect.addFinalizer(() =>
        Effect.flatMap(Ref.get(current), Option.match({ onNone: () => Effect.void, onSome: (child) => child.stop }))
      )
      // It says one thing each time it is ready: where it shows its metrics.
      const told = yield* Queue.sliding<string>(1)
      yield* Effect.addFinalizer(() => forgetProcess(home, role))
      const note = Effect.flatMap(Queue.take(told), (line) => Effect.ignore(noteProcess(home, role, line)))
      yield* Effect.forkScoped(Effect.forever(note))
      const onLine = (line: string) => {
        isReady = true
        Queue.offerUnsafe(told, line)
        Deferred.doneUnsafe(firstReady, Effect.void)
      }
      const start = Effect.tap(
        startChild(process.execPath, [...process.execArgv, ownProgram, "role", role, "--ready-json"], {
          // Metrics of two processes cannot share a port: the child takes any free one, and logs which.
          environment: { ...environment, TELEMETRY_PORT: "0" },
          onLine
        }),
        (child) => Ref.set(current, Option.some(child))
      )
      const keepRunning = Effect.gen(function* () {
        let deaths: Deaths = noDeaths
        while (true) {
          const startedAtMs = yield* Clock.currentTimeMillis
          const child = yield* Effect.uninterruptible(start)
          const how = yield* child.ended
          isReady = false
          deaths = afterDeath(deaths, (yield* Clock.currentTimeMillis) - startedAtMs)
          yield* Effect.logError("a role's process died, starting it again").pipe(
            Effect.annotateLogs({ process: role, how, delayMs: deaths.delayMs })
          )
          yield* Effect.sleep(deaths.delayMs)
        }
      })
      yield* Effect.forkScoped(keepRunning)
      yield* (yield* Health).readiness(
        role,
        Effect.suspend(() => (isReady ? Effect.void : Effect.fail("its process is not ready")))
      )
      yield* Effect.timeoutOption(Deferred.await(firstReady), readyWithin)
    })
  )

// The program that started the fleet runs its roles too.
const ownProgram = process.argv[1] ?? ""
