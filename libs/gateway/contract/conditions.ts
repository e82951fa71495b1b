/** What can be wrong with models and their providers. */
import type { ConditionGroup } from "#base/condition"

export const gatewayConditions: ConditionGroup = {
  name: "starling-gateway",
  title: "Models",
  conditions: [
    {
      name: "GatewayModelSoldAtLoss",
      severity: "warning",
      title: "{model} cost {value} dollars more at its providers than it was sold for.",
      hurts: "The seller pays for the callers of {model}.",
      seen: {
        kind: "rise",
        series: { metric: "gateway_provider_cost_usd_total" },
        less: { metric: "gateway_charged_usd_total" },
        by: ["model"],
        within: "1h",
        above: 0
      },
      after: "10m",
      causedBy: [],
      commands: ["./starling receipts sums --by model"],
      runbook: {
        means:
          "Within an hour a model's providers took more for its whole answers, by the costs that are configured, than callers were charged for them.",
        lookAt:
          "Revenue, cost and margin by model on the board of payments; `./starling receipts sums --by model`; the gateway's log at its start, for models whose longer answers cost more than `exact` charges.",
        act: "Offer `upto` before `exact`, or channels, which charge what was used; raise `Payments.OutputShare` or the model's price; or name a cheaper provider first. A cost that is wrong in the configuration makes this alert wrong."
      }
    },
    {
      name: "GatewayPriceBelowCost",
      severity: "info",
      title: "A long answer of {model} costs more at {provider} than `exact` charges.",
      hurts: "The seller pays for callers who ask {model} for long answers.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "gateway_price_below_cost" },
        by: ["model", "provider"],
        is: ["==", 1]
      },
      after: "5m",
      causedBy: ["GatewayModelSoldAtLoss"],
      commands: ["./starling receipts sums --by model"],
      runbook: {
        means:
          "`exact` charges `Payments.OutputShare` of the longest answer, whatever the answer has. By the costs that are configured, a longer one costs more than that.",
        lookAt: "The gateway's log at its start: from which part of the longest answer on a call loses money.",
        act: "Offer `upto` before `exact`, or channels, which charge what was used; or raise `Payments.OutputShare` or the model's price. See [When the guess loses money](payments.md#when-the-guess-loses-money)."
      }
    },
    {
      name: "GatewayProviderFailing",
      severity: "warning",
      title: "{provider} does not answer calls: {reason}.",
      hurts: "Models that {provider} alone serves answer 502 or 503; the others go by their next provider.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "gateway_provider_failing" },
        by: ["provider", "reason"],
        is: ["==", 1]
      },
      after: "2m",
      causedBy: [],
      commands: ["./starling models list"],
      runbook: {
        means:
          "The newest call to a provider failed by its fault, or the check of every ten seconds did; models with a second provider are served by that one.",
        lookAt:
          "`./starling models list`: which models are away. The gateway's log for the provider, with its answer; the provider's status page.",
        act: "401: give the gateway a valid key (`KeyEnvVar`). 402: pay the provider's bill. 403: permissions of the key, or the region. 404: the model's name or `BaseUrl`. 429: its limit is reached; put another provider first. unreachable: DNS and network policy. not allowed: the settings of egress. 5xx, garbled, cut off, timeout: its status page, or another provider first. Only the last ones mend by waiting."
      }
    }
  ]
}
