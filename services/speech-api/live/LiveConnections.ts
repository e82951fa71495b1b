/**
 * The live connections of this process: their limits, in total and per token, and their end. A drain accepts no new
 * ones, lets every context speak its remaining text, and then closes each connection.
 */
import { Context, Effect, FiberSet, Layer, type Scope } from "effect"
import { serviceUnavailable, WireError } from "#http"
import { Configuration } from "#configuration"
import { Drain, Metrics } from "#runtime"
import { liveConnections } from "../metrics.ts"

export interface LiveMember {
  readonly tokenId: string
  /** Speaks its remaining text, then closes. */
  readonly windDown: Effect.Effect<void>
}

// Below the listener's own drain, which would cut it.
const windDownWithin = "20 seconds"
// Another process takes it by then.
const retryAfterSeconds = 1

export class LiveConnections extends Context.Service<
  LiveConnections,
  {
    /** Refuses before the handshake. */
    readonly check: (tokenId: string) => Effect.Effect<void, WireError>
    /** Takes a slot until the scope closes. */
    readonly enter: (member: LiveMember) => Effect.Effect<void, WireError, Scope.Scope>
    readonly isDraining: () => boolean
  }
>()("starling/speech-api/LiveConnections") {
  static readonly layer = Layer.effect(
    LiveConnections,
    Effect.gen(function* () {
      const { SpeechApi } = yield* Configuration
      const gauge = (yield* Metrics).gauge(liveConnections)
      const members = new Set<LiveMember>()
      const windings = yield* FiberSet.make()
      let isDraining = false

      const check = (tokenId: string) =>
        Effect.suspend(() => {
          if (isDraining) return Effect.fail(serviceUnavailable(retryAfterSeconds, "this process ends, try again"))
          if (members.size >= SpeechApi.LiveConnectionsMax) {
            return Effect.fail(serviceUnavailable(retryAfterSeconds, "too many live connections, try again"))
          }
          const own = [...members].filter((member) => member.tokenId === tokenId).length
          return own < SpeechApi.LiveConnectionsPerToken
            ? Effect.void
            : Effect.fail(tooManyOfToken(SpeechApi.LiveConnectionsPerToken))
        })
      const enter = (member: LiveMember) =>
        Effect.acquireRelease(
          Effect.andThen(
            check(member.tokenId),
            Effect.sync(() => gauge.set({}, members.add(member).size))
          ),
          () =>
            Effect.sync(() => {
              members.delete(member)
              gauge.set({}, members.size)
            })
        )
      const drain = Effect.gen(function* () {
        isDraining = true
        const before = members.size
        for (const { windDown } of members) yield* FiberSet.run(windings, windDown)
        yield* Effect.timeoutOption(FiberSet.awaitEmpty(windings), windDownWithin)
        return { finished: before - members.size, handedBack: members.size }
      })
      yield* (yield* Drain).register("live speech", drain)
      return LiveConnections.of({ check, enter, isDraining: () => isDraining })
    })
  )
}

const tooManyOfToken = (max: number) =>
  new WireError({
    status: 429,
    code: "concurrency_limit_reached",
    message: `the token has ${max} live connections, which is as many as it may have`,
    details: { connections_max: max },
    headers: { "retry-after": String(retryAfterSeconds) }
  })
