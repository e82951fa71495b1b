/** Alertmanager silences an alert exactly where the console says that another one explains it. */
import { assert, describe, it } from "@effect/vitest"
import { inhibitRules, type InhibitRule } from "../../deploy/generate/inhibition.ts"
import { conditions } from "../../libs/console/conditions/conditions.ts"
import { explained, idOf } from "../../libs/console/conditions/standing.ts"
import { ruleCases } from "./rule-cases.ts"

const rules = inhibitRules(conditions)
const labelsOf = (name: string) => ruleCases.find(({ alert }) => alert === name)?.labels ?? {}

const matches = (matchers: ReadonlyArray<string>, name: string) =>
  matchers.every((matcher) => new Set(/"(.*)"/u.exec(matcher)?.[1]?.split("|")).has(name))

type Labels = Readonly<Record<string, string>>

/** As Alertmanager decides: a label that is missing on both sides is equal. */
const isSilenced = (cause: string, causeLabels: Labels, effect: string, effectLabels: Labels) =>
  rules.some(
    ({ source_matchers, target_matchers, equal }: InhibitRule) =>
      matches(source_matchers, cause) &&
      matches(target_matchers, effect) &&
      equal.every((label) => causeLabels[label] === effectLabels[label])
  )

const standing = (name: string, labels: Labels) => {
  const condition = conditions.find((one) => one.name === name)
  assert.isDefined(condition, name)
  return { id: idOf(condition, labels), condition, labels, value: 1, sinceMs: 0 }
}

const isExplained = (cause: string, causeLabels: Labels, effect: string, effectLabels: Labels) =>
  explained([standing(cause, causeLabels), standing(effect, effectLabels)]).some(
    ({ condition, causedBy }) => condition.name === effect && causedBy !== null
  )

const pairs = conditions.flatMap(({ name, causedBy }) => causedBy.map((cause) => [cause, name] as const))

describe("an alert", () => {
  it.each(pairs)("that %s explains is silent while that fires: %s", (cause, effect) => {
    const labels = { ...labelsOf(cause), ...labelsOf(effect) }
    const of = (name: string) =>
      Object.fromEntries(Object.keys(labelsOf(name)).map((label) => [label, labels[label] ?? ""]))
    assert.isTrue(isSilenced(cause, of(cause), effect, of(effect)))
    assert.isTrue(isExplained(cause, of(cause), effect, of(effect)))
  })

  it.each(pairs)("is heard while %s fires for another thing: %s", (cause, effect) => {
    const other = Object.fromEntries(Object.keys(labelsOf(effect)).map((label) => [label, "another"]))
    const [causeLabels, isOne] = [labelsOf(cause), isExplained(cause, labelsOf(cause), effect, other)]
    assert.strictEqual(isSilenced(cause, causeLabels, effect, other), isOne)
  })

  it("is silenced by nothing else", () => {
    const silenced = conditions.flatMap(({ name }) =>
      conditions.filter((cause) => isSilenced(cause.name, {}, name, {})).map((cause) => `${cause.name} ${name}`)
    )
    assert.sameMembers(
      silenced,
      pairs.map((pair) => pair.join(" "))
    )
  })

  it("of another fleet explains nothing", () => {
    for (const { equal } of rules) assert.include(equal, "namespace")
  })
})
