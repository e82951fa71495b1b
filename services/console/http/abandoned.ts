/** Abandoned deliveries over HTTP. */
import { Effect, Option } from "effect"
import { type SourceMessage, StreamReader } from "#bus"
import { endpointIdOf } from "#webhooks/contract"
import { isoTime, subjects } from "#base"
import { AbandonedGroup, type AbandonedSummary, type AbandonedDetails, resendCountMax } from "#console/api"
import { Caller, conflict, emptyAnswer, jsonAnswer, notFound, routesOf, validationFailed } from "#http"
import {
  type AbandonedDelivery,
  countAbandoned,
  isBodyLeftOut,
  lastAbandoned,
  readAbandoned,
  redrive,
  sendAgain
} from "#webhooks"
import { AuditLog } from "../AuditLog.ts"
import { endpointIds, notSent, refuseUnknown } from "./endpoints.ts"
import { apiOptions, messageOf, once, pageOf, placeOf, refusing, timesOf } from "./requests.ts"

const summaryOf = ({ sequence, storedAtMs, due: { delivery }, abandonment }: AbandonedDelivery): AbandonedSummary => {
  const why = Option.getOrNull(abandonment)
  return {
    sequence,
    deliveryId: delivery.deliveryId,
    // Without the reason's header only the id derived from the name is left.
    endpoint: why?.endpoint ?? delivery.endpointId,
    event: delivery.event,
    eventSequence: delivery.sequence,
    reason: why?.reason ?? null,
    attempts: why?.attempts ?? null,
    lastStatus: why?.lastStatus ?? null,
    lastError: why?.lastError ?? null,
    abandonedAt: why?.abandonedAt ?? isoTime(storedAtMs)
  }
}

const what = "abandoned delivery"

const found = Effect.gen(function* () {
  const abandoned = readAbandoned(yield* messageOf("ABANDONED", what))
  if (Option.isNone(abandoned)) return yield* notFound(`this ${what} cannot be read`)
  return abandoned.value
})

const targetOf = ({ sequence, due: { delivery } }: AbandonedDelivery) => `${sequence} ${delivery.deliveryId}`

interface Asked {
  readonly endpoint?: string
  readonly events?: ReadonlyArray<string>
  readonly since?: string
  readonly until?: string
  readonly max?: number
}

/** What a filter selects, limited to existing endpoints. */
const queryOf = Effect.fnUntraced(function* ({
  endpoint,
  events = [],
  max: countMax = resendCountMax,
  ...times
}: Asked) {
  const bounds = yield* timesOf(times)
  if (endpoint !== undefined) {
    yield* refuseUnknown(endpoint, () => validationFailed({ endpoint: "there is no such endpoint" }))
  }
  return { endpoint, events, countMax, endpointIds: yield* endpointIds, ...bounds }
})

export const abandonedRoutes = routesOf(
  AbandonedGroup,
  {
    listAbandoned: ({ query }) =>
      Effect.gen(function* () {
        const asked = yield* query
        const subject =
          asked.endpoint === undefined ? subjects.abandonedAll : subjects.abandoned(endpointIdOf(asked.endpoint))
        const view = (message: SourceMessage) => Option.map(readAbandoned(message), summaryOf)
        return jsonAnswer(yield* pageOf("ABANDONED", yield* placeOf(asked), { subject, view }))
      }),

    getAbandoned: () =>
      Effect.gen(function* () {
        const abandoned = yield* found
        const { may } = yield* Caller
        const whole: AbandonedDetails = {
          ...summaryOf(abandoned),
          redriveOf: abandoned.due.delivery.redriveOf ?? null,
          body:
            may("payloads:read") && !isBodyLeftOut(abandoned) ? Buffer.from(abandoned.due.body).toString("utf8") : null
        }
        return jsonAnswer(whole)
      }),

    resendAllAbandoned: ({ body }) =>
      Effect.gen(function* () {
        const { reason, dryRun = false, ...asked } = yield* body
        if (dryRun) return jsonAnswer({ count: yield* refusing(countAbandoned(yield* queryOf(asked))), dryRun })
        return yield* once(asked, ({ key, upTo }) =>
          Effect.gen(function* () {
            const query = yield* queryOf(asked)
            const through = key === undefined ? undefined : yield* upTo(refusing(lastAbandoned(query)))
            yield* (yield* AuditLog).write({ action: "abandoned-resend", target: JSON.stringify(asked), reason })
            return jsonAnswer({ count: yield* redrive({ ...query, through }), dryRun })
          })
        )
      }),

    resendAbandoned: ({ body }) =>
      Effect.gen(function* () {
        const { reason } = yield* body
        return yield* once(null, () =>
          Effect.gen(function* () {
            const abandoned = yield* found
            if (!(yield* endpointIds).has(abandoned.due.delivery.endpointId)) {
              return yield* conflict("its endpoint was removed: create one of that name, or discard the delivery")
            }
            yield* (yield* AuditLog).write({ action: "abandoned-resend", target: targetOf(abandoned), reason })
            const sent = yield* sendAgain(abandoned)
            return sent._tag === "Stored" ? jsonAnswer({ deliveryId: sent.deliveryId }) : yield* notSent(sent)
          })
        )
      }),

    discardAbandoned: ({ body }) =>
      Effect.gen(function* () {
        const { reason } = yield* body
        const abandoned = yield* found
        yield* (yield* AuditLog).write({ action: "abandoned-discard", target: targetOf(abandoned), reason })
        yield* refusing((yield* StreamReader).remove("ABANDONED", abandoned.sequence))
        return emptyAnswer()
      })
  },
  apiOptions
)
