/**
 * Runs commands as a person does. `runHere` runs one in this process, which takes milliseconds; `startCommand` starts
 * one that is to be killed in a process of its own.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { HttpListener } from "#http"
import { program, programEnvironment } from "../../dev/fixtures/starling.ts"
import { commandLine } from "../../services/cli/run.ts"
import { tokenOf } from "./console.ts"

const root = join(import.meta.dirname, "../..")

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

type Variables = Readonly<Record<string, string | undefined>>

/** One after the other: the output of the process is the command's while it runs. */
export const runHere = (words: ReadonlyArray<string>, variables: Variables): Effect.Effect<Ran> =>
  Effect.map(saying(commandLine(words, "0.0.0"), variables), ({ value, ...said }) => ({ code: value, ...said }))

/** What it prints. */
export const saidBy = <A, E, R>(print: Effect.Effect<A, E, R>) =>
  Effect.map(saying(print, {}), ({ out, error }) => ({ out, error }))

const saying = <A, E, R>(act: Effect.Effect<A, E, R>, variables: Variables) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const said = { out: "", error: "" }
      const restore = [
        captured(process.stdout, (text) => (said.out += text)),
        captured(process.stderr, (text) => (said.error += text)),
        ...Object.entries(variables).map(([name, value]) => variable(name, value))
      ]
      return { said, restore }
    }),
    ({ said }) => Effect.map(act, (value) => ({ value, ...said })),
    ({ restore }) => Effect.sync(() => restore.forEach((put) => put()))
  )

const captured = (stream: NodeJS.WriteStream, take: (text: string) => void) => {
  const before = stream.write
  stream.write = (part: string | Uint8Array) => {
    take(typeof part === "string" ? part : Buffer.from(part).toString())
    return true
  }
  return () => void (stream.write = before)
}

const variable = (name: string, value: string | undefined) => {
  const before = process.env[name]
  const put = (text: string | undefined) => {
    if (text === undefined) delete process.env[name]
    else process.env[name] = text
  }
  put(value)
  return () => put(before)
}

/** A command that runs. `said`: what it has printed so far, errors among it. */
export interface RunningCommand {
  readonly pid: number
  readonly said: () => string
  readonly ended: Promise<Ran>
  readonly signal: (name: NodeJS.Signals) => void
}

export const startCommand = (words: ReadonlyArray<string>, variables: Variables): RunningCommand => {
  const child = spawn(process.execPath, [program, ...words], {
    cwd: root,
    env: { ...process.env, ...programEnvironment, ...variables },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const said = { out: "", error: "" }
  child.stdout.on("data", (part: Buffer) => void (said.out += part.toString()))
  child.stderr.on("data", (part: Buffer) => void (said.error += part.toString()))
  return {
    pid: child.pid ?? 0,
    said: () => `${said.out}${said.error}`,
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, ...said }))),
    signal: (name) => void child.kill(name)
  }
}

/** A home without a fleet, gone with the scope. */
export const emptyHome = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-command-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Commands on the console of this test, as its owner or with another token. */
export const commandsHere = Effect.gen(function* () {
  const { url } = yield* HttpListener
  const variables = { STARLING_HOME: yield* emptyHome, STARLING_TOKEN: yield* tokenOf("owner") }
  return {
    folder: variables.STARLING_HOME,
    run: (words: ReadonlyArray<string>, token?: string) =>
      runHere([...words, "--url", url], {
        ...variables,
        ...(token === undefined ? {} : { STARLING_TOKEN: token })
      }),
    start: (words: ReadonlyArray<string>) =>
      Effect.acquireRelease(
        Effect.sync(() => startCommand([...words, "--url", url], variables)),
        (command) =>
          Effect.promise(async () => {
            command.signal("SIGKILL")
            await command.ended
          })
      )
  }
})

/** The objects of an output with one a line. */
export const objectsIn = ({ out }: Ran) =>
  out
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
