/**
 * The sinks for the sound. A file is complete or absent: it is written under a temporary name beside its destination.
 * The sound card is reached by a player that is fed as the speech arrives and never outlives this process.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { mkdtemp, open, realpath, rename, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, delimiter, dirname, join } from "node:path"
import { Clock, Deferred, Effect, Scope } from "effect"
import { wavHeader } from "#speech/audio"
import { Environment } from "#runtime"
import { CommandRefused, misused, faultOfFile } from "../console.ts"
import { playedRateHz } from "./order.ts"

/** A sink for audio: a file or a sound card. */
export interface SaySink {
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, CommandRefused>
  /** Completes when that moment of the audio is heard; at once without a listener. */
  readonly played: (atMs: number) => Effect.Effect<void>
  /** Completes when everything is written or heard. */
  readonly finish: Effect.Effect<void, CommandRefused>
}

interface SayFile extends SaySink {
  readonly path: string
  readonly bytes: () => number
}

/** With `wavRateHz` the sink writes PCM, behind a header with its true size. */
export const openFile = Effect.fnUntraced(function* (named: string, wavRateHz: number | undefined) {
  const attempt = <A>(work: () => Promise<A>) =>
    Effect.tryPromise({
      try: work,
      catch: (cause) =>
        new CommandRefused({
          reason: `${named} cannot be written: ${faultOfFile(cause)}`
        })
    })
  // A link stays a link: its target is replaced.
  const path = yield* Effect.promise(() => realpath(named).catch(() => named))
  const found = yield* Effect.promise(() => stat(path).catch(() => undefined))
  if (found !== undefined && !found.isFile()) {
    return yield* misused(`${named} is not a file, -o takes one`)
  }
  const part = join(dirname(path), `.${basename(path)}.${process.pid}.part`)
  const handle = yield* Effect.acquireRelease(
    attempt(() => open(part, "w")),
    (handle) =>
      Effect.promise(async () => {
        await handle.close().catch(() => {})
        await rm(part, { force: true }).catch(() => {})
      })
  )
  let bytes = 0
  const put = (data: Uint8Array) =>
    attempt(async () => {
      await handle.appendFile(data)
      bytes += data.length
    })
  if (wavRateHz !== undefined) yield* put(wavHeader(wavRateHz, 0))
  const headed = Effect.suspend(() => {
    if (wavRateHz === undefined) return Effect.void
    const header = wavHeader(wavRateHz, bytes - wavHeader(wavRateHz, 0).length)
    return attempt(() => handle.write(header, 0, header.length, 0))
  })
  const file: SayFile = {
    path,
    bytes: () => bytes,
    write: put,
    played: () => Effect.void,
    finish: headed.pipe(
      Effect.andThen(attempt(() => handle.close())),
      Effect.andThen(Effect.uninterruptible(attempt(() => rename(part, path))))
    )
  }
  return file
})

interface Player {
  readonly program: string
  readonly parameters: ReadonlyArray<string>
  /** Whether it reads PCM as it arrives; otherwise it needs a complete file, named last. */
  readonly isFed: boolean
  /** The time from its first bytes to the first sound; measured, so that words are printed when they are heard. */
  readonly startMs: number
}

const rate = String(playedRateHz)

// By default ffplay analyses the first seconds before it plays them.
const ffplay = ["-nodisp", "-autoexit", "-hide_banner", "-loglevel", "error", "-fflags", "nobuffer"]
const atOnce = ["-analyzeduration", "0", "-probesize", "32", "-f", "s16le", "-sample_rate", rate, "-i", "-"]

/** In order of preference. */
const players: ReadonlyArray<Player> = [
  { program: "ffplay", parameters: [...ffplay, ...atOnce], isFed: true, startMs: 250 },
  {
    program: "aplay",
    parameters: ["-q", "-t", "raw", "-f", "S16_LE", "-r", rate, "-c", "1", "-"],
    isFed: true,
    startMs: 100
  },
  { program: "afplay", parameters: [], isFed: false, startMs: 200 },
  {
    program: "play",
    parameters: ["-q", "-t", "raw", "-r", rate, "-e", "signed", "-b", "16", "-c", "1", "-"],
    isFed: true,
    startMs: 100
  }
]

export const findPlayer = (path: string | undefined): Player | undefined => {
  const folders = (path ?? "").split(delimiter).filter((folder) => folder !== "")
  return players.find(({ program }) => folders.some((folder) => isProgram(join(folder, program))))
}

