/**
 * `try`: a failure from start to finish on a fleet of its own. Each command that it shows runs as shown, in a process of
 * its own; only the receiver, which has to fail on demand, is part of this one.
 */
import { spawn } from "node:child_process"
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Clock, Deferred, Duration, Effect, Exit, Queue, Schedule, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import type { RoleName } from "#base"
import { consoleClient } from "#console/api"
import { startReceiver } from "#dev/receiver"
import { startChild } from "#runtime"
import { CommandRefused, print } from "./console.ts"
import { refusedBy } from "./operate/client.ts"

const roles: ReadonlyArray<RoleName> = ["webhook-dispatcher", "console"]
const condition = "WebhookDeliveriesAbandoned"
const trigger = "trigger work_item.merged"

// Far more than a quiet machine needs. What is read as a rate ends half a minute after it stopped.
const startWithin = Duration.seconds(60)
const stepWithin = Duration.seconds(30)
const endWithin = Duration.seconds(60)

export const trial = Effect.scoped(
  Effect.gen(function* () {
    const startedMs = yield* Clock.currentTimeMillis
    const folder = yield* ownFolder
    yield* print(`A fleet of its own, in ${folder} and on free ports: what runs already is left alone.`)
    yield* print("It takes about a minute. Ctrl-C ends it and cleans up.")
    yield* steps(folder).pipe(
      Effect.mapError(
        ({ message }) => new CommandRefused({ reason: `${message}\n  the fleet's log: ${logIn(folder)}` })
      )
    )
    const seconds = Math.round(((yield* Clock.currentTimeMillis) - startedMs) / 1_000)
    yield* print(`\nDone in ${seconds} s. The fleet stops and its folder goes. One that stays: ./starling up`)
  })
)

const steps = Effect.fnUntraced(function* (folder: string) {
  yield* title("1. Start a broker, a dispatcher and a console")
  const { run, conditions } = yield* startFleet(folder)
  yield* run("console")

  yield* title("2. Register an endpoint")
  const receiver = yield* openReceiver
  yield* print(`  A receiver at ${receiver.url} answers 204.`)
  receiver.settings.secret = (yield* run(`endpoints add try ${receiver.url} --set MaxAttempts=2`)).out.trim()

  yield* title("3. Deliver an event")
  yield* run(trigger)
  yield* receiver.received(1)

  yield* title("4. Break the receiver")
  receiver.settings.status = 500
  yield* print("  From now on it answers 500.")
  yield* run(trigger)
  yield* receiver.received(2)
  yield* print("  MaxAttempts is 2: the delivery is abandoned, and kept for thirty days.")

  yield* title("5. See what is wrong: the console checks every 5 s")
  const found = yield* until(`${condition} in GET /conditions`, stepWithin, conditions, (all) => all.some(isMeant))
  const seen = found.find(isMeant)
  yield* print(`  GET /conditions has ${seen?.name} (${seen?.severity}): ${seen?.hurts}`)
  yield* run("doctor", 1)

  yield* title("6. Mend the receiver, and resend")
  receiver.settings.status = 204
  yield* print("  It answers 204 again.")
  yield* run("endpoints test try")
  yield* receiver.received(1)
  yield* run("abandoned resend --endpoint try")
  yield* receiver.received(1)

  yield* title("7. Wait for the all-clear, half a minute at most")
  const isOver = (all: Effect.Success<typeof conditions>) => all.every(({ labels }) => labels["endpoint"] !== "try")
  yield* until("the end of its conditions in GET /conditions", endWithin, conditions, isOver)
  const { code } = yield* run("doctor", 0, 1)
  if (code === 1) yield* print("  The delivery is mended. What is left has another cause, such as a busy machine.")
  yield* run("endpoints remove try")
})

const isMeant = ({ name }: { readonly name: string }) => name === condition

const title = (text: string) => print(`\n${text}`)

const logIn = (folder: string) => join(folder, "log")

/** Of a failed trial the log is kept. */
const ownFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "starling-try-"))),
  (folder, exit) => {
    const isFailed = Exit.isFailure(exit) && !Exit.hasInterrupts(exit)
    return Effect.promise(() => rm(isFailed ? join(folder, "home") : folder, { recursive: true, force: true }))
  }
)

const Ready = Schema.fromJsonString(Schema.Struct({ console: Schema.String, token: Schema.String }))

