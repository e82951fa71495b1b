/** The board of payments and models: what callers notice, the money, and the external dependencies. */
import type { Board } from "./dashboards.ts"
import { column, panel, quantiles, rate, rise, stat, table } from "./panels.ts"

/** `by`: empty, or a label. */
const revenue = (by = "") => rise("gateway_charged_usd_total", by)
const cost = (by = "") => rise("gateway_provider_cost_usd_total", by)

export const paymentsBoard: Board = {
  uid: "payments",
  title: "payments and models",
  variables: [
    {
      label: "model",
      of: "gateway_tokens_total",
      narrows: [
        "gateway_charged_usd_total",
        "gateway_provider_cost_usd_total",
        "gateway_breaker_open",
        "gateway_price_below_cost"
      ]
    }
  ],
  rows: [
    {
      title: "Money",
      panels: [
        stat("Revenue", "currencyUSD", revenue(), "Prices of the calls that were answered within the time shown."),
        stat("Providers' cost", "currencyUSD", cost(), "Of the upstreams whose cost is configured."),
        stat(
          "Margin",
          "currencyUSD",
          `${revenue()} - ${cost()}`,
          "Revenue less cost; as whole as the costs are configured."
        ),
        stat("Margin", "percentunit", `1 - ${cost()} / ${revenue()}`, "Of the revenue."),
        stat(
          "Uncollected",
          "short",
          rise('payment_settlement_tries_total{outcome="uncollected"}'),
          "Calls that were served and could not be collected.",
          1
        ),
        stat(
          "Findings",
          "short",
          "sum(max by (network, finding) (payment_book_findings_standing))",
          "Of the reconciliation, which stand now.",
          1
        ),
        table("Models", "What each earned and cost within the time shown.", [
          column("revenue", "currencyUSD", revenue("model")),
          column("cost", "currencyUSD", cost("model")),
          column("margin", "currencyUSD", `${revenue("model")} - ${cost("model")}`),
          column("tokens asked", "short", rise('gateway_tokens_total{kind="input"}', "model")),
          column("tokens answered", "short", rise('gateway_tokens_total{kind="output"}', "model"))
        ]),
        panel(
          "Revenue",
          "currencyUSD",
          "sum by (model) (increase(gateway_charged_usd_total[1h]))",
          "{{model}}",
          "By the hour."
        ),
        panel(
          "Providers' cost",
          "currencyUSD",
          "sum by (provider, model) (increase(gateway_provider_cost_usd_total[1h]))",
          "{{provider}} {{model}}",
          "By the hour."
        ),
        panel(
          "Not on the chain when the answer ended",
          "percentunit",
          'sum by (model) (rate(gateway_charged_usd_total{outcome="pending"}[$__rate_interval])) / sum by (model) (rate(gateway_charged_usd_total[$__rate_interval]))',
          "{{model}}",
          "The settler goes on with these; what fails then is uncollected."
        )
      ]
    },
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
          "Calls by client",
          "reqps",
          rate("gateway_client_calls_total", "client, outcome"),
          "{{client}} {{outcome}}",
          "One agent alone that is refused may have a new release."
        ),
        panel(
          "Keys left out",
          "reqps",
          rate("gateway_keys_left_out_total", "key"),
          "{{key}}",
          "What callers sent and providers were not given."
        ),
        panel(
          "Refused requests",
          "reqps",
          rate("gateway_refusals_total", "code, key"),
          "{{code}} {{key}}",
          "Requests that their callers must change, by the key at fault."
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
          "Unpaid now",
          "currencyUSD",
          "max by (part) (x402_unpaid_usd)",
          "{{part}}",
          "Calls that are claimed and not settled; newcomers is what is bounded for all payers together."
        ),
        panel(
          "Lost",
          "currencyUSD",
          "sum(increase(x402_unpaid_lost_usd_total[1h]))",
          "in an hour",
          "Calls that nobody pays for any more."
        ),
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
      title: "Settlement",
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
          "Oldest payment to be settled",
          "s",
          "time() - max(payment_settlement_waiting_since_seconds > 0)",
          "waiting",
          "In SETTLEMENTS."
        ),
        panel(
          "Keys held",
          "none",
          "sum by (network) (payment_settler_keys_held)",
          "{{network}}",
          "0: nobody settles on this network."
        ),
        panel(
          "Signatures that failed",
          "short",
          'sum by (network, signer) (increase(payment_signatures_total{outcome="failed"}[1h]))',
          "{{network}} {{signer}}",
          "Payments wait for a key that cannot sign."
        ),
        panel(
          "Signature, p99",
          "s",
          quantiles("payment_signature_seconds", "signer"),
          "{{signer}}",
          "A remote signer is asked over the network."
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
          "Tokens that differ",
          "none",
          "max by (network) (x402_token_mismatch)",
          "{{network}}",
          "1: the chain's token is not the configured one, and nothing is sold there."
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
      title: "Channels",
      panels: [
        panel(
          "What they owe",
          "short",
          'max by (network, sum) (payment_channel_units{sum=~"unclaimed|lost"})',
          "{{network}} {{sum}}",
          "In the token's smallest unit; lost is what was charged and has left its channel."
        ),
        panel(
          "Channels that do not agree",
          "short",
          "max by (network) (payment_channel_differences)",
          "{{network}}",
          "With the chain, and cannot be explained."
        ),
        panel(
          "Last watched",
          "s",
          "time() - max by (network) (payment_channels_watched_timestamp_seconds)",
          "{{network}}",
          "How long ago the chain was watched for what payers do with their channels."
        ),
        panel(
          "Claims and sweeps",
          "short",
          "sum by (network, kind, outcome) (increase(payment_channel_transactions_total[1h]))",
          "{{network}} {{kind}} {{outcome}}",
          "Transactions in the last hour."
        ),
        panel(
          "Orders",
          "reqps",
          rate("payment_channel_orders_total", "network, order, outcome"),
          "{{network}} {{order}} {{outcome}}",
          "Deposits, refunds and looks at the chain, as gateways ordered them."
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
          "1 while a model's circuit is open."
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
          "Away",
          "none",
          "max by (network) (x402_chain_unreachable) or max by (network) (x402_facilitator_unreachable)",
          "{{network}}",
          "1 while no node of a chain, or its facilitator, answers."
        ),
        panel(
          "Providers that fail",
          "none",
          "max by (provider, reason) (gateway_provider_failing)",
          "{{provider}} {{reason}}",
          "1 while a provider fails, and how."
        ),
        panel(
          "Models priced below their cost",
          "none",
          "max by (provider, model) (gateway_price_below_cost)",
          "{{provider}} {{model}}",
          "Long answers cost more than exact charges."
        ),
        panel(
          "Chain nodes with an open circuit",
          "none",
          "max by (network) (x402_rpc_nodes_open)",
          "{{network}}",
          "After calls without an answer."
        ),
        panel(
          "Settlements that the chain lacks",
          "short",
          "sum by (network) (increase(x402_facilitator_unconfirmed_total[1h]))",
          "{{network}}",
          "Reported by the facilitator, in the last hour."
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
