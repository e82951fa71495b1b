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

interface Actor extends Omit<AuditRecord["by"], "person"> {
  readonly person?: string | undefined
}

export const auditCodec = jsonCodec(AuditRecord)

const targetCharactersMax = 1_000

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
        const { workspace, tokenId, role, person } = by
        const { requestId } = yield* HttpCall
        const at = isoTime(yield* Clock.currentTimeMillis)
        const record: AuditRecord = {
          at,
          action,
          target: target.slice(0, targetCharactersMax),
          reason,
          by: { workspace, tokenId, role, ...(person === undefined ? {} : { person }) },
          requestId
        }
        yield* refusing(publisher.publish(subjects.audit(action), auditCodec, record))
        acts.inc({ action })
        yield* Effect.logInfo("an operator acted").pipe(Effect.annotateLogs({ action, target, by: tokenId }))
      })
      const write = (act: Act) => Effect.flatMap(Caller, (caller) => writeAs(caller, act))
      return AuditLog.of({ write, writeAs })
    })
  )
}
