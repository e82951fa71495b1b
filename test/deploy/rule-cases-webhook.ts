/** When the webhooks' alerts fire, and when they stay silent. */
import { bornAt, ruleCase, rising, type RuleCase } from "./rule-case.ts"

export const webhookCases: ReadonlyArray<RuleCase> = [
  ruleCase(
    "WebhookBacklogGrowing",
    "40m",
    { 'webhook_backlog{endpoint="a"}': "60000+1000x60" },
    {},
    { 'webhook_backlog{endpoint="a"}': "60000+1000x60", 'webhook_circuit_state{endpoint="a"}': "2x60" }
  ),
  ruleCase(
    "WebhookEndpointLate",
    "20m",
    { 'webhook_oldest_due_age_seconds{endpoint="a"}': "400x30", 'webhook_circuit_state{endpoint="a"}': "0x30" },
    { endpoint: "a" },
    { 'webhook_oldest_due_age_seconds{endpoint="a"}': "400x30", 'webhook_endpoint_paused{endpoint="a"}': "1x30" }
  ),
  ruleCase(
    "WebhookEndpointFailing",
    "40m",
    {
      ...rising('webhook_attempts_total{endpoint="a",status_class="5xx"}', 8),
      ...rising('webhook_attempts_total{endpoint="a",status_class="2xx"}', 2)
    },
    { endpoint: "a" },
    rising('webhook_attempts_total{endpoint="a",status_class="2xx"}', 2)
  ),
  ruleCase(
    "WebhookCircuitOpen",
    "30m",
    { 'webhook_circuit_state{endpoint="a"}': "2x60" },
    { endpoint: "a" },
    { 'webhook_circuit_state{endpoint="a"}': "0x60" }
  ),
  ruleCase(
    "WebhookEndpointPaused",
    "2h",
    { 'webhook_endpoint_paused{endpoint="a"}': "1x200" },
    { endpoint: "a" },
    { 'webhook_endpoint_paused{endpoint="a"}': "0x200" }
  ),
  ruleCase(
    "WebhookDeliveriesAbandoned",
    "30m",
    { 'webhook_abandoned_deliveries{endpoint="a"}': "1x60" },
    { endpoint: "a" },
    { 'webhook_abandoned_deliveries{endpoint="a"}': "0x60" }
  ),
  ruleCase(
    "WebhookEndpointUnusable",
    "30m",
    { 'webhook_endpoint_unusable{endpoint="a"}': "1x60" },
    { endpoint: "a" },
    { 'webhook_endpoint_unusable{endpoint="a"}': "0x60" }
  ),
  ruleCase(
    "WebhookParkedLong",
    "26h",
    { 'webhook_parked_events{endpoint="a"}': "9x1600" },
    { endpoint: "a" },
    { 'webhook_parked_events{endpoint="a"}': "9x600 0x1000" }
  ),
  ruleCase(
    "WebhookEventsMissed",
    "90m",
    { 'webhook_parked_expired_total{endpoint="a"}': bornAt(86, 7) },
    { endpoint: "a" },
    { 'webhook_parked_expired_total{endpoint="a"}': "0x120" }
  ),
  ruleCase(
    "WebhookAttemptLogLossy",
    "30m",
    { webhook_attempt_records_dropped_total: bornAt(26, 7) },
    {},
    { webhook_attempt_records_dropped_total: "0x120" }
  ),
  ruleCase(
    "WebhookDispatchSlow",
    "30m",
    {
      ...rising('webhook_dispatch_seconds_bucket{attempt="first",le="1"}', 50),
      ...rising('webhook_dispatch_seconds_bucket{attempt="first",le="5"}', 100),
      ...rising('webhook_dispatch_seconds_bucket{attempt="first",le="+Inf"}', 100)
    },
    { attempt: "first" },
    {
      ...rising('webhook_dispatch_seconds_bucket{attempt="first",le="1"}', 100),
      ...rising('webhook_dispatch_seconds_bucket{attempt="first",le="+Inf"}', 100)
    }
  )
]
