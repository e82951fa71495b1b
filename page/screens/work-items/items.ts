/** Work items as the page reads them. */
import { pipeline, type PipelineAnswer } from "../../api/apis.ts"
import { useResource } from "../../api/resource.ts"

type ItemPage = PipelineAnswer<"GET", "/workitems">
export type WorkItemRow = ItemPage["items"][number]
export type WorkItem = PipelineAnswer<"GET", "/workitems/:id">
export type HistoryRecord = PipelineAnswer<"GET", "/workitems/:id/history">["items"][number]

const everyMs = 2_000
/** A board of more than a thousand items says nothing; filters do. */
const pagesMax = 5

export const useItems = (project: string) =>
  useResource(
    `items ${project}`,
    async (signal) => {
      const items: Array<WorkItemRow> = []
      let cursor: string | undefined
      for (let page = 0; page < pagesMax; page++) {
        const query = {
          limit: "200",
          ...(project === "" ? {} : { project }),
          ...(cursor === undefined ? {} : { cursor })
        }
        const answer = await pipeline.get("/workitems", { query, signal })
        items.push(...answer.items)
        if (answer.nextCursor === null) return { items, isComplete: true }
        cursor = answer.nextCursor
      }
      return { items, isComplete: false }
    },
    { everyMs }
  )

export const useItem = (id: string) =>
  useResource(
    `item ${id}`,
    async (signal) => {
      const item = await pipeline.get("/workitems/:id", { params: { id }, signal })
      return { item, ...(await historyOf(id, signal)) }
    },
    { everyMs }
  )

const historyOf = async (id: string, signal: AbortSignal) => {
  const records: Array<HistoryRecord> = []
  let cursor: string | undefined
  for (let page = 0; page < pagesMax; page++) {
    const query = { limit: "200", ...(cursor === undefined ? {} : { cursor }) }
    const answer = await pipeline.get("/workitems/:id/history", { params: { id }, query, signal })
    records.push(...answer.items)
    if (answer.nextCursor === null) return { records, isComplete: true }
    cursor = answer.nextCursor
  }
  return { records, isComplete: false }
}

export const useProjects = () =>
  useResource(
    "projects",
    async (signal) => (await pipeline.get("/projects", { query: { limit: "200" }, signal })).items
  )
export const useAgents = () =>
  useResource("agents", async (signal) => (await pipeline.get("/agents", { query: { limit: "200" }, signal })).items, {
    everyMs: 5_000
  })
export const useQueue = () => useResource("queue", (signal) => pipeline.get("/queue", { signal }), { everyMs: 5_000 })
