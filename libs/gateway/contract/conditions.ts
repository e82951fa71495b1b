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
      hurts: "The seller pays for calls of {model}.",
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
          "Within an hour, a model's providers charged more for its complete answers, by the configured costs, than callers were charged for them.",
        lookAt:
          "Revenue, cost and margin by model on the payments board; `./starling receipts sums --by model`; the gateway's log at startup, for models whose longer answers cost more than `exact` charges.",
        act: "Offer `upto` before `exact`, or channels, which charge what was used; raise `Payments.OutputShare` or the model's price; or put a cheaper provider first. If a configured cost is wrong, so is this alert."
      }
    },
    {
      name: "GatewayPriceBelowCost",
      severity: "info",
      title: "A long answer of {model} costs more at {provider} than `exact` charges.",
      hurts: "The seller pays for callers who request long answers from {model}.",
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
          "`exact` charges `Payments.OutputShare` of the longest answer, however long the answer is. By the configured costs, a longer one costs more than that.",
        lookAt: "The gateway's log at startup: from which share of the longest answer a call loses money.",
        act: "Offer `upto` before `exact`, or channels, which charge what was used; or raise `Payments.OutputShare` or the model's price. See [When the guess loses money](payments.md#when-the-guess-loses-money)."
      }
    },
    {
      name: "GatewayProviderFailing",
      severity: "warning",
      title: "{provider} fails calls: {reason}.",
      hurts: "Models that only {provider} serves answer 502 or 503. Others use their next provider.",
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
          "The latest call to a provider failed by its own fault, or the check every ten seconds did. Models with a second provider are served by that one.",
        lookAt:
          "`./starling models list`: which models are down. The gateway's log for the provider, with its answer; the provider's status page.",
        act: "401: give the gateway a valid key (`KeyEnvVar`). 402: pay the provider's bill. 403: the key's permissions, or the region. 404: the model's name or `BaseUrl`. 429: its limit is reached; put another provider first. unreachable: DNS and network policy. not allowed: the egress settings. 5xx, garbled, cut off, timeout: its status page, or another provider first. Only the last group recovers by waiting."
      }
    }
  ]
}
