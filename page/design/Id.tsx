import { useState } from "react"
import { shortened } from "./shortened.ts"
import { printable } from "./shown.ts"

interface IdProps {
  readonly text: string
  /** What it is of, as `payer`. */
  readonly what: string
}

/** A long id, shortened in its middle; a click copies all of it. */
export const Id = ({ text, what }: IdProps) => {
  const [said, setSaid] = useState<string>()
  const short = printable(shortened(text))
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid("copied"),
      () => setSaid("not allowed")
    )
  return (
    <button
      type="button"
      className="id"
      title={printable(text)}
      aria-label={`${short}: ${said ?? "copy"} ${what}`}
      onClick={() => void copy()}
      onBlur={() => setSaid(undefined)}
    >
      <code>{said ?? short}</code>
      <span aria-hidden="true">⧉</span>
    </button>
  )
}
