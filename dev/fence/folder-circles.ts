/**
 * Circles of folders: two neighbours, each with all that lies below it, that import each other, over any number of
 * steps. A folder and the files beside it in the folder above are one topic, and may import each other.
 */

export type Edge = readonly [from: string, to: string]

/** Where two paths part: the folder above, and the two neighbours in it. Undefined when one of them is a file there. */
const partingOf = ([from, to]: Edge) => {
  const [left, right] = [from.split("/"), to.split("/")]
  const at = left.findIndex((part, index) => part !== right[index])
  if (at < 0 || at >= left.length - 1 || at >= right.length - 1) return undefined
  const above = left.slice(0, at).join("/")
  return { above, from: left[at] ?? "", to: right[at] ?? "" }
}

/** One circle for each set of folders that are in circles with each other, from its first folder back to it. */
export const folderCircles = (edges: ReadonlyArray<Edge>): ReadonlyArray<ReadonlyArray<string>> => {
  const levels = new Map<string, Map<string, Set<string>>>()
  for (const edge of edges) {
    const parting = partingOf(edge)
    if (parting === undefined) continue
    const level = levels.get(parting.above) ?? new Map<string, Set<string>>()
    levels.set(parting.above, level)
    level.set(parting.from, (level.get(parting.from) ?? new Set()).add(parting.to))
  }
  return [...levels].flatMap(([above, level]) =>
    circlesOf(level).map((circle) => circle.map((folder) => (above === "" ? folder : `${above}/${folder}`)))
  )
}

const circlesOf = (level: ReadonlyMap<string, ReadonlySet<string>>) => {
  const circles: Array<ReadonlyArray<string>> = []
  const reported = new Set<string>()
  for (const folder of [...level.keys()].toSorted()) {
    if (reported.has(folder)) continue
    const circle = shortestBack(folder, level)
    if (circle === undefined) continue
    for (const member of circle) reported.add(member)
    circles.push(circle)
  }
  return circles
}

/** The shortest way from a folder back to itself, both ends named. */
const shortestBack = (start: string, level: ReadonlyMap<string, ReadonlySet<string>>) => {
  const cameFrom = new Map<string, string>()
  const waiting = [start]
  for (const folder of waiting) {
    for (const next of level.get(folder) ?? []) {
      if (next === start) return [start, ...wayTo(folder, start, cameFrom), start]
      if (cameFrom.has(next)) continue
      cameFrom.set(next, folder)
      waiting.push(next)
    }
  }
  return undefined
}

const wayTo = (folder: string, start: string, cameFrom: ReadonlyMap<string, string>) => {
  const way: Array<string> = []
  for (let at: string | undefined = folder; at !== undefined && at !== start; at = cameFrom.get(at)) way.unshift(at)
  return way
}
