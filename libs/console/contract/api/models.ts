/** Models as operators see them: what is sold, and how its calls ended. */
import { Schema } from "effect"
import { modelKinds } from "#gateway/contract"
import { guarded } from "#base/http"
import { read } from "./parts.ts"
import { Count, describe, pageQuery, pageSizeMax, Timestamp } from "#base"

const Micro = Schema.NullOr(Count)

const outcomes = {
  answered: Count,
  failed: Count.pipe(describe("By the provider's fault: it failed, was silent for too long, or broke off.")),
  leftAlone: Count.pipe(describe("Not asked, because the provider had failed too often just before.")),
  limited: Count.pipe(
    describe("Refused because our own limit at the provider was used up. It is no part of the uptime.")
  )
}

const totals = {
  uptime: Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))).pipe(
    describe("The share of the calls that were answered; null without any.")
  ),
  calls: Count.pipe(
    describe("Those answered, failed and left alone. What callers got wrong, and callers that left, are none of them.")
  ),
  ...outcomes
}

const CallTotals = Schema.Struct(totals).annotate({ identifier: "CallTotals" })

export const CallHistory = Schema.Struct({
  ...totals,
  from: Timestamp,
  spanSeconds: Count.pipe(describe("How long one of the series is.")),
  series: Schema.Array(Schema.Struct({ at: Timestamp, ...outcomes }).annotate({ identifier: "CallSpan" })).pipe(
    describe("Oldest first; spans without any call are left out.")
  )
}).annotate({ identifier: "CallHistory" })
export interface CallHistory extends Schema.Schema.Type<typeof CallHistory> {}

export const ModelView = Schema.Struct({
  model: Schema.String,
  kind: Schema.Literals(modelKinds),
  isFree: Schema.Boolean,
  inputMicroUsdPerMillionTokens: Micro.pipe(
    describe("The price of what is asked; null where each call has one price.")
  ),
  outputMicroUsdPerMillionTokens: Micro.pipe(describe("The price of what is answered.")),
  flatMicroUsd: Micro.pipe(describe("The price of each call or image; null where tokens are paid for.")),
  contextTokens: Count,
  outputTokensMax: Count,
  lastDay: CallHistory.pipe(describe("The last 24 hours, by quarters of an hour.")),
  lastMonth: CallHistory.pipe(describe("The last thirty days, by days that end with the present hour.")),
  providers: Schema.Array(
    Schema.Struct({ provider: Schema.String, lastDay: CallTotals, lastMonth: CallTotals }).annotate({
      identifier: "ModelProvider"
    })
  ).pipe(
    describe(
      "The attempts at each provider; a call that its second one answered failed at its first. Empty without any."
    )
  )
}).annotate({ identifier: "ModelView" })
export interface ModelView extends Schema.Schema.Type<typeof ModelView> {}

const ModelPage = Schema.Struct({
  items: Schema.Array(ModelView).check(Schema.isMaxLength(pageSizeMax)).pipe(describe("By name.")),
  nextCursor: Schema.NullOr(Schema.String).pipe(describe("For `cursor`; null on the last page."))
}).annotate({ identifier: "ModelPage" })

export const ModelsGroup = guarded(
  "models",
  read("listModels", "/models", {
    query: pageQuery,
    success: ModelPage,
    summary: "List models with their uptime",
    description:
      "The models of the configuration, paid and free alike, with prices, and how their calls ended over 24 hours and over thirty " +
      "days. Each process of the gateway writes its counts once a minute (`UptimeWriteSeconds`)."
  })
)
