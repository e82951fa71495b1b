/**
 * One anvil process on loopback: started on a free port, ready when it answers, ended with its scope, and guarded so
 * that it does not outlive this process. It keeps no history of states and a bounded number of blocks.
 */
import { createRequire } from "node:module"
import { Effect, Option, Schema, type Scope } from "effect"
import { type Child, freePort, startChild } from "#runtime"
import { askLocal } from "./local-rpc.ts"

export class LocalChainNotStarted extends Schema.TaggedError<LocalChainNotStarted>()("LocalChainNotStarted", {
  detail: Schema.String
}) {
  override get message() {
    return `the local chain did not start: ${this.detail}`
  }
}

interface AnvilOptions {
  /** 0 takes any free one; a taken one gives way to the next. */
  readonly port: number
  readonly chainId: number
  /**
   * The time between blocks. Each transaction also gets a block at once, unless `onlyInterval`. At two seconds or less
   * the program keeps 1,500 states whatever its options say, and each is a copy of every balance: for short tests only.
   */
  readonly blockTimeMs: number
  readonly onlyInterval: boolean
}

const readyWithin = "10 seconds"
const pollEvery = "5 millis"
// A neighbour may take the port between the check and the listening.
const startsMax = 5
// How far back the fate of a payment can be seen; each block costs some 25 kB.
const blocksKept = 5_000
// A call that began just before a block was made still finds its state.
const statesKept = 32

export const startAnvil = Effect.fn("startAnvil")(function* (options: AnvilOptions) {
  const binary = yield* findAnvil
  let detail = ""
  for (let started = 0; started < startsMax; started += 1) {
    const port = yield* freePort(options.port === 0 ? 0 : options.port + started)
    if (Option.isNone(port)) break
    const outcome = yield* Effect.result(startOn(binary, port.value, options))
    if (outcome._tag === "Success") return outcome.success
    detail = outcome.failure.detail
  }
  return yield* new LocalChainNotStarted({ detail: detail === "" ? "no port is free" : detail })
})

const startOn = Effect.fnUntraced(function* (
  binary: string,
  port: number,
  options: AnvilOptions
): Effect.fn.Return<{ readonly url: string; readonly pid: number }, LocalChainNotStarted, Scope.Scope> {
  const child = yield* Effect.acquireRelease(startChild(binary, argumentsOf(port, options)), stopped)
  const url = `http://127.0.0.1:${port}`
  const answers = askLocal(url, "eth_chainId", []).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false),
    Effect.delay(pollEvery),
    Effect.repeat({ until: (is) => is })
  )
  const ended = Effect.flatMap(child.ended, (how) => new LocalChainNotStarted({ detail: `it ended with ${how}` }))
  yield* Effect.raceFirst(answers, ended).pipe(
    Effect.timeoutOrElse({
      duration: readyWithin,
      orElse: () => new LocalChainNotStarted({ detail: "it did not answer in time" })
    })
  )
  return { url, pid: child.pid }
})

/** A paused process only handles its end signal once it goes on. */
const stopped = (child: Child) =>
  Effect.andThen(Effect.ignore(Effect.try(() => process.kill(child.pid, "SIGCONT"))), child.stop)

const argumentsOf = (port: number, { chainId, blockTimeMs, onlyInterval }: AnvilOptions) => [
  "--host",
  "127.0.0.1",
  "--port",
  String(port),
  "--chain-id",
  String(chainId),
  "--block-time",
  String(blockTimeMs / 1_000),
  ...(onlyInterval ? [] : ["--mixed-mining"]),
  "--silent",
  "--accounts",
  "1",
  "--prune-history",
  String(statesKept),
  "--transaction-block-keeper",
  String(blocksKept),
  // From Prague on each block's hash is stored in a contract (EIP-2935), whose whole storage the program sorts and
  // hashes again for every block: after a thousand blocks a block takes three times as long, after four thousand ten
  // times.
  "--hardfork",
  "cancun",
  // Final after two blocks, as a chain of one node can be.
  "--slots-in-an-epoch",
  "1"
]

/** Finds the anvil program: in the package for this machine's platform, beside the package that lists them all. */

export class AnvilMissing extends Schema.TaggedError<AnvilMissing>()("AnvilMissing", { detail: Schema.String }) {
  override get message() {
    return `anvil was not found: ${this.detail}. ./starling up installs it.`
  }
}

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" }

const findAnvil: Effect.Effect<string, AnvilMissing> = Effect.try({
  try: () => {
    const name = `@foundry-rs/anvil-${process.platform}-${architectures[process.arch] ?? process.arch}`
    return createRequire(import.meta.url).resolve(`${name}/bin/anvil`)
  },
  catch: (error) => new AnvilMissing({ detail: error instanceof Error ? error.message : String(error) })
})
