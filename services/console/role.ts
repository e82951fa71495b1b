/**
 * The complete role console: the bus's records for operators, over HTTP. It decides nothing of its own: a read is a
 * read of a stream, and an action is a message to the role concerned, recorded in AUDIT first.
 *
 * in: HTTP on Console.Port; metrics and health of every configured process; the streams ATTEMPTS, EVENTS, ABANDONED,
 * REJECTED, RECEIPTS and AUDIT, and the figures of all; KV `tokens`, `endpoints`, `webhook-endpoints`,
 * `webhook-dispatchers`, `authorizations`, `payment-books`, `payment-refunds`, `model-uptime`, `speech-figures`, `leases`,
 * `sign-in-codes`, `event-types`, `conditions`, `history`; the built page
 * out: the page's calls to the other APIs, with the caller's token; `deliveries.due.>` (tests and resends), `events.>`
 * (examples and resends), `audit.*`; orders to settlers on `payments.books` and `payments.refunds`; removals from
 * ABANDONED and REJECTED; KV `tokens`, `token-uses`, `endpoints`, `webhook-endpoints`, `event-types`, `sign-in-codes`,
 * `idempotency`, `conditions`, `history`, `leases`
 * state: the fleet's last day and month, which KV `history` has too; any number of processes serve side by side
 * when something fails: an action that cannot be recorded is not done; with the broker away every route is a 503 but the
 * view of the fleet, for callers whose token was found in the last ten minutes;
 * losing every process costs the fleet only its operators' view
 */
import { Effect, Layer, Option } from "effect"
import { Auth, descriptionRoutes, HttpListener, Idempotency, Tokens, TokenUses } from "#http"
import { Addresses } from "#runtime"
import { Configuration } from "#configuration"
import { EventTypeDeclarations, EventTypes } from "#events"
import { EndpointStates, WebhookEndpoints } from "#webhooks"
import { ClaimReader } from "#payments"
import { AuditLog, auditRoutes } from "./AuditLog.ts"
import { consoleChecks, topologyCheck } from "./checks.ts"
import { ConditionWatch } from "./ConditionWatch.ts"
import { FleetHistory } from "./FleetHistory.ts"
import { FleetWatch } from "./FleetWatch.ts"
import { keptFigures } from "./kept.ts"
import { abandonedRoutes } from "./http/abandoned.ts"
import { bookRoutes } from "./http/books.ts"
import { catalogueRoutes } from "./http/catalogue.ts"
import { claimRoutes, receiptRoutes, trialRoutes, Trials } from "./http/money.ts"
import { deliveryRoutes } from "./http/deliveries.ts"
import { endpointsRoutes } from "./http/endpoints.ts"
import { eventRoutes, liveStreams } from "./http/events.ts"
import { findRoutes } from "./http/find.ts"
import {
  conditionRoutes,
  fleetRoutes,
  historyRoutes,
  settingRoutes,
  speechRoutes,
  streamRoutes,
  StreamsSeen,
  timelineRoutes
} from "./http/fleet.ts"
import { modelRoutes } from "./http/models.ts"
import { PageFiles, pageRoutes } from "./page/PageFiles.ts"
import { ApiProxy, apiProxyRoutes } from "./http/ApiProxy.ts"
import { rejectedRoutes } from "./http/rejected.ts"
import { sessionRoutes, SignInCodes } from "./http/session.ts"
import { tokenRoutes } from "./http/tokens.ts"
import { Timeline } from "./Timeline.ts"
import { PageAccess } from "./page/PageAccess.ts"
import { ProxyPerson } from "./page/ProxyPerson.ts"
import { consoleDocuments } from "./documents.ts"

/** All routes of the API. None opts in to calls from pages of other origins. */
export const consoleRoutes = [
  ...eventRoutes,
  ...catalogueRoutes,
  ...deliveryRoutes,
  ...endpointsRoutes,
  ...abandonedRoutes,
  ...rejectedRoutes,
  ...receiptRoutes,
  ...claimRoutes,
  ...bookRoutes,
  ...modelRoutes,
  ...speechRoutes,
  ...auditRoutes,
  ...findRoutes,
  ...conditionRoutes,
  ...historyRoutes,
  ...timelineRoutes,
  ...fleetRoutes,
  ...streamRoutes,
  ...tokenRoutes,
  ...settingRoutes,
  ...trialRoutes,
  ...sessionRoutes,
  ...descriptionRoutes(consoleDocuments)
] as const

const routes = [...consoleRoutes, ...pageRoutes, ...apiProxyRoutes] as const

const listener = Layer.unwrap(
  Effect.map(Configuration, ({ Console }) =>
    HttpListener.layer({ name: "console", host: Console.Host, port: Console.Port, routes })
  )
)

const address = Layer.effectDiscard(
  Effect.gen(function* () {
    const { url } = yield* HttpListener
    yield* (yield* Addresses).add("console", url)
  })
)

// As long as an outage of the broker takes to be understood. What needs no broker is the view of the fleet: a read of a
// stream, and each act, which is recorded first, is refused without one.
const countsUnseenMs = 10 * 60_000

/** A page's call has its token in a cookie. */
const auth = Layer.unwrap(
  Effect.gen(function* () {
    const { cookie } = yield* PageAccess
    const { proven } = yield* ProxyPerson
    const otherToken = Effect.map(
      cookie,
      Option.map(({ token }) => token)
    )
    return Auth.layer({ otherToken, namedPerson: proven, countsUnseenMs })
  })
)

const parts = Layer.mergeAll(
  AuditLog.layer,
  ClaimReader.layer,
  EndpointStates.layer,
  Layer.unwrap(Effect.map(Configuration, ({ Events }) => EventTypeDeclarations.layer(Events))),
  Idempotency.layer(),
  Layer.unwrap(Effect.map(Configuration, ({ WebhookDelivery }) => WebhookEndpoints.layer(WebhookDelivery))).pipe(
    Layer.provideMerge(Layer.unwrap(Effect.map(Configuration, ({ Events }) => EventTypes.layer(Events))))
  ),
  liveStreams,
  ConditionWatch.layer.pipe(
    Layer.provideMerge(Timeline.layer),
    Layer.provideMerge(Layer.merge(FleetWatch.layer, FleetHistory.layer))
  ),
  StreamsSeen.layer,
  PageFiles.layer,
  ApiProxy.layer,
  SignInCodes.layer,
  Trials.layer,
  auth.pipe(Layer.provideMerge(Layer.mergeAll(Tokens.layer, TokenUses.layer, PageAccess.layer, ProxyPerson.layer)))
)

const beside = Layer.mergeAll(address, consoleChecks, topologyCheck, keptFigures)

/** The role with its listener exposed. Needs the bus and the runtime. */
export const consoleWith = beside.pipe(Layer.provideMerge(listener), Layer.provide(parts))

export const operatorConsole = beside.pipe(Layer.provide(listener), Layer.provide(parts))
