/** What can be wrong with the delivery of webhooks. */
import type { ConditionGroup, Level } from "#base/condition"

/** An endpoint whose deliveries wait on purpose. */
const leftAlone: Level["unless"] = [
  { series: { metric: "webhook_circuit_state" }, by: ["endpoint"], is: [">", 0] },
  { series: { metric: "webhook_endpoint_paused" }, by: ["endpoint"], is: ["==", 1] }
]

export const webhookConditions: ConditionGroup = {
  name: "starling-webhooks",
  title: "Webhooks",
  conditions: [
    {
      name: "WebhookBacklogGrowing",
      severity: "critical",
      title: "Healthy endpoints have {value} deliveries queued, and the queue is growing.",
      hurts: "Webhooks to endpoints that answer are late.",
      seen: {
        kind: "level",
        of: "sum",
        series: { metric: "webhook_backlog" },
        per: ["endpoint"],
        by: [],
        is: [">", 50_000],
        grows: true,
        unless: leftAlone
      },
      after: "10m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable", "StarlingEventLoopLate", "StarlingPodDown"],
      commands: ["./starling top"],
      runbook: {
        means:
          "Deliveries to endpoints that answer arrive faster than they leave. The autoscaler has not caught up, or has reached its maximum.",
        lookAt:
          "`./starling top`: the backlogs. Pods, and whether they are ready; the receivers' response times; `webhook_in_flight` against the endpoints' `Concurrency`.",
        act: "For slow receivers, raise the `Concurrency` of those that can take it: `./starling endpoints edit <name> --set Concurrency=64`. If the autoscaler is at its maximum, raise it. Otherwise see StarlingEventLoopLate."
      }
    },
    {
      name: "WebhookEndpointLate",
      severity: "warning",
      title: "{endpoint} is {value:duration} behind, although it answers.",
      hurts: "This endpoint gets its webhooks minutes late. No other is affected.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "webhook_oldest_due_age_seconds" },
        by: ["endpoint"],
        is: [">", 300],
        unless: leftAlone
      },
      after: "5m",
      causedBy: ["WebhookBacklogGrowing", "StarlingBusDisconnected", "StarlingStreamsUnusable"],
      commands: ["./starling endpoints show {endpoint}", "./starling endpoints edit {endpoint} --set Concurrency=64"],
      runbook: {
        means: "An endpoint that answers has deliveries that have been due for five minutes.",
        lookAt:
          "`./starling endpoints show <name>`: what is in flight, and since when the oldest delivery is due. Its response times (`webhook_receiver_seconds`) and its `Concurrency`: `Concurrency` divided by the response time is its highest rate.",
        act: "Raise `Concurrency` (`./starling endpoints edit <name> --set Concurrency=64`), or talk to its owner."
      }
    },
    {
      name: "WebhookEndpointFailing",
      severity: "info",
      title: "{value:percent} of the attempts to reach {endpoint} fail.",
      hurts: "This endpoint gets its webhooks late. No other is affected.",
      seen: {
        kind: "share",
        part: { metric: "webhook_attempts_total", where: { status_class: { not: "2xx" } } },
        whole: [{ metric: "webhook_attempts_total" }],
        by: ["endpoint"],
        above: 0.5
      },
      after: "15m",
      causedBy: ["WebhookCircuitOpen"],
      commands: [
        "./starling deliveries list --endpoint {endpoint} --outcome failed",
        "./starling endpoints test {endpoint}"
      ],
      runbook: {
        means:
          "More than half of the attempts to reach an endpoint fail. Its deliveries are retried; other endpoints are unaffected.",
        lookAt:
          "`./starling deliveries list --endpoint <name> --outcome failed`: its answers. `./starling deliveries show <id>`: one with request and answer. `webhook_attempts_total` by status class.",
        act: "Tell its owner. 401 or 403: the secret was changed on one side only; give it the new one from `./starling endpoints rotate <name>`. Then `./starling endpoints test <name>`."
      }
    },
    {
      name: "WebhookCircuitOpen",
      severity: "info",
      title: "{endpoint} accepts nothing: its circuit is open.",
      hurts: "This endpoint gets no webhooks until it answers again. They wait; no other endpoint is affected.",
      seen: { kind: "level", of: "most", series: { metric: "webhook_circuit_state" }, by: ["endpoint"], is: [">", 0] },
      after: "15m",
      causedBy: [],
      commands: [
        "./starling deliveries list --endpoint {endpoint} --outcome failed",
        "./starling endpoints test {endpoint}",
        "./starling endpoints resume {endpoint}"
      ],
      runbook: {
        means:
          "An endpoint has accepted nothing for a quarter of an hour, and is only probed. Its deliveries wait and use up no attempts.",
        lookAt: "The answers to the probes: `./starling deliveries list --endpoint <name> --outcome failed`.",
        act: "Tell its owner. Deliveries resume by themselves, or at once with `./starling endpoints resume <name>`. If the endpoint will not come back, remove it from the configuration, or with `./starling endpoints remove <name>`."
      }
    },
    {
      name: "WebhookEndpointUnusable",
      severity: "warning",
      title: "The settings of {endpoint} are invalid.",
      hurts: "This endpoint gets no webhooks until its settings are corrected. They are kept.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "webhook_endpoint_unusable" },
        by: ["endpoint"],
        is: ["==", 1]
      },
      after: "5m",
      causedBy: [],
      commands: ["./starling endpoints show {endpoint}", "./starling endpoints rotate {endpoint}"],
      runbook: {
        means:
          "An endpoint that was created at run time has settings that this release refuses, or secrets that none of the fleet's keys can decrypt.",
        lookAt: "`./starling endpoints show <name>`: each fault with its path.",
        act: "Correct the setting with `./starling endpoints edit <name> --set ...`. Secrets that cannot be decrypted: give the fleet its previous key again, or make new secrets with `./starling endpoints rotate <name>`."
      }
    },
    {
      name: "WebhookEndpointPaused",
      severity: "info",
      title: "{endpoint} is paused, by an operator or because it answered 410.",
      hurts: "This endpoint gets no webhooks until it is resumed. They are kept.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "webhook_endpoint_paused" },
        by: ["endpoint"],
        is: ["==", 1]
      },
      after: "1h",
      causedBy: [],
      commands: ["./starling endpoints show {endpoint}", "./starling endpoints resume {endpoint}"],
      runbook: {
        means:
          "An endpoint is paused, by an operator or because it answered 410. Its events are kept for `ParkedMaxDays`.",
        lookAt: "`./starling endpoints list`: who paused it, and why.",
        act: "`./starling endpoints resume <name>`; the endpoint then gets the events that it missed."
      }
    },
    {
      name: "WebhookDeliveriesAbandoned",
      severity: "warning",
      title: "Abandoned deliveries to {endpoint}: {value}.",
      hurts: "This endpoint does not get these webhooks unless they are resent.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "webhook_abandoned_deliveries" },
        by: ["endpoint"],
        is: [">", 0]
      },
      after: "0m",
      causedBy: ["WebhookCircuitOpen", "WebhookEndpointFailing"],
      commands: [
        "./starling abandoned list --endpoint {endpoint}",
        "./starling endpoints test {endpoint}",
        "./starling abandoned resend --endpoint {endpoint}"
      ],
      runbook: {
        means:
          "Deliveries were abandoned after their last attempt. They stay in ABANDONED until they are resent or discarded, for thirty days at most.",
        lookAt:
          "`./starling abandoned list`: which, and why. `./starling abandoned show <number>`: one with its body. `./starling deliveries list --endpoint <name> --outcome failed`: the receiver's answers.",
        act: "Once the receiver has recovered: `./starling abandoned resend --endpoint <name>`, with `--dry-run` to count first. One that is not needed: `./starling abandoned discard <number>`."
      }
    },
    {
      name: "WebhookParkedLong",
      severity: "warning",
      title:
        "{endpoint} has been parked for long, with {value} events waiting; it loses those older than ParkedMaxDays.",
      hurts: "This endpoint gets its events late, and loses those older than ParkedMaxDays.",
      seen: { kind: "level", of: "most", series: { metric: "webhook_parked_events" }, by: ["endpoint"], is: [">", 0] },
      after: "1d",
      causedBy: ["WebhookEndpointPaused", "WebhookCircuitOpen"],
      commands: [
        "./starling endpoints show {endpoint}",
        "./starling endpoints resume {endpoint}",
        "./starling endpoints edit {endpoint} --set Concurrency=64 --set BacklogMax=200000"
      ],
      runbook: {
        means: "An endpoint has been parked for a day. It loses events older than `ParkedMaxDays` for good.",
        lookAt:
          "`./starling endpoints show <name>`: whether it is paused or past its `BacklogMax`, and the first event that waits.",
        act: "`./starling endpoints resume <name>`, or raise `Concurrency` and `BacklogMax`. Or decide that it may miss events, and remove it."
      }
    },
    {
      name: "WebhookEventsMissed",
      severity: "critical",
      title: "{endpoint} was parked for too long and lost {value} events.",
      hurts: "This endpoint never gets these events.",
      seen: {
        kind: "rise",
        series: { metric: "webhook_parked_expired_total" },
        by: ["endpoint"],
        within: "1h",
        above: 0
      },
      after: "0m",
      causedBy: [],
      commands: ["./starling endpoints show {endpoint}", "./starling endpoints resume {endpoint}"],
      runbook: {
        means: "A parked endpoint did not get events that had become too old. This is the only way to miss events.",
        lookAt:
          "`./starling endpoints show <name>`: the first event that waits. Since when it was parked; `webhook_parked_expired_total`.",
        act: "Tell its owner which days are missing. `./starling events list --since <time>` lists the events that are still kept."
      }
    },
    {
      name: "WebhookAttemptLogLossy",
      severity: "warning",
      title: "{value} attempts are missing from the delivery log.",
      hurts: "No receiver. Operators do not see these attempts.",
      seen: {
        kind: "rise",
        series: { metric: "webhook_attempt_records_dropped_total" },
        by: [],
        within: "15m",
        above: 0
      },
      after: "0m",
      causedBy: [
        "StarlingPublishFailing",
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "StarlingStoreFilling",
        "StarlingStreamFilling"
      ],
      commands: ["./starling doctor"],
      runbook: {
        means: "Attempts were made, and delivered or retried as always, but were not written to the delivery log.",
        lookAt: "`./starling doctor`: whether the stream ATTEMPTS is full, or answers too late.",
        act: "Fix the broker. The deliveries themselves need nothing."
      }
    },
    {
      name: "WebhookDispatchSlow",
      severity: "warning",
      title: "One delivery in a hundred waits {value:duration} in the dispatcher for its {attempt} attempt.",
      hurts: "Webhooks leave late.",
      seen: { kind: "p99", histogram: "webhook_dispatch_seconds", by: ["attempt"], within: "5m", above: 2 },
      after: "10m",
      causedBy: [
        "StarlingPublishFailing",
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "StarlingEventLoopLate",
        "StarlingRelayStuck",
        "WebhookBacklogGrowing",
        "StarlingPodDown"
      ],
      commands: ["./starling top"],
      runbook: {
        means:
          "The dispatcher itself takes more than two seconds: from the stored event to the first attempt, or from when a retry was due. What an endpoint holds back does not count.",
        lookAt:
          "`./starling top`: latencies and backlogs. The relay `fan-out`, StarlingEventLoopLate, the broker's CPU. Which publisher floods it: `sum by (publisher) (rate(webhook_events_received_total[5m]))` names the broker's user.",
        act: "Add pods, or give the broker more CPU. Have a flooding publisher stopped; until then the fleet's own events overtake it, and only its own wait."
      }
    }
  ]
}
