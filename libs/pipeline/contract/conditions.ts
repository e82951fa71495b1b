/** What can be wrong with decisions and the readers of their log. */
import type { ConditionGroup } from "#base/condition"

export const pipelineConditions: ConditionGroup = {
  name: "starling-pipeline",
  title: "Pipeline",
  conditions: [
    {
      name: "PipelineCommandsFailing",
      severity: "critical",
      title: "{value:percent} of the commands for {entity} fail.",
      hurts: "Calls that change {entity} answer 503 and have to be retried.",
      seen: {
        kind: "share",
        part: { metric: "actor_commands_total", where: { outcome: ["failed", "busy"] } },
        whole: [{ metric: "actor_commands_total" }],
        by: ["entity"],
        above: 0.02
      },
      after: "5m",
      causedBy: [
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "StarlingStoreFilling",
        "StarlingStreamFilling",
        "StarlingPublishFailing"
      ],
      commands: ["./starling doctor"],
      runbook: {
        means:
          "Commands for an entity cannot be decided: the broker does not store the record, or too many commands wait.",
        lookAt:
          "`./starling doctor`: whether LOG answers and has room. `actor_commands_total` by outcome; the leader of LOG.",
        act: "For `failed`, fix the broker. For `busy`, add replicas, or have fewer callers use one entity."
      }
    },
    {
      name: "PipelineCommandsSlow",
      severity: "warning",
      title: "One command in a hundred for {entity} takes more than {value:duration}.",
      hurts: "Calls that change {entity} are slow.",
      seen: { kind: "p99", histogram: "actor_command_seconds", by: ["entity"], within: "5m", above: 0.5 },
      after: "10m",
      causedBy: [
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "StarlingEventLoopLate",
        "PipelineCommandsFailing"
      ],
      commands: ["./starling top"],
      runbook: {
        means: "Decisions take more than half a second.",
        lookAt: "`./starling top`: the latencies. `actor_conflicts_total`, the broker's disk.",
        act: "A single busy entity can decide some hundred commands a second at most: spread the work."
      }
    },
    {
      name: "PipelineAgentBenched",
      severity: "warning",
      title: "The agent {agent} is benched: its credentials fail, or its runs end too fast.",
      hurts: "Work items for {agent} wait. Those that it failed need a retry.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "pipeline_agent_benched" },
        by: ["agent"],
        is: ["==", 1]
      },
      after: "5m",
      causedBy: [],
      commands: ["./starling tail"],
      runbook: {
        means:
          "An agent was refused by its provider, or ended `Agents.FastFailuresMax` runs within seconds. It gets no work until it is found fit.",
        lookAt:
          "`GET /agents` of pipeline-api: `bench` has the reason, such as `401 token expired`. `./starling tail`: the work items that it failed. The runner's log.",
        act: "Repair what the reason names: log the agent in on its runner, or correct its command. It is tried again by itself; `POST /agents/{id}/restore` does so at once, and retries the items that failed since."
      }
    },
    {
      name: "PipelineViewsBehind",
      severity: "warning",
      title: "Lists and watchdogs are {value} records behind.",
      hurts: "Lists are stale, and watchdogs act late.",
      seen: { kind: "level", of: "least", series: { metric: "actor_views_behind" }, by: [], is: [">", 1000] },
      after: "5m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable", "StarlingPodDown"],
      commands: ["./starling doctor"],
      runbook: {
        means: "Lists and watchdogs see an old state. Commands do not: they read the log.",
        lookAt: "`./starling doctor`: whether pipeline-api is ready. The projector in pipeline-api's log.",
        act: "Restart pipeline-api. The bucket `views` may be emptied: it is rebuilt from LOG."
      }
    },
    {
      name: "PipelineViewsFull",
      severity: "critical",
      title: "{role} does not see {value} unfinished entities, and does no work on them.",
      hurts: "No work is done on the items that are left out.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "actor_views_left_out", where: { which: "moving" } },
        by: ["role"],
        is: [">", 0]
      },
      after: "5m",
      causedBy: [],
      commands: ["./starling events list --event 'work_item.*'"],
      runbook: {
        means:
          "More than 250,000 items, releases, projects and agents are unfinished. The views of a process hold no more, and no work is done on the rest. Finished ones are dropped long before, and are only missing from lists.",
        lookAt:
          "`./starling events list --event 'work_item.*' --project <id>`: what a project does. `actor_views_left_out`; `GET /workitems?state=Queued` and the other waiting states: the owners of the items.",
        act: "Cancel the items that are no longer wanted. Capped projects get no work meanwhile, because their work in progress cannot be counted. Everything resumes by itself once there is room."
      }
    },
    {
      name: "PipelineSweepFailing",
      severity: "warning",
      title: "The sweep {sweep} failed {value} times.",
      hurts: "The work of {sweep} is late.",
      seen: { kind: "rise", series: { metric: "sweeper_failures_total" }, by: ["sweep"], within: "15m", above: 3 },
      after: "0m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable"],
      commands: ["./starling doctor"],
      runbook: {
        means: "A sweep has failed several times within a quarter of an hour. It runs again at its next interval.",
        lookAt: "`./starling doctor`: whether the sweeper is ready. The sweeper's log for the sweep.",
        act: "Fix the cause that the log names."
      }
    },
    {
      name: "PipelineSweepUnheld",
      severity: "critical",
      title: "The sweep {sweep} is not running.",
      hurts: "The work of {sweep} is not done: quotas, budgets or watchdogs stop.",
      seen: { kind: "level", of: "sum", series: { metric: "sweeper_held" }, by: ["sweep"], is: ["==", 0] },
      after: "2m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable", "StarlingPodDown"],
      commands: ["./starling doctor"],
      runbook: {
        means: "No replica runs a sweep: quotas, budgets or watchdogs stop.",
        lookAt: "`./starling doctor`: whether a sweeper answers. The sweepers' pods; the bucket `leases`.",
        act: "Start a sweeper. A lease whose holder died is free after three seconds."
      }
    }
  ]
}
