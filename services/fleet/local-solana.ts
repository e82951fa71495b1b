/** The local Solana chain in a process of its own: it answers on the thread that it computes on. Ends with its scope. */
import { Deferred, Effect, Schema } from "effect"
import { solanaProgram } from "#dev/chain"
import { startChild } from "#runtime"

const Account = Schema.Struct({ address: Schema.String, secretKey: Schema.String })

const LocalSolana = Schema.Struct({
  rpcUrl: Schema.String,
  network: Schema.String,
  mint: Schema.String,
  payTo: Schema.String,
  payer: Account,
  feePayer: Account
})
export interface LocalSolana extends Schema.Schema.Type<typeof LocalSolana> {}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(LocalSolana))
// Its native module loads in a tenth of a second on an idle machine.
const readyWithin = "10 seconds"

/** `port` 0 takes any free one. The payer stays the same with the seed, the payee with its own. */
export const startLocalSolana = Effect.fn("startLocalSolana")(function* (
  seed: string,
  payeeSeed: string,
  port: number
) {
  const said = yield* Deferred.make<string>()
  const child = yield* Effect.acquireRelease(
    startChild(process.execPath, [...process.execArgv, solanaProgram, seed, payeeSeed, String(port)], {
      onLine: (line) => void Deferred.doneUnsafe(said, Effect.succeed(line))
    }),
    (child) => child.stop
  )
  const ended = Effect.flatMap(child.ended, (how) => Effect.fail(`it ended with ${how}`))
  const line = yield* Effect.raceFirst(Deferred.await(said), ended).pipe(
    Effect.timeoutOrElse({ duration: readyWithin, orElse: () => Effect.fail("it did not say where it is in time") })
  )
  return yield* Effect.mapError(Effect.fromOption(decode(line)), () => "it said something else than where it is")
})
