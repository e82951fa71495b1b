/** The board of payments and models: what callers notice, the money, and the external dependencies. */
import type { Board } from "./dashboards.ts"
import { panel, quantiles, rate } from "./panels.ts"

export const paymentsBoard: Board = {
  uid: "payments",
  title: "payments and models",
  rows: [
    {
      title: "What callers notice",
      panels: [
        panel(
          "Calls",
          "reqps",
          rate("gateway_requests_total", "route, status"),
          "{{route}} {{status}}",
          "402 is a quote, not a fault."
        ),
        panel(
          "First event of a stream, p99",
          "s",
          quantiles("gateway_first_byte_seconds", "route"),
          "{{route}}",
          "From the request to the first event."
        ),
        panel(
          "Verification, p99 by stage",
          "s",
          quantiles("payment_verification_seconds", "stage"),
          "{{stage}}",
          "check is ours, claim the bus, simulate the chain."
        ),
        panel(
          "Payments verified",
          "reqps",
          rate("payment_verifications_total", "network, outcome"),
          "{{network}} {{outcome}}",
          "Refused is the payer's fault, unavailable ours or the chain's."
        ),
        panel("Claims", "reqps", rate("x402_claims_total", "outcome"), "{{outcome}}", "Replays are refused here."),
        panel(
          "Tokens",
          "reqps",
          rate("gateway_tokens_total", "model, kind"),
          "{{model}} {{kind}}",
          "As providers counted them."
        )
      ]
    },
    {
      title: "Money",
      panels: [
        panel(
          "Settlements",
          "reqps",
          rate("payment_settlement_tries_total", "network, outcome"),
          "{{network}} {{outcome}}",
          "Uncollected is money lost."
        ),
        panel(
          "Asked to receipt, p99",
          "s",
          quantiles("payment_settlement_seconds", "network"),
          "{{network}}",
          "How long a served call stays unsettled."
        ),
        panel(
          "Keys held",
          "none",
          "sum by (network) (payment_settler_keys_held)",
          "{{network}}",
          "0: nobody settles on this network."
        ),
        panel(
          "Transferred less receipted",
          "none",
          "sum by (network) (payment_books_transferred_units_total) - sum by (network) (payment_books_receipted_units_total)",
          "{{network}}",
          "In the asset's smallest unit; 0 once both are read to their end."
        ),
        panel(
          "Findings of the reconciliation",
          "short",
          "sum by (network, finding) (increase(payment_book_findings_total[1h]))",
          "{{network}} {{finding}}",
          "Each wants to be looked at."
        ),
        panel(
          "Last reconciliation",
          "s",
          "time() - max by (network) (payment_books_read_timestamp_seconds)",
          "{{network}}",
          "How old the last whole reading is."
        )
      ]
    },
    {
      title: "Whom it depends on",
      panels: [
        panel(
          "Providers",
          "reqps",
          rate("gateway_upstream_calls_total", "provider, outcome"),
          "{{provider}} {{outcome}}",
          "By how calls ended."
        ),
        panel(
          "Providers' time, p99",
          "s",
          quantiles("gateway_upstream_seconds", "provider"),
          "{{provider}}",
          "To the whole answer, or a stream's first event."
        ),
        panel(
          "Breakers",
          "none",
          "max by (provider, model) (gateway_breaker_open)",
          "{{provider}} {{model}}",
          "1 while a model is left alone."
        ),
        panel(
          "Chain nodes",
          "reqps",
          rate("x402_rpc_calls_total", "network, outcome"),
          "{{network}} {{outcome}}",
          "Calls by how they ended."
        ),
        panel(
          "Chain nodes' time, p99",
          "s",
          quantiles("x402_rpc_seconds", "network, method"),
          "{{network}} {{method}}",
          "From a call to its answer."
        ),
        panel(
          "Facilitator",
          "reqps",
          rate("x402_facilitator_calls_total", "operation, outcome"),
          "{{operation}} {{outcome}}",
          "Where somebody else settles."
        )
      ]
    }
  ]
}
