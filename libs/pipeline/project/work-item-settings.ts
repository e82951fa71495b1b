/** What a project's items go by: as configured, where the project itself says nothing. */
import type { ProjectSettings, WorkItemSettings } from "#contracts"

export const workItemSettingsOf = (
  { workItems }: Pick<ProjectSettings, "workItems">,
  configured: WorkItemSettings
): WorkItemSettings => ({ ...configured, ...workItems })
