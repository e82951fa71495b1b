import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decideRecord, recentCommandsMax, recordCodec, replay } from "#actors"
import { eventSchemaVersion } from "#base"
import { jar, type JarFact } from "./jar.ts"

const context = { id: "a", commandId: "c1", atMs: 1_700_000_000_000 }
const open = { state: { isOpen: true, coins: 3 }, recentCommands: [] }

describe("a decision", () => {
  it("is one record with its facts, its events and the state after them", () => {
    const record = Result.getOrThrow(decideRecord(jar, open, { _tag: "Fill", coins: 2 }, context))
    assert.deepStrictEqual(record, {
      commandId: "c1",
      atMs: context.atMs,
      facts: [{ _tag: "Filled", coins: 2 }],
      events: [
        {
          eventSchemaVersion,
          occurredAt: "2023-11-14T22:13:20.000Z",
          event: "jar.filled",
          workItem: null,
          project: null,
          details: { coins: 5 }
        }
      ],
      state: { isOpen: true, coins: 5 },
      stateVersion: 2,
      recentCommands: ["c1"],
      isRetired: false
    })
  })

  it("that changes nothing writes no record", () => {
    assert.deepStrictEqual(decideRecord(jar, open, { _tag: "Open" }, context), Result.succeed(undefined))
  })

  it("that is refused names the state and the reason", () => {
    const refused = decideRecord(jar, open, { _tag: "Fill", coins: 1_000_000 }, context)
    assert.strictEqual(Result.isFailure(refused) && refused.failure.message, "the jar is full (Full)")
  })

  it("remembers the last commands, as many as a retry can need", () => {
    const recentCommands = Array.from({ length: recentCommandsMax }, (_, index) => `old-${index}`)
    const held = { ...open, recentCommands }
    const record = Result.getOrThrow(decideRecord(jar, held, { _tag: "Fill", coins: 1 }, context))
    assert.strictEqual(record?.recentCommands.length, recentCommandsMax)
    assert.strictEqual(record?.recentCommands.at(-1), "c1")
    assert.strictEqual(record?.recentCommands[0], "old-1")
  })

  it("that ends the entity marks its record", () => {
    assert.isTrue(Result.getOrThrow(decideRecord(jar, open, { _tag: "Break" }, context))?.isRetired)
  })
})

describe("a stored record", () => {
  const bytes = (value: unknown) => ({ data: new TextEncoder().encode(JSON.stringify(value)), header: () => undefined })
  const record = Result.getOrThrow(decideRecord(jar, open, { _tag: "Fill", coins: 2 }, context))

  it("with an earlier version of the state is read as one of this version", () => {
    const read = recordCodec(jar).decode(bytes({ ...record, stateVersion: 1, state: { coins: 9 } }))
    assert.deepStrictEqual(Result.getOrThrow(read).state, { isOpen: true, coins: 9 })
  })

  it("with a state that does not fit names the place", () => {
    const read = recordCodec(jar).decode(bytes({ ...record, state: { isOpen: true, coins: "many" } }))
    assert.deepStrictEqual(Result.isFailure(read) && read.failure.map(({ path }) => path), ["/state/coins"])
  })

  it("replayed from its facts gives the state that it carries", () => {
    const facts: ReadonlyArray<JarFact> = [
      { _tag: "Opened" },
      { _tag: "Filled", coins: 2 },
      { _tag: "Filled", coins: 3 }
    ]
    assert.deepStrictEqual(replay(jar, [{ facts, context }]), { isOpen: true, coins: 5 })
  })
})
