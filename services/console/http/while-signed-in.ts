/** A stream stays open for hours; it ends with the token that opened it, as a call would be refused. */
import { Effect, Stream } from "effect"
import { Auth, type HttpCall } from "#http"

// A token that was found counts for four seconds: within five the stream has ended.
const askedEvery = "1 second"

/** `onOver`: what comes at the end of the session; without it the stream is whole. */
export const whileSignedIn = <A, E, R, E2 = never>(
  stream: Stream.Stream<A, E, R>,
  onOver: Effect.Effect<void, E2> = Effect.void
): Stream.Stream<A, E | E2, R | Auth | HttpCall> =>
  Stream.unwrap(
    Effect.map(Auth, ({ identify }) => {
      // A broker that is away proves nothing against the caller.
      const isRefused = identify.pipe(
        Effect.as(false),
        Effect.catch(({ status }) => Effect.succeed(status === 401)),
        Effect.delay(askedEvery)
      )
      const isOver = Effect.repeat(isRefused, { until: (is) => is })
      return Stream.interruptWhen(stream, Effect.andThen(isOver, onOver))
    })
  )
