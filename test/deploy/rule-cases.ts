/** A case for every alert. */
import type { RuleCase } from "./rule-case.ts"
import { fleetCases } from "./rule-cases-fleet.ts"
import { paymentCases } from "./rule-cases-payment.ts"
import { pipelineCases } from "./rule-cases-pipeline.ts"
import { speechCases } from "./rule-cases-speech.ts"
import { webhookCases } from "./rule-cases-webhook.ts"

/** What an alert's summary shows as the value in its case, where the condition is a quantity. */
export const shownValues: Readonly<Record<string, string>> = {
  GatewayModelSoldAtLoss: "6",
  PaymentBooksDiffer: "1",
  PaymentBooksUnread: "1h 29m 59s",
  PaymentChainNodeOut: "15",
  PaymentChannelsDiffer: "2",
  PaymentChannelsUnwatched: "29m 59s",
  PaymentFacilitatorUnconfirmed: "5",
  PaymentNewcomersRefused: "1",
  PaymentSettlementsSlow: "39m 0s",
  PaymentSettlementsUncollected: "1",
  PipelineCommandsFailing: "5%",
  PipelineCommandsSlow: "985ms",
  PipelineSweepFailing: "10",
  PipelineViewsBehind: "2k",
  PipelineViewsFull: "3",
  SpeechConsentsUnverifiable: "1",
  SpeechEncodersFailing: "15",
  SpeechEngineThreadsDying: "15",
  SpeechFirstByteSlow: "990ms",
  SpeechRefusals: "10%",
  SpeechSequencersBusy: "10%",
  SpeechStreamsFailing: "5%",
  SpeechTakeovers: "45",
  SpeechUnderruns: "10%",
  StarlingBusFlapping: "15",
  StarlingConnectionsCut: "10",
  StarlingEgressRefused: "1",
  StarlingEventLoopLate: "400ms",
  StarlingHandlersDying: "1",
  StarlingMessagesRejected: "1",
  StarlingPublishFailing: "10%",
  StarlingRateLimitsBlind: "33.33m",
  StarlingRelayBehind: "39m 0s",
  StarlingRelayStuck: "39m 0s",
  StarlingServerErrors: "5%",
  StarlingStoreFilling: "90%",
  StarlingStreamCopiesBehind: "1",
  StarlingStreamsUnusable: "2",
  StarlingTopologyDiffers: "2",
  StarlingTracesDropped: "33.33m",
  WebhookAttemptLogLossy: "7",
  WebhookBacklogGrowing: "100k",
  WebhookDeliveriesAbandoned: "1",
  WebhookDispatchSlow: "4.92s",
  WebhookEndpointFailing: "80%",
  WebhookEndpointLate: "6m 40s",
  WebhookEventsMissed: "7",
  WebhookParkedLong: "9"
}

export const ruleCases: ReadonlyArray<RuleCase> = [
  ...fleetCases,
  ...webhookCases,
  ...paymentCases,
  ...speechCases,
  ...pipelineCases
]
