/**
 * The memory that the bodies of all requests in the process can take together. A request whose announced length does
 * not fit is refused before its body is read; others take memory as their bodies arrive. A request keeps its share
 * until its answer is out, because it keeps the body's content that long.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import { acquireLightly, Metrics } from "#runtime"
import { bodyBytesHeld } from "../metrics.ts"

interface BodyRoomOptions {
  /** Names the API in metrics. */
  readonly api: string
  readonly bytesMax: number
}

/** The share of one request. */
export interface RoomLease {
  /** Whether a total of this many bytes fits at this moment. */
  readonly fits: (bytes: number) => boolean
  /** Grows the share to this total; false, and nothing is taken, if that is too much. */
  readonly growTo: (bytes: number) => boolean
}

/** Bodies of at most this many bytes take no share, so that a few large ones do not keep all others out. */
export const smallBodyBytes = 16_384

export class BodyRoom extends Context.Service<
  BodyRoom,
  {
    /** Freed with the scope; in a handler, that is the call's scope. */
    readonly held: Effect.Effect<RoomLease, never, Scope.Scope>
  }
>()("starling/http/BodyRoom") {
  static readonly layer = ({ api, bytesMax }: BodyRoomOptions) =>
    Layer.effect(
      BodyRoom,
      Effect.gen(function* () {
        const gauge = (yield* Metrics).gauge(bodyBytesHeld)
        let taken = 0
        const setTaken = (bytes: number) => gauge.set({ api }, (taken = bytes))
        setTaken(0)
        const hold = () => {
          let own = 0
          const fits = (bytes: number) => bytes <= smallBodyBytes || taken - own + bytes <= bytesMax
          return {
            fits,
            growTo: (bytes: number) => {
              if (bytes <= Math.max(own, smallBodyBytes)) return true
              if (!fits(bytes)) return false
              setTaken(taken - own + bytes)
              own = bytes
              return true
            },
            free: () => {
              if (own > 0) setTaken(taken - own)
              own = 0
            }
          }
        }
        return BodyRoom.of({
          held: acquireLightly(Effect.sync(hold), ({ free }) => Effect.sync(free))
        })
      })
    )
}
