/** Retries while the broker is briefly unavailable, which must cost no answer, and no payer its payment. */
import { Effect } from "effect"

const isUnavailable = ({ _tag }: { readonly _tag: string }) => _tag === "BusUnavailable"

/** For writes that are idempotent. A schedule is started only when a try has failed. */
export const patiently = <A, E extends { readonly _tag: string }>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.catch(work, (error) =>
    isUnavailable(error)
      ? Effect.retry(Effect.delay(work, "200 millis"), { times: 9, while: isUnavailable })
      : Effect.fail(error)
  )
