/**
 * The log of what operators did. An act is written down before it is done: one that cannot be written down does not
 * happen, and one that fails afterwards stands in the log all the same.
 */
import { Context, Effect, Layer } from "effect"
import { Publisher } from "#bus"
import type { AuditAction, AuditRecord } from "#contracts"
import { Caller, HttpCall, type WireError, writeAudit } from "#http"
import { Metrics } from "#runtime"
import { refusing } from "./http/requests.ts"
import { actsTotal } from "./metrics.ts"

export interface Act {
  readonly action: AuditAction
  readonly target: string
  readonly reason: string
}

interface Actor extends Omit<AuditRecord["by"], "person"> {
  readonly person?: string | undefined
}

/**
 * Each call brings its own facts.
 * @effect-expect-leaking HttpCall
 */
export class AuditLog extends Context.Service<
  AuditLog,
  {
    readonly write: (act: Act) => Effect.Effect<void, WireError, Caller | HttpCall>
    /** Of somebody who becomes a caller only by this act. */
    readonly writeAs: (by: Actor, act: Act) => Effect.Effect<void, WireError, HttpCall>
  }
>()("starling/console/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const publisher = yield* Publisher
      const acts = (yield* Metrics).counter(actsTotal)

      const writeAs = Effect.fn("AuditLog.write")(function* (by: Actor, { action, target, reason }: Act) {
        const { requestId } = yield* HttpCall
        const written = writeAudit({ action, target, reason, by, requestId })
        yield* refusing(Effect.provideService(written, Publisher, publisher))
        acts.inc({ action })
        yield* Effect.logInfo("an operator acted").pipe(Effect.annotateLogs({ action, target, by: by.tokenId }))
      })
      const write = (act: Act) => Effect.flatMap(Caller, (caller) => writeAs(caller, act))
      return AuditLog.of({ write, writeAs })
    })
  )
}
