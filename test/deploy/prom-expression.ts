/** The metrics and labels in a PromQL expression. Sufficient for our own rules. */

const words = new Set("by on without ignoring and or unless offset bool group_left group_right le inf nan".split(" "))

export interface Selector {
  readonly metric: string
  readonly labels: ReadonlyArray<string>
}

/** The series that are read, each with the labels that it is narrowed by. */
export const selectorsOf = (expression: string): ReadonlyArray<Selector> => {
  const plain = expression.replaceAll(/\b(?:by|on|without|ignoring) \([^)]*\)/gu, " ")
  const found: Array<Selector> = []
  for (const match of plain.matchAll(/(?<![\w:])([A-Za-z_:][\w:]*)(?![\w:])(\{[^}]*\})?(?=(\s*\()?)/gu)) {
    const [, metric = "", braces, call] = match
    const isUnit = /\d$/u.test(plain.slice(0, match.index)) && /^[smhdw]$/u.test(metric)
    if (call !== undefined || words.has(metric) || isUnit || isQuoted(plain, match.index)) continue
    found.push({
      metric,
      labels: [...(braces ?? "").matchAll(/(\w+)\s*(?:=~|!~|!=|=)/gu)].map(([, label = ""]) => label)
    })
  }
  return found
}

/** Labels that are grouped by, or that a result is matched on. */
export const groupLabelsOf = (expression: string): ReadonlyArray<string> => [
  ...new Set(
    [...expression.matchAll(/\b(?:by|on) \(([^)]*)\)/gu)].flatMap(([, list = ""]) =>
      list.split(",").flatMap((label) => (label.trim() === "" ? [] : [label.trim()]))
    )
  )
]

const isQuoted = (text: string, index: number) => (text.slice(0, index).split('"').length - 1) % 2 === 1
