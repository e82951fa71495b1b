/** When the alerts of payments and of the gateway fire, and when they stay silent. */
import { bornAt, ruleCase, rising, type RuleCase } from "./rule-case.ts"

export const paymentCases: ReadonlyArray<RuleCase> = [
  ruleCase(
    "PaymentBooksDiffer",
    "90m",
    { 'payment_book_findings_standing{network="n",finding="TransferWithoutReceipt"}': "0x10 1x120" },
    { network: "n", finding: "TransferWithoutReceipt" },
    { 'payment_book_findings_standing{network="n",finding="TransferWithoutReceipt"}': "1x80 0x40" }
  ),
  ruleCase(
    "PaymentBooksUnread",
    "90m",
    { 'payment_books_read_timestamp_seconds{network="n"}': "1x120" },
    { network: "n" },
    { 'payment_books_read_timestamp_seconds{network="n"}': "0+60x120" }
  ),
  ruleCase(
    "PaymentChannelsDiffer",
    "30m",
    { 'payment_channel_differences{network="n"}': "0x10 2x60" },
    { network: "n" },
    { 'payment_channel_differences{network="n"}': "2x10 0x60" }
  ),
  ruleCase(
    "PaymentChannelsUnwatched",
    "30m",
    { 'payment_channels_watched_timestamp_seconds{network="n"}': "1x60" },
    { network: "n" },
    { 'payment_channels_watched_timestamp_seconds{network="n"}': "0+60x60" }
  ),
  ruleCase(
    "PaymentSettlementsUncollected",
    "90m",
    { 'payment_settlement_tries_total{network="n",outcome="uncollected"}': bornAt(86) },
    { network: "n" },
    rising('payment_settlement_tries_total{network="n",outcome="settled"}', 3)
  ),
  ruleCase(
    "PaymentSettlementsSlow",
    "40m",
    { payment_settlement_waiting_since_seconds: "60x60" },
    {},
    { payment_settlement_waiting_since_seconds: "0x60" }
  ),
  ruleCase(
    "PaymentSettlerWithoutKey",
    "5m",
    {
      'payment_settler_keys_held{network="n",pod="a"}': "0x20",
      'payment_settler_keys_held{network="n",pod="b"}': "0x20"
    },
    { network: "n" },
    {
      'payment_settler_keys_held{network="n",pod="a"}': "0x20",
      'payment_settler_keys_held{network="n",pod="b"}': "1x20"
    }
  ),
  ruleCase(
    "PaymentChainNodeOut",
    "40m",
    rising('x402_rpc_calls_total{network="n",method="m",outcome="unavailable"}', 1),
    { network: "n" },
    rising('x402_rpc_calls_total{network="n",method="m",outcome="answered"}', 60)
  ),
  ruleCase(
    "PaymentTokenMismatch",
    "10m",
    { 'x402_token_mismatch{network="n",pod="a"}': "0x30", 'x402_token_mismatch{network="n",pod="b"}': "1x30" },
    { network: "n" },
    { 'x402_token_mismatch{network="n",pod="a"}': "0x30", 'x402_token_mismatch{network="n",pod="b"}': "0x30" }
  ),
  ruleCase(
    "PaymentFacilitatorUnconfirmed",
    "20m",
    { 'x402_facilitator_unconfirmed_total{network="n"}': "0 0 1+1x60" },
    { network: "n" },
    // Many at one moment that the chain had a moment later.
    { 'x402_facilitator_unconfirmed_total{network="n"}': "0 0 0 0 0 0 0 0 0 40x60" }
  ),
  ruleCase(
    "PaymentNewcomersRefused",
    "20m",
    rising('x402_claims_total{outcome="newcomers"}', 60),
    {},
    rising('x402_claims_total{outcome="unpaid"}', 60)
  ),
  ruleCase(
    "GatewayPriceBelowCost",
    "30m",
    { 'gateway_price_below_cost{model="m",provider="p"}': "1x60" },
    { model: "m", provider: "p" },
    { 'gateway_price_below_cost{model="m",provider="p"}': "0x60" }
  ),
  ruleCase(
    "GatewayModelSoldAtLoss",
    "90m",
    {
      'gateway_charged_usd_total{model="m",outcome="settled"}': "0+0.1x120",
      'gateway_charged_usd_total{model="m",outcome="pending"}': "0+0.1x120",
      'gateway_provider_cost_usd_total{model="m",provider="p"}': "0+0.3x120"
    },
    { model: "m" },
    // Sold for more, or without a cost that is configured.
    {
      'gateway_charged_usd_total{model="m",outcome="settled"}': "0+0.4x120",
      'gateway_provider_cost_usd_total{model="m",provider="p"}': "0+0.3x120",
      'gateway_charged_usd_total{model="other",outcome="settled"}': "0x120"
    }
  ),
  ruleCase(
    "PaymentChainUnreachable",
    "20m",
    { 'x402_chain_unreachable{network="n"}': "1x60" },
    { network: "n" },
    { 'x402_chain_unreachable{network="n"}': "0x60" }
  ),
  ruleCase(
    "PaymentFacilitatorUnavailable",
    "20m",
    { 'x402_facilitator_unreachable{network="n"}': "1x60" },
    { network: "n" },
    { 'x402_facilitator_unreachable{network="n"}': "0x60" }
  ),
  ruleCase(
    "PaymentSignerFailing",
    "20m",
    { 'check_failing{check="signer",subject="Vault"}': "1x60" },
    { subject: "Vault" },
    { 'check_failing{check="signer",subject="Vault"}': "0x60" }
  ),
  ruleCase(
    "PaymentFeesLow",
    "20m",
    { 'check_failing{check="fees",subject="n"}': "1x60" },
    { subject: "n" },
    { 'check_failing{check="fees",subject="n"}': "0x60" }
  ),
  ruleCase(
    "GatewayProviderFailing",
    "20m",
    { 'gateway_provider_failing{provider="p",reason="401"}': "1x60" },
    { provider: "p", reason: "401" },
    { 'gateway_provider_failing{provider="p",reason="401"}': "0x60" }
  )
]
