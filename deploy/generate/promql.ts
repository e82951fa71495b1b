/** Series, groups and matchers in a PromQL expression. Sufficient for our own rules and boards. */

const words = new Set("by on without ignoring and or unless offset bool group_left group_right le inf nan".split(" "))

export interface Selector {
  readonly metric: string
  /** The labels that the series is narrowed by. */
  readonly labels: ReadonlyArray<string>
}

interface Found extends Selector {
  /** Where its matchers would stand, and those that it has. */
  readonly at: number
  readonly braces: string
}

const found = (expression: string): ReadonlyArray<Found> => {
  const plain = expression.replaceAll(/\b(?:by|on|without|ignoring) \([^()]*\)/gu, (text) => " ".repeat(text.length))
  const all: Array<Found> = []
  let [quotes, read] = [0, 0]
  for (const match of plain.matchAll(/(?<![\w:$])([A-Za-z_:][\w:]*)(?![\w:])(\{[^}]*\})?(?=(\s*\()?)/gu)) {
    const [, metric = "", braces = "", call] = match
    for (; read < match.index; read++) if (plain[read] === '"') quotes += 1
    const isQuoted = quotes % 2 === 1
    const isUnit = /\d/u.test(plain[match.index - 1] ?? "") && /^[smhdw]$/u.test(metric)
    if (call !== undefined || words.has(metric) || isUnit || isQuoted) continue
    const labels = [...braces.matchAll(/\b(\w+)\s*(?:=~|!~|!=|=)/gu)].map(([, label = ""]) => label)
    all.push({ metric, labels, at: match.index + metric.length, braces })
  }
  return all
}

/** The series that are read, each with the labels that it is narrowed by. */
export const selectorsOf = (expression: string): ReadonlyArray<Selector> =>
  found(expression).map(({ metric, labels }) => ({ metric, labels }))

/** The expression with further matchers on its series. */
export const narrowed = (expression: string, matchersOf: (metric: string) => ReadonlyArray<string>): string =>
  found(expression).reduceRight((text, { metric, at, braces }) => {
    const own = braces === "" ? [] : [braces.slice(1, -1)]
    const all = [...matchersOf(metric), ...own]
    if (all.length === 0) return text
    return `${text.slice(0, at)}{${all.join(",")}}${text.slice(at + braces.length)}`
  }, expression)

/** Labels that are grouped by, or that a result is matched on. */
export const groupLabelsOf = (expression: string): ReadonlyArray<string> => [
  ...new Set(
    [...expression.matchAll(/\b(?:by|on) \(([^()]*)\)/gu)].flatMap(([, list = ""]) =>
      list.split(",").flatMap((label) => (label.trim() === "" ? [] : [label.trim()]))
    )
  )
]
