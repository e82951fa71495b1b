/** Where the page shows a thing. Pure. */
import type { TraceKind, TraceLine } from "#console/api"

const filtered = (path: string, filter: Readonly<Record<string, string>>) => `${path}?${new URLSearchParams(filter)}`

const paths: Readonly<Record<TraceKind, (id: string) => string>> = {
  event: (id) => `/events/${id}`,
  delivery: (id) => `/deliveries/${id}`,
  // A place in the log: its delivery is found by it.
  attempt: (id) => filtered("/find", { id }),
  abandoned: (id) => `/deliveries/abandoned/${id}`,
  rejected: (id) => `/deliveries/rejected/${id}`,
  endpoint: (id) => `/endpoints/${encodeURIComponent(id)}`,
  payer: (id) => filtered("/activity", { payer: id }),
  claim: (id) => `/activity/claims/${encodeURIComponent(id)}`,
  receipt: (id) => `/activity/receipts/${id}`,
  transaction: (id) => filtered("/activity", { transaction: id }),
  finding: (id) => `/activity/books/${id}`,
  act: () => "/settings/acts"
}

export const pathOf = ({ kind, id }: Pick<TraceLine, "kind" | "id">): string => paths[kind](id)
