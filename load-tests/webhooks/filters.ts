/**
 * What filters on content cost: a hundred endpoints that are chosen by what their events hold, beside a hundred that are
 * chosen by name. Each event goes to one of them, so that nothing hides the cost of the other ninety-nine filters.
 */
import { readFileSync } from "node:fs"
import { atMost, type Findings, figuresOf, percentile } from "../figures.ts"
import { until } from "../loops.ts"
import { type Rig, startDispatcher, withRig } from "./rig.ts"

const example = JSON.parse(readFileSync("dev/examples/merged.json", "utf8")) as Record<string, unknown>

const endpointsCount = 100
const events = 10_000
const times = 5

/** Both have the same bodies, but for the name. */
const kinds = [
  { eventOf: (at: number) => `load.named.e${at}`, filters: (at: number) => ({ EventFilter: [`load.named.e${at}`] }) },
  {
    eventOf: () => "load.filtered",
    filters: (at: number) => ({
      EventFilter: ["load.filtered"],
      ContentFilter: {
        workItem: { state: [{ "anything-but": ["Failed", "Cancelled"] }] },
        details: { endpoint: [`e${at}`], attempt: [{ numeric: [">=", 0, "<", 1e9] }] }
      }
    })
  }
] as const

const endpointsOf = (rig: Rig) =>
  kinds.flatMap(({ filters }, kind) =>
    Array.from({ length: endpointsCount }, (_, at) => ({
      Name: `${kind}-${at}`,
      Url: rig.receiver.url("ok", kind * endpointsCount + at),
      ...filters(at)
    }))
  )

const bodyOf = (event: string, id: number) =>
  JSON.stringify({ ...example, event, details: { endpoint: `e${id % endpointsCount}`, attempt: id } })

export const filters = (): Promise<Findings> =>
  withRig(async (rig) => {
    const open = { Events: { Undeclared: "deliver" } }
    const dispatcher = await startDispatcher(rig.nats.url, endpointsOf(rig), {}, open)
    const costs = kinds.map(() => new Array<number>())
    for (let time = 0; time <= times; time += 1) {
      for (const [kind, { eventOf }] of kinds.entries()) {
        const [from, spent] = [await rig.receiver.taken(), dispatcher.cpuSeconds()]
        let next = 0
        const work = async () => {
          while (next < events) {
            const id = next++
            const event = eventOf(id % endpointsCount)
            await rig.jetstream.publish(`events.${event}`, bodyOf(event, id))
          }
        }
        await Promise.all(Array.from({ length: 256 }, work))
        await until(async () => (await rig.receiver.taken()) >= from + events, 120_000)
        // The first time warms up.
        if (time > 0) costs[kind]?.push(((dispatcher.cpuSeconds() - spent) * 1e6) / events)
      }
    }
    await dispatcher.stop()
    const [named, filtered] = [percentile(costs[0] ?? [], 0.5), percentile(costs[1] ?? [], 0.5)]
    const figure = figuresOf("one event to one of a hundred endpoints")
    return {
      figures: [
        figure("processor of the dispatcher, chosen by name", named, "µs"),
        figure("the same, chosen by a hundred filters on content", filtered, "µs"),
        figure("filtered, of named", filtered / named, "x", atMost(1.1, filtered / named, "x"))
      ],
      series: []
    }
  })
