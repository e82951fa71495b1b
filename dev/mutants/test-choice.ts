/** Which tests try a mutant, and in which order: the nearest first, then the quickest. Pure. */
import type { ImportGraph } from "./import-graph.ts"

export interface ChosenTest {
  readonly path: string
  readonly project: string
  /** Imports between the test and the changed file. */
  readonly steps: number
}

const rings: Readonly<Record<string, string>> = { thorough: "thorough", integration: "processes" }

/** The project of a test file by its name; undefined for what starts other processes, which no mutant reaches. */
export const projectOf = (path: string) => {
  const [, ring] = /^test\/[^.]+(?:\.(\w+))?\.test\.ts$/u.exec(path) ?? []
  if (ring !== undefined) return rings[ring]
  return path.endsWith(".test.ts") ? "unit" : undefined
}

export interface Choice {
  readonly projects: ReadonlyArray<string>
  readonly testsMax: number
  /** How long each took before, where it is known. */
  readonly tookMs: ReadonlyMap<string, number>
}

/** Project by project in the order of `projects`. */
export const testsOf = (graph: ImportGraph, file: string, { projects, testsMax, tookMs }: Choice) => {
  const found = [...graph.usersOf(file)].flatMap(([path, steps]): ReadonlyArray<ChosenTest> => {
    const project = projectOf(path)
    return project !== undefined && projects.includes(project) ? [{ path, project, steps }] : []
  })
  const rank = ({ project }: ChosenTest) => projects.indexOf(project)
  const took = ({ path }: ChosenTest) => tookMs.get(path) ?? Number.MAX_VALUE
  return found
    .toSorted(
      (one, other) =>
        rank(one) - rank(other) ||
        one.steps - other.steps ||
        took(one) - took(other) ||
        (one.path < other.path ? -1 : 1)
    )
    .slice(0, testsMax)
}
