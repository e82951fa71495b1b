/**
 * The process around the program: its environment, its streams, its signals and its end. The only file of
 * libs and services, beside `main.ts` files, that touches it.
 */
import { setFlagsFromString } from "node:v8"
import { Effect } from "effect"

export const hostEnvironment = (): Readonly<Record<string, string | undefined>> => process.env

export const writeStderr = (line: string) => void process.stderr.write(`${line}\n`)

export const hasTerminal = () => process.stderr.isTTY === true

/** Whether colours are wanted on a terminal: https://no-color.org. */
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

/** What slips past every handler is a bug: said loudly, and the process ends, for its state is unknown. */
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
 * Lets the heap grow to twice of what the last full collection left, before the next one. By itself V8 waits for up
 * to four times where the machine has much memory, so that a process of 90 MB of objects holds 350 MB for them.
 *
 * And lets every object be born young. V8 makes those of a place in the code old at once when it has seen many of them
 * live for long; where that place is one that each request passes, such an object keeps all that its request has made
 * until the next full collection. An unpaid call of the gateway left 5 kB behind that way, and 150 bytes without it; the
 * quick collections took twice as long.
 */
export const tuneCollector = () => {
  setFlagsFromString("--heap-growing-percent=100")
  setFlagsFromString("--no-allocation-site-pretenuring")
}
