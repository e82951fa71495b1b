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
      <svg aria-hidden="true" viewBox="0 0 12 12" width="10" height="10" fill="none" stroke="currentColor">
        <rect x="0.5" y="3.5" width="8" height="8" rx="1" />
        <path d="M3.5 3V1.5a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H9" />
      </svg>
    </button>
  )
}
