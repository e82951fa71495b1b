/** A JSON value as a tree that opens and closes; large lists open in steps. */
import { useState } from "react"
import { Button } from "./Button.tsx"
import { printable } from "./shown.ts"

const stepCount = 50

interface JsonProps {
  readonly value: unknown
  readonly name?: string
  /** How many levels stand open at first. */
  readonly openLevels?: number
}

export const Json = ({ value, name, openLevels = 2 }: JsonProps) => {
  const [shownMax, setShownMax] = useState(stepCount)
  if (typeof value !== "object" || value === null) return <Leaf name={name} value={value} />
  const entries = Object.entries(value)
  const shape = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`
  return (
    <details className="json" open={openLevels > 0}>
      <summary>
        {name === undefined ? null : <span className="json-name">{printable(name)} </span>}
        <span className="json-shape">{shape}</span>
      </summary>
      {entries.slice(0, shownMax).map(([key, inner]) => (
        <Json key={key} name={key} value={inner} openLevels={openLevels - 1} />
      ))}
      {entries.length <= shownMax ? null : (
        <Button kind="bare" onClick={() => setShownMax(shownMax + stepCount)}>
          {entries.length - shownMax} more
        </Button>
      )}
    </details>
  )
}

const Leaf = ({ name, value }: { readonly name: string | undefined; readonly value: unknown }) => (
  <div className="json-leaf">
    {name === undefined ? null : <span className="json-name">{printable(name)} </span>}
    <span className={`json-${value === null ? "null" : typeof value}`}>{printable(JSON.stringify(value))}</span>
  </div>
)
