/** A stream stays open for hours; it ends with the token that opened it, as a call would be refused. */
import { Effect, Stream } from "effect"
import { Auth, type HttpCall } from "#http"

// A token that was found counts for four seconds: within five the stream has ended.
const askedEvery = "1 second"

export const whileSignedIn = <A, E, R>(stream: Stream.Stream<A, E, R>): Stream.Stream<A, E, R | Auth | HttpCall> =>
  Stream.unwrap(
    Effect.map(Auth, ({ identify }) => {
      // A broker that is away proves nothing against the caller.
      const isRefused = identify.pipe(
        Effect.as(false),
        Effect.catch(({ status }) => Effect.succeed(status === 401)),
        Effect.delay(askedEvery)
      )
      return Stream.interruptWhen(stream, Effect.repeat(isRefused, { until: (isOver) => isOver }))
    })
  )
