/** A mutant: one small change of one file, which its tests should notice. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface Mutant {
  readonly file: string
  readonly line: number
  readonly operator: string
  /** The innermost function or constant with a name that it lies in. */
  readonly place: string
  /** The code before and after: its whole line where it lies in one. */
  readonly before: string
  readonly after: string
  readonly edit: Edit
}

/** A mutant without its offsets, by which a list can name it while lines above it come and go. */
export const keyOf = ({ file, place, operator, before, after }: Omit<Mutant, "line" | "edit">) =>
  [file, place, operator, before, after].join("\n")

export const mutatedText = (text: string, { start, end, text: put }: Edit) =>
  text.slice(0, start) + put + text.slice(end)

export const mutantAt = (
  file: string,
  text: string,
  { operator, place, edit }: Pick<Mutant, "operator" | "place" | "edit">
): Mutant => {
  const from = text.lastIndexOf("\n", edit.start - 1) + 1
  const next = text.indexOf("\n", Math.max(edit.start, edit.end))
  const to = next === -1 ? text.length : next
  const [head, tail] = [text.slice(from, edit.start), text.slice(edit.end, to)]
  return {
    file,
    line: text.slice(0, edit.start).split("\n").length,
    operator,
    place,
    before: onOneLine(text.slice(from, to)),
    after: onOneLine(head + edit.text + tail),
    edit
  }
}

const onOneLine = (code: string) => code.replaceAll(/\s+/gu, " ").trim()
