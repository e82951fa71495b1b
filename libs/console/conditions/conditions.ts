/** The conditions of all products, in the order of their runbooks. */
import type { Condition, ConditionGroup } from "#base/condition"
import { gatewayConditions } from "#gateway/conditions"
import { paymentConditions } from "#payments/conditions"
import { pipelineConditions } from "#pipeline/conditions"
import { speechConditions } from "#speech/conditions"
import { webhookConditions } from "#webhooks/conditions"
import { fleetConditions } from "./fleet.ts"

export const conditionGroups: ReadonlyArray<ConditionGroup> = [
  fleetConditions,
  webhookConditions,
  paymentConditions,
  gatewayConditions,
  speechConditions,
  pipelineConditions
]

export const conditions: ReadonlyArray<Condition> = conditionGroups.flatMap((group) => group.conditions)
