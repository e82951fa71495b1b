/** Every condition has a fault, or a reason why none can be played; faults of a batch are independent. */
import { assert, describe, it } from "@effect/vitest"
import { batches, conditionsOfFault, faults, unplayed } from "../../../dev/faults/index.ts"
import { conditions } from "../../../libs/console/conditions/conditions.ts"

/** Each fault of a receiver has an endpoint of its own. */
const isOfEndpoint = (name: string) =>
  conditions.some(({ name: one, seen }) => one === name && "by" in seen && seen.by.includes("endpoint"))

const causesOf = new Map(conditions.map(({ name, causedBy }) => [name, causedBy]))
const played = new Set(faults.flatMap((fault) => [...conditionsOfFault(fault), ...(fault.effects ?? [])]))

/** Causes have causes. */
const explains = (cause: string, effect: string): boolean =>
  (causesOf.get(effect) ?? []).some((one) => one === cause || explains(cause, one))

describe("the table of faults", () => {
  it.each(conditions.map(({ name }) => name))("has a fault for %s, or says why not", (name) => {
    assert.notStrictEqual(played.has(name), Object.hasOwn(unplayed, name))
    assert.match(unplayed[name] ?? "A reason.", /^[A-Z].*\.$/u)
  })

  it("names conditions that there are", () => {
    for (const name of [...played, ...Object.keys(unplayed)]) assert.isTrue(causesOf.has(name), name)
  })

  it.each(faults.map((fault) => [fault.what, fault] as const))("has effects that it explains: %s", (_, fault) => {
    for (const effect of fault.effects ?? []) {
      assert.isTrue(
        conditionsOfFault(fault).some((cause) => explains(cause, effect)),
        effect
      )
    }
  })

  it.each(batches.map((batch, index) => [index, batch.flatMap(conditionsOfFault)] as const))(
    "has no fault in batch %i that explains another",
    (_, names) => {
      const explained = names.filter((name) => !isOfEndpoint(name) && names.some((cause) => explains(cause, name)))
      assert.deepStrictEqual(explained, [])
    }
  )
})
