/** What the fleet keeps until somebody looks at it: the newest of each, read again now and then. */
import { get } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { type Condition, keptConditionsOf } from "./conditions.ts"

// Nobody acts on them sooner.
const everyMs = 10_000
const limit = "200"

/** Undefined until all of it was read. What was read before a refusal goes on counting. */
export const useKeptConditions = (): ReadonlyArray<Condition> | undefined => {
  const { value } = useResource(
    "what is kept",
    async (signal) => {
      const [abandoned, rejected, streams] = await Promise.all([
        get("/abandoned", { query: { limit }, signal }),
        get("/rejected", { query: { limit }, signal }),
        get("/streams", { signal })
      ])
      return { abandoned: abandoned.items, rejected: rejected.items, streams: streams.items }
    },
    { everyMs }
  )
  return value === undefined ? undefined : keptConditionsOf(value)
}
