/** Alert rules of the gateway and its payments. */
import { risen } from "./risen.ts"
import type { RuleGroup } from "./rules.ts"

export const paymentRules: RuleGroup = {
  name: "starling-payments",
  recordings: [
    {
      record: "provider:gateway_upstream_failures:ratio_rate5m",
      expr: 'sum by (provider) (rate(gateway_upstream_calls_total{outcome=~"failed|broken off"}[5m])) / sum by (provider) (rate(gateway_upstream_calls_total[5m]))'
    },
    {
      record: "network:x402_rpc_unavailable:ratio_rate5m",
      expr: 'sum by (network) (rate(x402_rpc_calls_total{outcome="unavailable"}[5m])) / sum by (network) (rate(x402_rpc_calls_total[5m]))'
    },
    {
      record: "network:payment_settlement_seconds:p99_rate15m",
      expr: "histogram_quantile(0.99, sum by (network, le) (rate(payment_settlement_seconds_bucket[15m])))"
    }
  ],
  alerts: [
    {
      name: "PaymentBooksDiffer",
      expr: "max by (network, finding) (payment_book_findings_standing) > 0",
      after: "0m",
      severity: "critical",
      summary:
        "Chain, claims and receipts of {{ $labels.network }} differ: {{ $value | humanize }} findings {{ $labels.finding }} are open."
    },
    {
      name: "PaymentBooksUnread",
      expr: "time() - max by (network) (payment_books_read_timestamp_seconds) > 3600",
      after: "5m",
      severity: "warning",
      summary:
        "The chain and the receipts of {{ $labels.network }} were last compared to their end {{ $value | humanizeDuration }} ago."
    },
    {
      name: "PaymentChannelsDiffer",
      expr: "max by (network) (payment_channel_differences) > 0",
      after: "0m",
      severity: "critical",
      summary:
        "{{ $value | humanize }} faults of payment channels of {{ $labels.network }}: their records, their receipts and the chain do not agree."
    },
    {
      name: "PaymentChannelsUnwatched",
      expr: "time() - max by (network) (payment_channels_watched_timestamp_seconds) > 300",
      after: "1m",
      severity: "critical",
      summary:
        "The payment channels of {{ $labels.network }} have not been checked for {{ $value | humanizeDuration }}."
    },
    {
      name: "PaymentSettlementsUncollected",
      expr: `sum by (network) ${risen('payment_settlement_tries_total{outcome="uncollected"}', "1h")} > 0`,
      after: "0m",
      severity: "warning",
      summary:
        "{{ $value | humanize }} calls paid on {{ $labels.network }} were served within an hour but could not be collected."
    },
    {
      name: "PaymentSettlementsSlow",
      expr: "network:payment_settlement_seconds:p99_rate15m > 60",
      after: "15m",
      severity: "warning",
      summary: "Settling on {{ $labels.network }} takes {{ $value | humanizeDuration }} (p99)."
    },
    {
      name: "PaymentSettlerWithoutKey",
      expr: "sum by (network) (payment_settler_keys_held) == 0",
      after: "2m",
      severity: "critical",
      summary: "No settler holds a key of {{ $labels.network }}: its payments are not collected."
    },
    {
      name: "PaymentChainUnreachable",
      expr: "network:x402_rpc_unavailable:ratio_rate5m > 0.2",
      after: "5m",
      severity: "critical",
      summary: "{{ $value | humanizePercentage }} of the calls to the nodes of {{ $labels.network }} get no answer."
    },
    {
      name: "PaymentChainNodeOut",
      expr: "max by (network) (x402_rpc_nodes_open) > 0",
      after: "15m",
      severity: "warning",
      summary: "{{ $value | humanize }} of the nodes of {{ $labels.network }} do not answer: their circuits are open."
    },
    {
      name: "PaymentTokenMismatch",
      expr: "max by (network) (x402_token_mismatch) == 1",
      after: "1m",
      severity: "critical",
      summary: "The token of {{ $labels.network }} is not the configured one: nothing is sold there."
    },
    {
      name: "PaymentVerificationUnavailable",
      expr: 'sum by (network) (rate(payment_verifications_total{outcome="unavailable"}[5m])) > 0.1',
      after: "5m",
      severity: "critical",
      summary: "{{ $value | humanize }} payments a second on {{ $labels.network }} cannot be verified; callers get 503."
    },
    {
      name: "PaymentFacilitatorUnavailable",
      expr: 'sum by (operation) (rate(x402_facilitator_calls_total{outcome="unavailable"}[5m])) > 0.1',
      after: "5m",
      severity: "critical",
      summary:
        "The facilitator leaves {{ $value | humanize }} questions a second to {{ $labels.operation }} unanswered."
    },
    {
      name: "PaymentFacilitatorUnconfirmed",
      expr: "sum by (network) (increase(x402_facilitator_unconfirmed_total[5m])) > 0",
      after: "10m",
      severity: "warning",
      summary:
        "The facilitator reported {{ $value | humanize }} settlements on {{ $labels.network }} within five minutes that are not on the chain."
    },
    {
      name: "PaymentNewcomersRefused",
      expr: 'sum(rate(x402_claims_total{outcome="newcomers"}[5m])) > 0.1',
      after: "5m",
      severity: "warning",
      summary:
        "{{ $value | humanize }} payments a second from new payers are refused: new payers have reached their unpaid limit."
    },
    {
      name: "PaymentReplaysMany",
      expr: 'sum(rate(x402_claims_total{outcome="replay"}[5m])) > 10',
      after: "10m",
      severity: "info",
      summary: "{{ $value | humanize }} used payments a second are sent again; each is refused."
    },
    {
      name: "GatewayModelSoldAtLoss",
      // A model without a cost that is configured has no first part, and is not judged.
      expr: "sum by (model) (increase(gateway_provider_cost_usd_total[1h])) - sum by (model) (increase(gateway_charged_usd_total[1h])) > 0",
      after: "10m",
      severity: "warning",
      summary:
        "{{ $labels.model }} cost {{ $value | humanize }} dollars more at its providers within an hour than it was sold for."
    },
    {
      name: "PaymentSignerFailing",
      expr: 'sum by (network, signer) (increase(payment_signatures_total{outcome="failed"}[5m])) > 0',
      after: "5m",
      severity: "critical",
      summary:
        "Keys of {{ $labels.network }} ({{ $labels.signer }}) could not sign {{ $value | humanize }} times within five minutes."
    },
    {
      name: "GatewayProviderFailing",
      expr: "provider:gateway_upstream_failures:ratio_rate5m > 0.2",
      after: "10m",
      severity: "warning",
      summary: "{{ $value | humanizePercentage }} of the calls to {{ $labels.provider }} fail."
    },
    {
      name: "GatewayBreakerOpen",
      expr: "max by (provider, model) (gateway_breaker_open) == 1",
      after: "15m",
      severity: "warning",
      summary: "{{ $labels.model }} of {{ $labels.provider }} keeps failing: its circuit is open."
    }
  ]
}
