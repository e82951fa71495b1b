/**
 * The process around the program: its environment, streams, signals and exit; the role of the running code; and the
 * addresses of its roles. Only this file and the `main.ts` files of libs and services touch the process.
 */
import { setFlagsFromString } from "node:v8"
import { Context, Effect, Layer } from "effect"

export const hostEnvironment = (): Readonly<Record<string, string | undefined>> => process.env

export const writeStderr = (line: string) => void process.stderr.write(`${line}\n`)

export const hasTerminal = () => process.stderr.isTTY === true

/** Whether a terminal should show colours: https://no-color.org. */
export const wantsColours = () => (process.env["NO_COLOR"] ?? "") === "" && process.env["TERM"] !== "dumb"

/** Completes at the first SIGTERM or SIGINT. A second one ends the process at once, with 130. */
export const stopSignal = Effect.callback<NodeJS.Signals>((resume) => {
  let isStopping = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(130)
    isStopping = true
    resume(Effect.succeed(signal))
  }
  process.on("SIGTERM", onSignal)
  process.on("SIGINT", onSignal)
})

/**
 * An error that no handler catches is a bug: it is logged as fatal, and the process ends, because its state is unknown.
 */
export const watchForBugs = (log: (error: unknown) => void) => {
  process.on("uncaughtException", (error) => {
    log(error)
    process.exit(1)
  })
  process.on("unhandledRejection", (error) => {
    log(error)
    process.exit(1)
  })
}

export const exitProcess = (code: number): never => process.exit(code)

/**
 *
 * Lets the heap grow to twice its size after the last full collection before the next one. V8's default on a machine
 * with much memory is up to four times, so a process with 90 MB of objects holds 350 MB for them.
 *
 * It also makes V8 allocate every object young. By default V8 allocates the objects of a call site old once many of
 * them have lived long. At a call site that each request passes, such an object keeps its request's other objects alive
 * until the next full collection. An unpaid call of the gateway left 5 kB behind that way, and 150 bytes without it;
 * the quick collections took twice as long.
 *
 */
export const tuneCollector = () => {
  setFlagsFromString("--heap-growing-percent=100")
  setFlagsFromString("--no-allocation-site-pretenuring")
}

/** Only `main.ts` files set it; all other code reads the environment here. */
export const Environment = Context.Reference<Readonly<Record<string, string | undefined>>>(
  "starling/runtime/Environment",
  { defaultValue: () => ({}) }
)

/** The role of the running code: the label `role` in metrics, the field `role` in logs, the name on the bus. */
export const Role = Context.Reference<string>("starling/runtime/Role", { defaultValue: () => "fleet" })

/** The addresses of this process' roles, by the role's name, for the launcher to show. */
export class Addresses extends Context.Service<
  Addresses,
  {
    readonly add: (role: string, url: string) => Effect.Effect<void>
    readonly all: Effect.Effect<ReadonlyMap<string, string>>
    /** The address of one role, for code that every call runs. */
    readonly of: (role: string) => string | undefined
  }
>()("starling/runtime/Addresses") {
  static readonly layer = Layer.sync(Addresses, () => {
    const urls = new Map<string, string>()
    return Addresses.of({
      add: (role, url) => Effect.sync(() => void urls.set(role, url)),
      all: Effect.sync(() => new Map(urls)),
      of: (role) => urls.get(role)
    })
  })
}
