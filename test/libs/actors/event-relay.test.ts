import { assert, describe, it } from "@effect/vitest"
import { stepsOf } from "../../../libs/actors/event-relay.ts"
import { type Dice, diceOf } from "../../support/random-ssml.ts"

type Records = Parameters<typeof stepsOf>[0]

const recordOf = (sequence: number, sizes: ReadonlyArray<number>): Records[number] =>
  ({
    sequence,
    head: {
      events: sizes.map((size, index) => ({ event: `work_item.e${index}`, details: { text: "x".repeat(size) } }))
    },
    traceparent: undefined
  }) as never

const idOf = (message: ReturnType<typeof stepsOf>[number]["messages"][number]) => message.headers[0]?.[1] ?? ""
const placeOf = (id: string) => id.split(".").slice(0, 3).join(".")

const sizeOf = ({ below }: Dice) => (below(8) === 0 ? below(60_000) : below(200))

/** Records one after another, with gaps where LOG has lost some, and events of any size. */
const logOf = (dice: Dice): Records => {
  let sequence = 0
  return Array.from({ length: dice.below(6) }, () => {
    sequence += 1 + dice.below(3)
    return recordOf(
      sequence,
      Array.from({ length: dice.below(70) }, () => sizeOf(dice))
    )
  })
}

const seeds = Array.from({ length: 20 }, (_, seed) => diceOf(Math.imul(seed + 1, 2_654_435_761)))

const everyPlace = (records: Records) =>
  records.flatMap(({ sequence, head }) => head.events.map((_, index) => `log.${sequence}.${index}`))

describe("the steps of the event relay", () => {
  it("hold each event once and in order, and end at the last record that was read", () => {
    for (const records of seeds.map(logOf)) {
      const last = (records.at(-1)?.sequence ?? 0) + 1
      const steps = stepsOf(records, { position: 0 }, last)

      assert.deepStrictEqual(
        steps.flatMap(({ messages }) => messages.map((one) => placeOf(idOf(one)))),
        everyPlace(records)
      )
      assert.deepStrictEqual(steps.at(-1)?.cursor, { position: last })
    }
  })

  it("are small enough to be written ahead of their cursor, but for a single large event", () => {
    for (const { messages } of seeds.flatMap((dice) => stepsOf(logOf(dice), { position: 0 }, 1_000))) {
      const bytes = messages.reduce((sum, { data }) => sum + data.length, 0)
      assert.isTrue(messages.length <= 32 && (bytes <= 48 * 1_024 || messages.length === 1))
    }
  })

  it("continue after any of them where the relay was killed, with nothing left out and nothing twice", () => {
    for (const dice of seeds) {
      const records = logOf(dice)
      const steps = stepsOf(records, { position: 0 }, 1_000)
      const before = steps.slice(0, 1 + dice.below(steps.length))
      const cursor = before.at(-1)?.cursor ?? { position: 0 }
      const rest = records.filter(({ sequence }) => sequence > cursor.position)
      const after = stepsOf(rest, cursor, 1_000)

      const made = [...before, ...after].flatMap(({ messages }) => messages.map((one) => placeOf(idOf(one))))
      assert.deepStrictEqual(made, everyPlace(records))
    }
  })

  it("give an event an id that nobody can guess", () => {
    const ids = [1, 2].flatMap(() =>
      stepsOf([recordOf(7, [1, 1])], { position: 0 }, 7).flatMap(({ messages }) => messages.map(idOf))
    )

    assert.lengthOf(new Set(ids), 4)
    for (const id of ids) assert.match(id, /^log\.7\.[01]\.[0-9a-f-]{36}$/u)
  })
})
