import { assert, describe, it } from "@effect/vitest"
import { Result, type Schema } from "effect"
import type { ActorDefinition } from "#actors"
import { commandEntities } from "#pipeline/contract"
import { project, release, workItem } from "#pipeline"
import { exampleValue } from "../../../libs/base/events/examples.ts"

interface Begun {
  readonly schema: { readonly members: ReadonlyArray<Schema.Top> }
  // oxlint-disable-next-line typescript/no-explicit-any -- of any entity
  readonly definition: ActorDefinition<any, any, any>
}

const entities: ReadonlyArray<readonly [string, Begun]> = [
  ["work item", { schema: commandEntities.workitem.schema, definition: workItem }],
  ["release", { schema: commandEntities.release.schema, definition: release }],
  ["project", { schema: commandEntities.project.schema, definition: project }]
]
const context = { id: "an-id", commandId: "a-command", atMs: 1 }

describe("a command to an unknown entity", () => {
  it.each(entities)("that does not begin a %s is never carried out", (_, { schema, definition }) => {
    const commands = schema.members.map((member) => exampleValue(member as Schema.Codec<unknown>))
    const [beginnings, others] = [true, false].map((wanted) =>
      commands.filter((command) => definition.begins?.(command) === wanted)
    )
    assert.strictEqual(beginnings?.length, 1)
    assert.strictEqual(others?.length, commands.length - 1)
    for (const command of others ?? []) {
      assert.isTrue(Result.isFailure(definition.decide(definition.initial, command, context)), JSON.stringify(command))
    }
  })
})
