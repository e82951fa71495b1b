import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import {
  type ActorDefinition,
  decideRecord,
  entityProjection,
  type ActorState,
  recordCodec,
  type Projection,
  ViewRow
} from "#actors"
import { jsonCodec } from "#bus"
import type { AgentState, ProjectState, ReleaseState, WorkItemState } from "#pipeline/contract"
import {
  agent,
  agentProjection,
  project,
  projectProjection,
  release,
  releaseProjection,
  workItem,
  workItemProjection
} from "#pipeline"
import { type Dice, diceOf } from "../../support/random-ssml.ts"
import { randomCommand as randomAgentCommand } from "../../libs/pipeline/agent/random-commands.ts"
import { settingsOf } from "../../libs/pipeline/project/project-at-work.ts"
import { randomCommand as randomProjectCommand } from "../../libs/pipeline/project/random-commands.ts"
import { randomCommand as randomReleaseCommand } from "../../libs/pipeline/release/random-commands.ts"
import { startMs } from "../../libs/pipeline/work-item/item-at-work.ts"
import { randomCommand as randomItemCommand, randomCreation } from "../../libs/pipeline/work-item/random-commands.ts"

interface Kind<State, Command, Fact> {
  readonly definition: ActorDefinition<State, Command, Fact>
  readonly projection: Projection<State>
  readonly command: (dice: Dice, state: State, step: number, atMs: number) => Command
}

const id = "0b2b2c1e-4b0e-4a5c-9d7e-0123456789ab"
const rowCodec = jsonCodec(ViewRow)
const spread = (seed: number) => diceOf(Math.imul(seed, 2_654_435_761) ^ 0x5bd1e995)
const asMessage = ({ data }: { readonly data: Uint8Array }) => ({ data, header: () => undefined })

/** The bytes compared with the decision; the number of decisions. */
const compareLife = <State, Command, Fact>(kind: Kind<State, Command, Fact>, seed: number): number => {
  const { definition } = kind
  const dice = spread(seed)
  const codec = recordCodec(definition)
  const projection = entityProjection(kind.projection)
  let held: ActorState<State> = { state: definition.initial, recentCommands: [] }
  let decisions = 0
  for (let step = 0, atMs = startMs; step < 60; step++) {
    atMs += 1 + dice.below(20_000)
    const command = kind.command(dice, held.state, step, atMs)
    const decided = decideRecord(definition, held, command, { id, commandId: `c${step}`, atMs })
    if (Result.isFailure(decided) || decided.success === undefined) continue
    const record = decided.success
    held = record
    decisions += 1
    const read = Result.getOrThrow(codec.decode(asMessage(codec.encode(record))))
    assert.deepStrictEqual(read, record)
    const shown = projection.showDecoded(record.state, id)
    assert.deepStrictEqual(Result.getOrThrow(projection.show(read.state, id)), shown)
    if (shown === undefined) continue
    const row = { entity: definition.entity, id, sequence: step + 1, ...shown }
    assert.deepStrictEqual(Result.getOrThrow(rowCodec.decode(asMessage(rowCodec.encode(row)))), row)
    if (record.isRetired) break
  }
  return decisions
}

const items: Kind<WorkItemState | null, Parameters<typeof workItem.decide>[1], unknown> = {
  definition: workItem as never,
  projection: workItemProjection,
  command: (dice, state, step) => (state === null ? randomCreation(dice) : randomItemCommand(dice, state, step))
}
const releases: Kind<ReleaseState | null, Parameters<typeof release.decide>[1], unknown> = {
  definition: release as never,
  projection: releaseProjection,
  command: (dice, state) => randomReleaseCommand(dice, state)
}
const projects: Kind<ProjectState | null, Parameters<typeof project.decide>[1], unknown> = {
  definition: project as never,
  projection: projectProjection,
  command: (dice, state) => (state === null ? { _tag: "Create", settings: settingsOf() } : randomProjectCommand(dice))
}
const agents: Kind<AgentState | null, Parameters<typeof agent.decide>[1], unknown> = {
  definition: agent as never,
  projection: agentProjection,
  command: (dice, _state, _step, atMs) => randomAgentCommand(dice, atMs)
}

describe("a process's decisions, and their written records", () => {
  const same = <State, Command>(name: string, kind: Kind<State, Command, unknown>) => {
    const counts: Array<number> = []
    it.prop(
      `are the same, down to the rows of lists: ${name}`,
      [Schema.Int],
      ([seed]) => {
        counts.push(compareLife(kind, seed))
      },
      { arbitrary: { runs: 60 } }
    )
    it(`were compared: ${name}`, () => assert.isAbove(Math.max(...counts), 5))
  }
  same("work items", items)
  same("releases", releases)
  same("projects", projects)
  same("agents", agents)
})
