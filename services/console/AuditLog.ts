/**
 * The log of what operators did. An act is written down before it is done: one that cannot be written down does not
 * happen, and one that fails afterwards stands in the log all the same.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { jsonCodec, Publisher } from "#bus"
import { type AuditAction, AuditRecord, isoTime, subjects } from "#contracts"
import { Caller, HttpCall, type WireError } from "#http"
import { Metrics } from "#runtime"
import { refusing } from "./http/requests.ts"
import { actsTotal } from "./metrics.ts"

export interface Act {
  readonly action: AuditAction
  readonly target: string
  readonly reason: string
}

export const auditCodec = jsonCodec(AuditRecord)

const targetCharactersMax = 1_000

export class AuditLog extends Context.Service<
  AuditLog,
  { readonly write: (act: Act) => Effect.Effect<void, WireError, Caller | HttpCall> }
>()("starling/console/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const publisher = yield* Publisher
      const acts = (yield* Metrics).counter(actsTotal)

      const write = Effect.fn("AuditLog.write")(function* ({ action, target, reason }: Act) {
        const { workspace, tokenId, role } = yield* Caller
        const { requestId } = yield* HttpCall
        const at = isoTime(yield* Clock.currentTimeMillis)
        const record: AuditRecord = {
          at,
          action,
          target: target.slice(0, targetCharactersMax),
          reason,
          by: { workspace, tokenId, role },
          requestId
        }
        yield* refusing(publisher.publish(subjects.audit(action), auditCodec, record))
        acts.inc({ action })
        yield* Effect.logInfo("an operator acted").pipe(Effect.annotateLogs({ action, target, by: tokenId }))
      })
      return AuditLog.of({ write })
    })
  )
}
