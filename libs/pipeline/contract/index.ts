/** The messages, HTTP API and settings of the pipeline, as data. */
export {
  AgentBench,
  AgentCommand,
  type AgentCommandOf,
  type AgentCommandTag,
  type AgentDeadline,
  AgentFact,
  type AgentFactOf,
  type AgentFactTag,
  agentIdOf,
  agentOfId,
  AgentPause,
  agentReasonCharactersMax,
  type AgentStatus,
  AgentState,
  AgentSummary,
  ConcernedItem,
  fastFailsMax,
  QueueCommand,
  QueueFact,
  queueId,
  QueueState
} from "./agent.ts"
export { CommandAnswer, commandEntities, type CommandEntity, CommandRequest, decodeCommand } from "./commands.ts"
export { contractDocuments, eventSchema } from "./documents/async-api.ts"
export {
  HeldAnswer,
  HeldQuestion,
  PickupAnswer,
  PickupDispatch,
  PickupNothing,
  PickupQuestion,
  PickupReply
} from "./pickup.ts"
export {
  BudgetBand,
  hourOf,
  ProjectCommand,
  type ProjectCommandOf,
  type ProjectCommandTag,
  ProjectFact,
  type ProjectFactOf,
  type ProjectFactTag,
  ProjectSettings,
  projectSettingsDefault,
  ProjectSpend,
  ProjectState,
  ProjectSummary,
  spendCursorKey,
  SpendEntry,
  hourlySpendHours,
  spendKey,
  spendMicroUsdMax,
  spentMicroUsd,
  staleBaseProcessesMax,
  staleBasesMax
} from "./project.ts"
export {
  ReleaseCommand,
  type ReleaseCommandOf,
  type ReleaseCommandTag,
  type ReleaseDeadline,
  ReleaseFact,
  type ReleaseFactOf,
  type ReleaseFactTag,
  ReleaseItem,
  releaseItemsMax,
  ReleaseState,
  ReleaseStateName,
  ReleaseSummary,
  syncConflictsMax
} from "./release.ts"
export {
  decodeReport,
  exampleReport,
  forecastKey,
  isReportKind,
  isRunnerReport,
  QuotaForecast,
  type Report,
  type ReportKind,
  reportKinds,
  type RunnerReport
} from "./reports.ts"
export { AgentKindEntry, Agents, repeatedKinds } from "./settings/agents.ts"
export {
  AutoRetryOnTransientFailure,
  Budget,
  DiskGuard,
  itemSettingsOf,
  Pipeline,
  PipelineApi,
  QuotaRetry,
  StalePullRequestSweep,
  Sweeper
} from "./settings/pipeline.ts"
export {
  recoveryReasons,
  workBranchOf,
  WorkItemCommand,
  type WorkItemCommandOf,
  type WorkItemCommandTag,
  WorkItemDeferral
} from "./work-item/commands.ts"
export { WorkItemFact, type WorkItemFactOf, workItemFacts, type WorkItemFactTag } from "./work-item/facts.ts"
export {
  findingsMax,
  questionsPerReportMax,
  ReportedFinding,
  ReportedSuggestion,
  ReportedUsage,
  suggestionsPerReportMax,
  WorkItemReport,
  type WorkItemReportKind,
  workItemReportKinds,
  type WorkItemReportOf,
  workItemReports
} from "./work-item/reports.ts"
export {
  countedMarkCharacters,
  countedReportsMax,
  errorCharactersMax,
  FailureKind,
  findingSeverities,
  openQuestionsMax,
  questionsMax,
  RetryBackoff,
  staleHeadsMax,
  suggestionsMax,
  WorkItemCost,
  type WorkItemDeadline,
  WorkItemDispatch,
  WorkItemPhase,
  workItemPhases,
  WorkItemSettings,
  workItemSettingsDefault,
  WorkItemState,
  WorkItemStateName,
  WorkItemSummary
} from "./work-item/state.ts"
