/** The command that creates a work item, as the API and other items send it over the bus. */
import { type WorkItemCommandOf, workItemSettingsDefault } from "#contracts"

export const creation = (changes: Partial<WorkItemCommandOf<"Create">> = {}): WorkItemCommandOf<"Create"> => ({
  _tag: "Create",
  title: "Mend the gate",
  instructions: null,
  projectId: "garden",
  project: { id: "garden", displayName: "The garden", repositoryUrl: "https://git.example/garden.git" },
  agent: "smith",
  baseBranch: "main",
  externalId: null,
  releaseId: null,
  kind: "act",
  originCheckWorkItemId: null,
  priority: 5,
  settings: workItemSettingsDefault,
  workBranchPrefix: "starling",
  ...changes
})
