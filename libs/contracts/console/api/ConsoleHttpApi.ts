/**
 * The operators' whole API: every route with its shapes, scope and refusals. Server, documents and clients follow it.
 */
import { Context } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { DescriptionGroup } from "../../http/declaration.ts"
import { ErrorEnvelope } from "../../http/refusals.ts"
import { AbandonedGroup } from "./endpoints/abandoned.ts"
import { AuditGroup } from "./endpoints/audit.ts"
import { DeliveriesGroup } from "./endpoints/deliveries.ts"
import { EndpointsGroup } from "./endpoints/endpoints.ts"
import { EventsGroup } from "./endpoints/events.ts"
import { BooksGroup, ClaimsGroup, ReceiptsGroup } from "./endpoints/money.ts"
import { RejectedGroup } from "./endpoints/rejected.ts"
import { FleetGroup } from "./fleet.ts"
import { SessionGroup } from "./session.ts"
import { SettingsGroup } from "./settings.ts"
import { SpeechGroup } from "./speech.ts"
import { StreamsGroup } from "./streams.ts"
import { TokensGroup } from "./tokens.ts"
import { TrialsGroup } from "./trials.ts"

export const ConsoleHttpApi = HttpApi.make("console")
  .add(EventsGroup, EndpointsGroup, DeliveriesGroup, AbandonedGroup, RejectedGroup, AuditGroup)
  .add(FleetGroup, StreamsGroup, TokensGroup, SettingsGroup)
  .add(ReceiptsGroup, ClaimsGroup, BooksGroup)
  .add(SpeechGroup, SessionGroup, TrialsGroup)
  .add(DescriptionGroup)
  .annotateMerge(
    OpenApi.annotations({
      title: "Starling console",
      version: "1.0.0",
      description: "The operators' API: what was sent, what was given up, what was refused, and what to do about it.",
      servers: [{ url: "/" }]
    })
  )
  .annotateMerge(Context.make(HttpApi.AdditionalSchemas, [ErrorEnvelope]))
