/**
 * Which tests try a mutant, and in which order: the nearest first, those beside
 * it in the tree, then the quickest. Pure.
 */
import { posix } from "node:path"
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
  /** How many of each project. */
  readonly testsMax: (project: string) => number
  /** How long each took before, where it is known. */
  readonly tookMs: ReadonlyMap<string, number>
}

/** Project by project in the order of `projects`. */
export const testsOf = (graph: ImportGraph, file: string, { projects, testsMax, tookMs }: Choice) => {
  const users = [...graph.usersOf(file)]
  const folder = `test/${posix.dirname(file)}/`
  const isElsewhere = (path: string) => Number(!path.startsWith(folder))
  const took = (path: string) => tookMs.get(path) ?? Number.MAX_VALUE
  return projects.flatMap((project) => {
    const found = users.flatMap(([path, steps]): ReadonlyArray<ChosenTest> =>
      projectOf(path) === project ? [{ path, project, steps }] : []
    )
    const sorted = found.toSorted(
      (one, other) =>
        one.steps - other.steps ||
        isElsewhere(one.path) - isElsewhere(other.path) ||
        took(one.path) - took(other.path) ||
        (one.path < other.path ? -1 : 1)
    )
    return sorted.slice(0, testsMax(project))
  })
}

/** How many tests of other projects use the file itself: a mutant that survives those asked may be noticed by them. */
export const unaskedOf = (graph: ImportGraph, file: string, projects: ReadonlyArray<string>): number =>
  [...graph.usersOf(file)].filter(([path, steps]) => {
    const project = projectOf(path)
    return steps === 1 && project !== undefined && !projects.includes(project)
  }).length
