/**
 * Mutants that no test can notice, for what they change makes no difference: each with the reason. They are named by their
 * code, so that lines above may come and go; a test fails for one that no mutant answers to any more.
 */
import { keyOf, type Mutant } from "./mutant.ts"

export interface Equivalent extends Omit<Mutant, "line" | "edit"> {
  readonly reason: string
}

export const equivalents: ReadonlyArray<Equivalent> = []

const keys = new Set(equivalents.map(keyOf))

export const isEquivalent = (mutant: Mutant) => keys.has(keyOf(mutant))

/** Those of a list that none of the mutants is. */
export const goneOf = (list: ReadonlyArray<Equivalent>, mutants: ReadonlyArray<Mutant>) => {
  const made = new Set(mutants.map(keyOf))
  return list.filter((each) => !made.has(keyOf(each)))
}
