/** The demo upstream as a process of its own, so that it does not share a thread with what is measured. */
import { Effect, Scope } from "effect"
import { startLocalUpstream } from "#dev/upstream"

const { url } = await Effect.runPromise(
  startLocalUpstream().pipe(Effect.provideService(Scope.Scope, Scope.makeUnsafe()))
)
process.on("message", () => undefined)
process.send?.({ url })
