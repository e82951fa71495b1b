/**
 * A good envelope of every event, made from its schema: for the documents, for trying things out, and for
 * tests. Values are plain and always the same.
 */
import { findEvent } from "../events/catalogue.ts"
import type { EventDeclaration } from "../events/declaration.ts"
import { eventSchemaVersion } from "../events/schema-version.ts"
import { exampleAt as at, exampleId, exampleValue } from "./example-value.ts"

const workItem = {
  id: exampleId,
  externalId: "TICKET-42",
  projectId: "orchard",
  title: "Ripen the apples evenly",
  agent: "gardener",
  repositoryUrl: "https://git.example/orchard.git",
  baseBranch: "main",
  workBranch: "starling/6f1c2f0e",
  state: "Merged",
  createdAt: "2026-11-20T11:00:00.000Z",
  updatedAt: at,
  lastError: null,
  upstreamPushAttempts: 0
}
const project = { id: "orchard", displayName: "Orchard", repositoryUrl: workItem.repositoryUrl }
const release = { id: "autumn", name: "Autumn", state: "open" }

/** Undefined for a name that is not in the catalogue. */
export const exampleEnvelope = (name: string): Record<string, unknown> | undefined => {
  const event = findEvent(name)
  if (event === undefined) return undefined
  return {
    eventSchemaVersion,
    event: name,
    occurredAt: at,
    ...(event.about === "release" ? { release } : { workItem: event.workItem === "null" ? null : workItem }),
    project: event.project === "null" ? null : project,
    details: exampleDetails(event),
    ...(event.usageIsNull ? { usage: null } : {})
  }
}

const exampleDetails = (event: EventDeclaration) => {
  if (event.details === "null" || event.details === "open") return null
  return exampleValue(event.details, { entries: 0 })
}
