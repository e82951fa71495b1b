/** `Agents`: which agents exist, what they can do, and when a failing one is excluded. */
import { Schema } from "effect"
import { AgentName, workItemPhases } from "../work-item/state.ts"
import { Id, optional, required, section, span, whole, withDefault } from "#base"

const repeated = (names: ReadonlyArray<string>) => names.find((name, index) => names.indexOf(name) !== index)

const Distinct = <S extends Schema.Codec<string, string>>(name: S, most: number) =>
  Schema.Array(name).check(
    Schema.isMaxLength(most),
    Schema.makeFilter((names: ReadonlyArray<string>) => {
      const twice = repeated(names)
      return twice === undefined || `${JSON.stringify(twice)} is there twice`
    })
  )

// The id of an instance is `<kind>/<instance>`.
const KindName = AgentName.check(Schema.isPattern(/^[^/]+$/u))

/** An agent kind: a program of one make, which runners start. */
export const AgentKindEntry = Schema.Struct({
  Kind: required(KindName, "Its name, as items and runners say it; without `/`."),
  Class: optional(KindName, "Members of a class stand in for each other, in the order of this list."),
  Instances: withDefault(
    Distinct(Id, 1_000),
    [],
    "Accounts or hosts of it that can be paused alone. Empty: whichever runners name."
  ),
  Models: withDefault(Distinct(AgentName, 64), [], "Models it may run with, the preferred first. Empty: its own."),
  Phases: withDefault(
    Schema.Array(Schema.Literals(workItemPhases)).check(Schema.isBetweenLength(1, workItemPhases.length)),
    workItemPhases,
    "Phases it is given."
  )
})
export interface AgentKindEntry extends Schema.Schema.Type<typeof AgentKindEntry> {}

/** The names that more than one entry uses. */
export const repeatedKinds = (
  entries: ReadonlyArray<Pick<AgentKindEntry, "Kind" | "Class">>
): ReadonlyArray<string> => {
  const kinds = entries.map(({ Kind }) => Kind)
  const twice = new Set(kinds.filter((kind, index) => kinds.indexOf(kind) !== index))
  const both = new Set(entries.flatMap(({ Class }) => (Class !== undefined && kinds.includes(Class) ? [Class] : [])))
  return [
    ...[...twice].map((kind) => `the Kind ${JSON.stringify(kind)} is there twice`),
    ...[...both].map((name) => `${JSON.stringify(name)} is the name of a Class and of a Kind`)
  ]
}

export const Agents = section({
  Kinds: withDefault(
    Schema.Array(AgentKindEntry).check(Schema.isMaxLength(256), Schema.makeFilter(repeatedKinds)),
    [],
    "The agent kinds. Empty: any kind may be named and may ask for work, and none stands in for another."
  ),
  Default: optional(AgentName, "The kind or class of items that name none; without it every item has to."),
  FastFailSeconds: withDefault(
    span(0, 3_600),
    5,
    "A run that fails sooner cannot have worked; it counts towards the breaker. 0: none does."
  ),
  FastFailuresMax: withDefault(whole(1, 50), 5, "So many of them within the window bench the agent."),
  FastFailWindowMinutes: withDefault(span(0.01, 1_440), 10, "The breaker's window."),
  AdviceCooldownMinutes: withDefault(
    span(0, 43_200),
    360,
    "After `quota.reset_optimal` was told of an agent, no other window of it is for so long."
  ),
  AdviceFor: withDefault(
    Distinct(AgentName, 256),
    [],
    "Agents whose quota is watched for the best time to spend. Empty: all that are forecast."
  )
})
export interface Agents extends Schema.Schema.Type<typeof Agents> {}