const isProgram = (path: string) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** A player's message that it cannot play; ffplay still exits with 0. */
const deaf = /audio open failed|could not initialize sdl|failed to open file/iu

/** Undefined when it played to the end. */
export const faultOfPlayer = (code: number | null, signal: string | null, said: string): string | undefined => {
  const lines = said.split("\n").map((line) => line.trim())
  const cause = lines.find((line) => deaf.test(line)) ?? lines.findLast((line) => line !== "")
  if (code === 0 && !deaf.test(said)) return undefined
  return cause ?? (signal === null ? `it ended with ${code}` : `it was ended by ${signal}`)
}

// Audio that a player has not taken yet waits here, up to ten minutes of it, so that the fleet finishes soon.
const waitingBytesMax = 32 * 1_024 * 1_024

const otherwise = "write a file instead: -o hello.mp3"

export const openPlayer = Effect.gen(function* () {
  const player = findPlayer((yield* Environment)["PATH"])
  if (player === undefined) {
    const names = players.map(({ program }) => program).join(", ")
    return yield* new CommandRefused({ reason: `nothing here plays sound (${names}); ${otherwise}` })
  }
  const firstMs = yield* Deferred.make<number>()
  const started = Effect.flatMap(Clock.currentTimeMillis, (nowMs) => Deferred.succeed(firstMs, nowMs + player.startMs))
  const played = Effect.fnUntraced(function* (atMs: number) {
    const dueMs = (yield* Deferred.await(firstMs)) + atMs
    yield* Effect.sleep(Math.max(0, dueMs - (yield* Clock.currentTimeMillis)))
  })
  const open = player.isFed ? fed(player, started) : given(player, started)
  const sink: SaySink = { ...(yield* open), played }
  return sink
})

/** Started with the first bytes, so that a refused request opens no sound card. */
const fed = Effect.fnUntraced(function* (player: Player, started: Effect.Effect<unknown>) {
  const scope = yield* Effect.scope
  let running: Running | undefined
  return {
    write: Effect.fnUntraced(function* (bytes: Uint8Array) {
      if (running === undefined) {
        running = yield* Scope.provide(run(player, player.parameters), scope)
        yield* started
      }
      const { child, ended } = running
      child.stdin?.write(bytes)
      while ((child.stdin?.writableLength ?? 0) > waitingBytesMax && !Deferred.isDoneUnsafe(ended)) {
        yield* Effect.sleep("200 millis")
      }
      if (!Deferred.isDoneUnsafe(ended)) return
      yield* Deferred.await(ended)
      return yield* new CommandRefused({ reason: `${player.program} was closed before the end` })
    }),
    finish: Effect.suspend(() => {
      running?.child.stdin?.end()
      return running === undefined ? Effect.void : Deferred.await(running.ended)
    })
  }
})

/** For a player that needs a complete file; the fleet generates one in a hundredth of its duration. */
const given = Effect.fnUntraced(function* (player: Player, started: Effect.Effect<unknown>) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "starling-say-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
  const file = yield* openFile(join(folder, "speech.wav"), playedRateHz)
  return {
    write: file.write,
    finish: Effect.gen(function* () {
      yield* file.finish
      const { ended } = yield* run(player, [...player.parameters, file.path])
      yield* started
      yield* Deferred.await(ended)
    }).pipe(Effect.scoped)
  }
})

interface Running {
  readonly child: ChildProcess
  readonly ended: Deferred.Deferred<void, CommandRefused>
}

const run = (player: Player, parameters: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync((): Running => {
      // In its own process group: Ctrl-C reaches us, and we end the player. Its input always ends with this process.
      const child = spawn(player.program, [...parameters], { detached: true, stdio: ["pipe", "ignore", "pipe"] })
      const ended = Deferred.makeUnsafe<void, CommandRefused>()
      let said = ""
      const end = (fault: string | undefined) => {
        const reason = `${player.program} cannot play here: ${fault}; ${otherwise}`
        Deferred.doneUnsafe(ended, fault === undefined ? Effect.void : Effect.fail(new CommandRefused({ reason })))
      }
      child.stderr?.on("data", (data: Buffer) => (said = `${said}${data.toString()}`.slice(-8_192)))
      // The exit of the player reports its loss.
      child.stdin?.on("error", () => {})
      child.once("error", (error) => end(error.message))
      child.once("close", (code, signal) => end(faultOfPlayer(code, signal, said)))
      return { child, ended }
    }),
    ({ child }) => Effect.sync(() => void child.kill("SIGKILL"))
  )
