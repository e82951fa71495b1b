/** Where the nats-server program is: named by the launcher, else on the PATH. */
import { access, constants } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { Effect, Schema } from "effect"
import { Environment } from "#runtime"

export class NatsServerMissing extends Schema.TaggedError<NatsServerMissing>()("NatsServerMissing", {
  looked: Schema.Array(Schema.String)
}) {
  override get message() {
    return `nats-server was not found; looked at: ${this.looked.join(", ")}. ./starling up installs it.`
  }
}

export const binaryVariable = "STARLING_NATS_SERVER"

export const findBinary = Effect.gen(function* () {
  const environment = yield* Environment
  const named = environment[binaryVariable]
  const onPath = (environment["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "")
  const looked = named === undefined ? onPath.map((folder) => join(folder, "nats-server")) : [named]
  for (const path of looked) {
    const isRunnable = yield* Effect.tryPromise(() => access(path, constants.X_OK)).pipe(
      Effect.as(true),
      Effect.orElseSucceed(() => false)
    )
    if (isRunnable) return path
  }
  return yield* new NatsServerMissing({ looked })
})
