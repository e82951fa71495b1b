/** The schemas of requests and answers as JSON Schema, below `#/components/schemas/`. Pure. */
import {
  AgentPage,
  AgentsQuery,
  AgentView,
  AnswerQuestionRequest,
  CancelWorkItemQuery,
  CancelWorkItemRequest,
  CreateReleaseRequest,
  CreateWorkItemRequest,
  DelegateWorkItemRequest,
  DismissQuestionRequest,
  ErrorEnvelope,
  HistoryPage,
  HistoryQuery,
  PauseAgentRequest,
  PauseQueueRequest,
  ProjectPage,
  ProjectsQuery,
  ProjectView,
  PutProjectRequest,
  QueueView,
  ReleaseChangeRequest,
  ReleasePage,
  ReleasesQuery,
  ReleaseView,
  RestoreAgentRequest,
  ResumeAgentRequest,
  ResumeQueueRequest,
  SuggestionView,
  WorkItemPage,
  WorkItemsQuery,
  WorkItemView
} from "#contracts"
import { componentsOf, fieldsOf } from "#http"

const schemas = {
  CreateWorkItemRequest,
  AnswerQuestionRequest,
  DismissQuestionRequest,
  CancelWorkItemRequest,
  DelegateWorkItemRequest,
  CreateReleaseRequest,
  ReleaseChangeRequest,
  PutProjectRequest,
  PauseQueueRequest,
  ResumeQueueRequest,
  PauseAgentRequest,
  ResumeAgentRequest,
  RestoreAgentRequest,
  WorkItemView,
  WorkItemPage,
  HistoryPage,
  Suggestion: SuggestionView,
  ReleaseView,
  ReleasePage,
  ProjectView,
  ProjectPage,
  QueueView,
  AgentView,
  AgentPage,
  ErrorEnvelope
}
export type SchemaName = keyof typeof schemas

const queries = { AgentsQuery, CancelWorkItemQuery, HistoryQuery, ProjectsQuery, ReleasesQuery, WorkItemsQuery }
export type QueryName = keyof typeof queries

/** The parameters of a query, by name. */
export const queryFields = (name: QueryName) => fieldsOf(queries[name])

export const componentSchemas = () => componentsOf(schemas)
