/**
 * The parts of a request's body as node hands them out, told to a callback. A stream of Effect's own does the same with
 * a scope, a pull and a watcher for each request, all of which outlived the collector's quick rounds: pauses of 10 ms
 * where there are 1 to 2. Whoever stops early lets the rest run past.
 */
import type { IncomingMessage } from "node:http"
import { Effect } from "effect"

/** Why no more is wanted; undefined to go on. */
export type OnPart<E> = (part: Uint8Array) => E | undefined

/** Ends with the body. `brokenOff`: what a body that does not come to its end fails with. */
export const eachPart = <E, B>(source: IncomingMessage, brokenOff: () => B, onPart: OnPart<E>) =>
  Effect.callback<void, E | B>((resume) => {
    if (source.readableEnded) return resume(Effect.void)
    if (source.destroyed) return resume(Effect.fail(brokenOff()))
    const onData = (part: Uint8Array) => {
      const refusal = onPart(part)
      if (refusal === undefined) return
      leave()
      source.resume()
      resume(Effect.fail(refusal))
    }
    const onEnd = () => {
      leave()
      resume(Effect.void)
    }
    const onBroken = () => {
      leave()
      resume(Effect.fail(brokenOff()))
    }
    const leave = () => {
      source.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken)
    }
    source.on("data", onData).once("end", onEnd).once("error", onBroken).once("close", onBroken)
    return Effect.sync(leave)
  })