const startFleet = Effect.fnUntraced(function* (folder: string) {
  const environment = yield* Effect.promise(() => environmentIn(folder))
  const log = yield* Effect.acquireRelease(
    Effect.promise(() => open(logIn(folder), "w")),
    (file) => Effect.promise(() => file.close())
  )
  yield* print("$ ./starling up")
  const firstLine = yield* Deferred.make<string>()
  const fleet = yield* Effect.acquireRelease(
    startChild(process.execPath, programWith("up", "--ready-json"), {
      environment,
      errors: log.fd,
      onLine: (line) => void Deferred.doneUnsafe(firstLine, Effect.succeed(line))
    }),
    ({ stop }) => stop
  )
  const ended = Effect.flatMap(fleet.ended, (how) =>
    Effect.fail(new CommandRefused({ reason: `up ended with ${how}` }))
  )
  const line = yield* within("the fleet", startWithin, Effect.raceFirst(Deferred.await(firstLine), ended))
  const { console: url, token } = yield* Schema.decodeEffect(Ready)(line)
  const client = yield* consoleClient({ url, token }).pipe(Effect.provide(FetchHttpClient.layer))
  return {
    run: (words: string, ...codes: ReadonlyArray<number>) => run(words, { environment, codes }),
    conditions: client.listConditions().pipe(
      Effect.map(({ items }) => items),
      Effect.mapError((error) => refusedBy(error, url))
    )
  }
})

/** None of the settings of another fleet: neither its file nor its ports, nor a console that this shell names. */
const environmentIn = async (folder: string) => {
  const config = join(folder, "home", "starling.config.json")
  await mkdir(join(folder, "home"))
  await writeFile(config, JSON.stringify({ Fleet: { Roles: roles } }))
  return {
    ...process.env,
    STARLING_HOME: join(folder, "home"),
    STARLING_CONFIG: config,
    FLEET_ROLES: undefined,
    STARLING_NATS_PORT: "0",
    TELEMETRY_PORT: "0",
    CONSOLE_PORT: "0",
    STARLING_CONSOLE: undefined,
    STARLING_TOKEN: undefined
  }
}

const programWith = (...words: ReadonlyArray<string>) => [...process.execArgv, process.argv[1] ?? "", ...words]

interface Wanted {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The exit codes that it may end with; 0 if none is named. */
  readonly codes: ReadonlyArray<number>
}

/** Shows a command and what it says. */
const run = Effect.fnUntraced(function* (words: string, { environment, codes }: Wanted) {
  const command = `./starling ${words}`
  yield* print(`$ ${command}`)
  const ended = Effect.callback<{ readonly code: number | null; readonly out: string; readonly said: string }>(
    (resume) => {
      const child = spawn(process.execPath, programWith(...words.split(" ")), {
        env: environment,
        stdio: ["ignore", "pipe", "pipe"]
      })
      let [out, said] = ["", ""]
      child.stdout.on("data", (data: Buffer) => ((out += data.toString()), (said += data.toString())))
      child.stderr.on("data", (data: Buffer) => (said += data.toString()))
      child.once("close", (code) => resume(Effect.succeed({ code, out, said })))
      return Effect.sync(() => child.kill())
    }
  )
  const { code, out, said } = yield* within(`the end of ${command}`, stepWithin, ended)
  yield* print(said.trimEnd().replaceAll(/^/gmu, "  "))
  const wanted = codes.length === 0 ? [0] : codes
  if (!wanted.includes(code ?? -1)) {
    return yield* new CommandRefused({ reason: `${command} ended with ${code} instead of ${wanted.join(" or ")}` })
  }
  return { code, out }
})

const openReceiver = Effect.gen(function* () {
  const lines = yield* Queue.unbounded<string>()
  const settings: { port: number; secret: string | undefined; status: number } = {
    port: 0,
    secret: undefined,
    status: 204
  }
  const show = (line: string) => void Queue.offerUnsafe(lines, `  → ${line}, answered ${settings.status}`)
  const { url } = yield* startReceiver(Object.assign(settings, { show }))
  const next = within("a request to the receiver", stepWithin, Queue.take(lines))
  return {
    url,
    settings,
    received: (count: number) => Effect.repeat(Effect.flatMap(next, print), { times: count - 1 })
  }
})

const within = <A, E, R>(what: string, limit: Duration.Duration, wait: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(wait, {
    duration: limit,
    orElse: () =>
      Effect.fail(new CommandRefused({ reason: `${what} did not come within ${Duration.toSeconds(limit)} s` }))
  })

/** Looks again and again until what it sees is as wanted. */
const until = <A, E, R>(
  what: string,
  limit: Duration.Duration,
  look: Effect.Effect<A, E, R>,
  isWanted: (seen: A) => boolean
) => within(what, limit, Effect.repeat(look, { until: isWanted, schedule: Schedule.spaced("500 millis") }))
