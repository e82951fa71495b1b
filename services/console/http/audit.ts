/** The log of acts over HTTP. */
import { Effect, Result } from "effect"
import { type AuditEntry, subjects } from "#contracts"
import { AuditGroup } from "#contracts/console"
import { auditCodec, jsonAnswer, routesOf } from "#http"
import { apiOptions, pageOf, placeOf } from "./requests.ts"

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
