/**
 * A role in a process of its own, to protect the others: an engine that crashes takes only its process with it. The
 * process is restarted when it dies, with growing delays while it keeps dying, and ends with the fleet. A file of the
 * home notes its metrics' address; the file outlives a crash of the fleet, so it names its fleet.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Clock, Deferred, Effect, Layer, Option, Queue, Ref, Schema } from "effect"
import type { RoleName } from "#base"
import {
  afterDeath,
  type Child,
  type Deaths,
  figuresAt,
  Health,
  labelled,
  MetricsSources,
  noDeaths,
  startChild
} from "#runtime"

// Its engines load in tens of milliseconds; a child that is not ready by then is slow, and counts as started.
const readyWithin = "20 seconds"

/** A note in the fleet's home has the address of its metrics. */
export const roleProcess = (role: RoleName, environment: Readonly<Record<string, string | undefined>>, home: string) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const current = yield* Ref.make(Option.none<Child>())
      let isReady = false
      let metricsUrl: string | undefined
      const firstReady = yield* Deferred.make<void>()
      yield* Effect.addFinalizer(() =>
        Effect.flatMap(Ref.get(current), Option.match({ onNone: () => Effect.void, onSome: (child) => child.stop }))
      )
      // It logs one line each time it is ready: the address of its metrics.
      const readyLines = yield* Queue.sliding<string>(1)
      yield* Effect.addFinalizer(() => forgetProcess(home, role))
      const note = Effect.flatMap(Queue.take(readyLines), (line) => Effect.ignore(noteProcess(home, role, line)))
      yield* Effect.forkScoped(Effect.forever(note))
      const onLine = (line: string) => {
        isReady = true
        metricsUrl = Option.getOrUndefined(decodeSaid(line))?.metrics
        Queue.offerUnsafe(readyLines, line)
        Deferred.doneUnsafe(firstReady, Effect.void)
      }
      const start = Effect.tap(
        startChild(process.execPath, [...process.execArgv, ownProgram, "role", role, "--ready-json"], {
          // Metrics of two processes cannot share a port: the child takes any free one, and logs it.
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
          metricsUrl = undefined
          deaths = afterDeath(deaths, (yield* Clock.currentTimeMillis) - startedAtMs)
          yield* Effect.logError("a role's process died, starting it again").pipe(
            Effect.annotateLogs({ process: role, how, delayMs: deaths.delayMs })
          )
          yield* Effect.sleep(deaths.delayMs)
        }
      })
      yield* Effect.forkScoped(keepRunning)
      // Its metrics are shown with ours; process-level ones carry no role, so they get its name.
      yield* (yield* MetricsSources).add(
        Effect.suspend(() => (metricsUrl === undefined ? Effect.succeed("") : figuresAt(`${metricsUrl}/metrics`))).pipe(
          Effect.map((text) => labelled(text, "role", role))
        ),
        { role, url: () => metricsUrl }
      )
      yield* (yield* Health).readiness(
        role,
        Effect.suspend(() => (isReady ? Effect.void : Effect.fail("its process is not ready")))
      )
      yield* Effect.timeoutOption(Deferred.await(firstReady), readyWithin)
    })
  )

// The program that started the fleet runs its roles too.
const ownProgram = process.argv[1] ?? ""

const Note = Schema.fromJsonString(Schema.Struct({ role: Schema.String, metrics: Schema.String, fleet: Schema.Int }))
const LockFile = Schema.fromJsonString(Schema.Struct({ pid: Schema.Int }))
const Said = Schema.fromJsonString(Schema.Struct({ metrics: Schema.String }))
const decodeNote = Schema.decodeUnknownOption(Note)
const decodeHolder = Schema.decodeUnknownOption(LockFile)
const decodeSaid = Schema.decodeUnknownOption(Said)
const encodeNote = Schema.encodeSync(Note)

interface ProcessNote {
  readonly role: string
  readonly metrics: string
}

const folderOf = (home: string) => join(home, "processes")
const pathOf = (home: string, role: string) => join(folderOf(home), `${role}.json`)

/** `line`: the process's log line when it was ready; without an address there is nothing to note. */
const noteProcess = Effect.fnUntraced(function* (home: string, role: string, line: string) {
  const said = Option.getOrUndefined(decodeSaid(line))
  if (said === undefined) return
  const note = encodeNote({ role, metrics: said.metrics, fleet: process.pid })
  yield* Effect.tryPromise(() =>
    mkdir(folderOf(home), { recursive: true }).then(() => writeFile(pathOf(home, role), `${note}\n`))
  )
})

const forgetProcess = (home: string, role: string) => Effect.promise(() => rm(pathOf(home, role), { force: true }))

/** The notes of the fleet that currently holds the home. */
export const readNotes = Effect.fnUntraced(function* (home: string) {
  const holder = Option.getOrUndefined(decodeHolder(yield* textOf(join(home, "lock"))))
  const names = yield* Effect.tryPromise(() => readdir(folderOf(home))).pipe(
    Effect.orElseSucceed((): Array<string> => [])
  )
  const texts = yield* Effect.forEach(names, (name) => textOf(join(folderOf(home), name)))
  return texts.flatMap((text): ReadonlyArray<ProcessNote> => {
    const note = Option.getOrUndefined(decodeNote(text))
    return note !== undefined && note.fleet === holder?.pid ? [{ role: note.role, metrics: note.metrics }] : []
  })
})

const textOf = (path: string) => Effect.tryPromise(() => readFile(path, "utf8")).pipe(Effect.orElseSucceed(() => ""))
