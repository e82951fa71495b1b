/** When the pipeline's alerts fire, and when they stay silent. */
import { ruleCase, rising, type RuleCase } from "./rule-case.ts"

export const pipelineCases: ReadonlyArray<RuleCase> = [
  ruleCase(
    "PipelineAgentBenched",
    "30m",
    { 'pipeline_agent_benched{agent="a"}': "1x60" },
    { agent: "a" },
    { 'pipeline_agent_benched{agent="a"}': "0x60" }
  ),
  ruleCase(
    "PipelineCommandsFailing",
    "20m",
    {
      ...rising('actor_commands_total{entity="work-item",outcome="failed"}', 5),
      ...rising('actor_commands_total{entity="work-item",outcome="decided"}', 95)
    },
    { entity: "work-item" },
    rising('actor_commands_total{entity="work-item",outcome="refused"}', 95)
  ),
  ruleCase(
    "PipelineCommandsSlow",
    "30m",
    {
      ...rising('actor_command_seconds_bucket{entity="project",le="0.25"}', 50),
      ...rising('actor_command_seconds_bucket{entity="project",le="1"}', 100),
      ...rising('actor_command_seconds_bucket{entity="project",le="+Inf"}', 100)
    },
    { entity: "project" },
    {
      ...rising('actor_command_seconds_bucket{entity="project",le="0.25"}', 100),
      ...rising('actor_command_seconds_bucket{entity="project",le="+Inf"}', 100)
    }
  ),
  ruleCase(
    "PipelineViewsBehind",
    "20m",
    { 'actor_views_behind{pod="a"}': "5000x30", 'actor_views_behind{pod="b"}': "2000x30" },
    {},
    { 'actor_views_behind{pod="a"}': "5000x30", 'actor_views_behind{pod="b"}': "0x30" }
  ),
  ruleCase(
    "PipelineViewsFull",
    "20m",
    { 'actor_views_left_out{role="pipeline-api",which="moving"}': "3x30" },
    { role: "pipeline-api" },
    { 'actor_views_left_out{role="pipeline-api",which="ended"}': "5000x30" }
  ),
  ruleCase(
    "PipelineSweepFailing",
    "10m",
    { 'sweeper_failures_total{sweep="budget"}': "0+1x20" },
    { sweep: "budget" },
    { 'sweeper_failures_total{sweep="budget"}': "0 1x20" }
  ),
  ruleCase(
    "PipelineSweepUnheld",
    "10m",
    { 'sweeper_held{sweep="budget",pod="a"}': "0x20", 'sweeper_held{sweep="budget",pod="b"}': "0x20" },
    { sweep: "budget" },
    { 'sweeper_held{sweep="budget",pod="a"}': "0x20", 'sweeper_held{sweep="budget",pod="b"}': "1x20" }
  )
]
