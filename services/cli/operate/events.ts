/** `events`: those that were published. */
import { Effect } from "effect"
import type { OneOrder } from "./abandoned.ts"
import { type OnConsole, onConsole } from "./client.ts"
import { givenOf, printList, printWhole } from "./shown.ts"

interface ListOrder extends OnConsole {
  readonly event: string | undefined
  readonly entity: string | undefined
  readonly project: string | undefined
  readonly since: string | undefined
  readonly until: string | undefined
  readonly limit: number
  readonly cursor: string | undefined
  readonly json: boolean
}

const columns = {
  number: "sequence",
  stored: "storedAt",
  event: "event",
  entity: "entity",
  project: "projectId",
  bytes: "bytes"
}

export const listEvents = ({ url, json, limit, project: projectId, ...filter }: ListOrder) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(
      client.listEvents({ query: { ...givenOf({ ...filter, projectId }), limit: String(limit) } }),
      (page) => printList(page, { json, columns })
    )
  )

export const showEvent = ({ url, number, json }: OneOrder & { readonly json: boolean }) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.getEvent({ params: { sequence: number } }), (whole) => printWhole(whole, json))
  )
