/**
 * The log of operators' actions. An action is recorded before it is done: one that cannot be recorded does not happen,
 * and one that fails afterwards is in the log all the same.
 */
import { Context, Effect, Layer, Result } from "effect"
import { Publisher } from "#bus"
import { type AuditAction, type AuditEntry, type AuditRecord, subjects } from "#base"
import { auditCodec, Caller, HttpCall, jsonAnswer, routesOf, type WireError, writeAudit } from "#http"
import { AuditGroup } from "#console/api"
import { apiOptions, pageOf, placeOf, refusing } from "./http/requests.ts"

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
    /** For someone who becomes a caller only by this action. */
    readonly writeAs: (by: Actor, act: Act) => Effect.Effect<void, WireError, HttpCall>
  }
>()("starling/console/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const publisher = yield* Publisher

      const writeAs = Effect.fn("AuditLog.write")(function* (by: Actor, { action, target, reason }: Act) {
        const { requestId } = yield* HttpCall
        const written = writeAudit({ action, target, reason, by, requestId })
        yield* refusing(Effect.provideService(written, Publisher, publisher))
        yield* Effect.logInfo("an operator acted").pipe(Effect.annotateLogs({ action, target, by: by.tokenId }))
      })
      const write = (act: Act) => Effect.flatMap(Caller, (caller) => writeAs(caller, act))
      return AuditLog.of({ write, writeAs })
    })
  )
}

export const auditRoutes = routesOf(
  AuditGroup,
  {
    listAudit: ({ query }) =>
      Effect.gen(function* () {
        const asked = yield* query
        const subject = asked.action === undefined ? subjects.auditAll : subjects.audit(asked.action)
        const page = yield* pageOf("AUDIT", yield* placeOf(asked), {
          subject,
          view: (message) =>
            Result.getSuccess(
              Result.map(auditCodec.decode(message), (record): AuditEntry => ({
                sequence: message.sequence,
                ...record
              }))
            )
        })
        return jsonAnswer(page)
      })
  },
  apiOptions
)
