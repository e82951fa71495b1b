/** What can be wrong with models and their providers. */
import type { ConditionGroup } from "#base"

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
      commands: ["./starling receipts sums --by model", "./starling doctor"],
      runbook: {
        means:
          "Within an hour a model's providers took more for its whole answers, by the costs that are configured, than callers were charged for them.",
        lookAt:
          "Revenue, cost and margin by model on the board of payments; `./starling receipts sums --by model`; the gateway's log at its start, and `./starling doctor`, for models whose longer answers cost more than `exact` charges.",
        act: "Offer `upto` before `exact`, or channels, which charge what was used; raise `Payments.OutputShare` or the model's price; or name a cheaper provider first. A cost that is wrong in the configuration makes this alert wrong."
      }
    },
    {
      name: "GatewayProviderFailing",
      severity: "warning",
      title: "{value:percent} of the calls to {provider} fail.",
      hurts: "Models that {provider} alone serves answer 502 or 503; the others go by their next provider.",
      seen: {
        kind: "share",
        part: { metric: "gateway_upstream_calls_total", where: { outcome: ["failed", "broken off"] } },
        whole: [{ metric: "gateway_upstream_calls_total" }],
        by: ["provider"],
        above: 0.2
      },
      after: "10m",
      causedBy: [],
      commands: ["./starling models list"],
      runbook: {
        means: "A provider fails one call in five. Models with a second provider are served by that one.",
        lookAt: "`gateway_upstream_calls_total` by outcome, the provider's status page.",
        act: "Put another provider first, or wait."
      }
    },
    {
      name: "GatewayBreakerOpen",
      severity: "warning",
      title: "{model} of {provider} keeps failing: its circuit is open.",
      hurts: "Without another provider {model} is not served.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "gateway_breaker_open" },
        by: ["provider", "model"],
        is: ["==", 1]
      },
      after: "15m",
      causedBy: ["GatewayProviderFailing"],
      commands: ["./starling models list"],
      runbook: {
        means:
          "A provider's model is skipped after repeated failures. Without another provider the model is not served.",
        lookAt: "As for GatewayProviderFailing. `./starling models`: how much of the day the model was there.",
        act: "Name a second provider for the model."
      }
    }
  ]
}
