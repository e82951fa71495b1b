/** A case for every alert. */
import type { RuleCase } from "./rule-case.ts"
import { fleetCases } from "./rule-cases-fleet.ts"
import { paymentCases } from "./rule-cases-payment.ts"
import { pipelineCases } from "./rule-cases-pipeline.ts"
import { speechCases } from "./rule-cases-speech.ts"
import { webhookCases } from "./rule-cases-webhook.ts"

export const ruleCases: ReadonlyArray<RuleCase> = [
  ...fleetCases,
  ...webhookCases,
  ...paymentCases,
  ...speechCases,
  ...pipelineCases
]
