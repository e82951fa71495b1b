/**
 * The envelope of an item's event, made from the state after the fact. Money leaves as US dollars; where no cost is
 * known, there is no usage block at all, for receivers take zero for zero.
 */
import type { EventDraft, DecisionContext } from "#actors/definition"
import { isoTime, type WorkItem, type WorkItemCost, type WorkItemState } from "#contracts"

const microUsdPerUsd = 1_000_000

type Details = Readonly<Record<string, unknown>> | null

/** An event about the item. */
export const itemEvent = (
  item: WorkItemState,
  { id }: DecisionContext,
  event: string,
  details: Details = null
): EventDraft => ({
  event,
  workItem: eventItem(id, item),
  project: item.project,
  details,
  ...(item.usage === null ? {} : { usage: { iteration: item.usage.iteration, ...wireCost(item.usage) } }),
  ...(item.usageTotal === null ? {} : { usageTotal: wireCost(item.usageTotal) })
})

/** An event of the fleet at large that an item gave rise to. */
export const fleetEvent = (event: string, details: Details): EventDraft => ({
  event,
  workItem: null,
  project: null,
  details
})

/** The item as events carry it. */
export const eventItem = (id: string, item: WorkItemState): WorkItem => ({
  id,
  externalId: item.externalId,
  projectId: item.projectId,
  title: item.title,
  agent: item.agent,
  repositoryUrl: item.project.repositoryUrl,
  baseBranch: item.baseBranch,
  workBranch: item.workBranch,
  state: item.state,
  createdAt: isoTime(item.createdAtMs),
  updatedAt: isoTime(item.updatedAtMs),
  lastError: item.lastError,
  upstreamPushAttempts: item.upstreamPushAttempts
})

const wireCost = ({ costMicroUsd, ...cost }: WorkItemCost) => ({
  tokensInput: cost.tokensInput,
  tokensOutput: cost.tokensOutput,
  tokensReasoning: cost.tokensReasoning,
  tokensCached: cost.tokensCached,
  costUsd: costMicroUsd / microUsdPerUsd,
  elapsedMs: cost.elapsedMs
})
