/** A fleet with actors, the commands that bring an item and an agent to a sweep's attention, and the views. */
import { Effect } from "effect"
import { Actors } from "#actors"
import {
  type AgentCommand,
  type WorkItemCommand,
  type WorkItemReport,
  workItemSettingsDefault
} from "#pipeline/contract"
import { agent, workItem } from "#pipeline"
import type { Sweep } from "../../../services/sweeper/sweeps.ts"
import { natsServer } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { creation } from "../../libs/pipeline/work-item/item-at-work.ts"
import { eventsOf, inProcess, rowOf, serveActors } from "./actors-at-work.ts"
import { uuid } from "./rows.ts"

export const item = uuid(1)
let commands = 0
const next = () => `c${(commands += 1)}`

export const toItem = (command: WorkItemCommand, id = item) =>
  Effect.flatMap(Actors, (actors) => actors.run(workItem, { id, commandId: next() }, command))
export const toAgent = (command: AgentCommand, id = "smith") =>
  Effect.flatMap(Actors, (actors) => actors.run(agent, { id, commandId: next() }, command))

const settings = { ...workItemSettingsDefault, transientBackoff: { initialMs: 1, maxMs: 1, jitter: 0 } }

export const dispatched = Effect.gen(function* () {
  yield* toItem(creation({ settings }))
  yield* toItem({
    _tag: "Dispatch",
    dispatchId: "d1",
    phase: "work",
    agent: "smith",
    model: null,
    agentInstanceId: null,
    runner: "forge-1",
    sandboxId: null,
    auditors: [],
    settings
  })
})
export const reported = (fields: Record<string, unknown>) =>
  toItem({
    _tag: "Report",
    report: { reportId: next(), workItemId: item, dispatchId: "d1", ...fields } as WorkItemReport,
    jitter: 0,
    freshWorkItemId: uuid(2)
  })

export const shownAs = (entity: string, id: string, state: string) =>
  eventually(rowOf(entity, id), { is: (row) => row?.state === state })
export const namesOf = (entity: string, id: string) =>
  Effect.map(eventsOf(entity, id), (events) => events.map(({ event }) => event))

/** A fleet with actors, in whose process the test runs too. */
export const fleet = <A, E, R>(configuration: unknown, test: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    return yield* inProcess(server, configuration, Effect.andThen(serveActors, test))
  }).pipe(Effect.scoped)

export const begun = Effect.fnUntraced(function* <R>(making: Effect.Effect<Sweep, never, R>) {
  return yield* (yield* making).begin
})
