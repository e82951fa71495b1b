import { useState } from "react"
import { Badge } from "../../design/Badge.tsx"
import { Button, CopyButton } from "../../design/Button.tsx"
import { Time } from "../../design/Time.tsx"
import type { Condition } from "./conditions.ts"
import { Runbook } from "./Runbook.tsx"

/** What is wrong now: since when, whom it hurts, the way to where it is mended, what to run, and its runbook. */
export const Conditions = ({ conditions, shownMax }: ConditionsProps) => {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? conditions : conditions.slice(0, shownMax)
  if (conditions.length === 0) return null
  return (
    <>
      <ul className="conditions" aria-label="What needs attention">
        {shown.map((condition) => (
          <Item key={condition.title} {...condition} />
        ))}
      </ul>
      {shown.length === conditions.length ? null : (
        <div>
          <Button onClick={() => setWhole(true)}>Show {conditions.length - shown.length} more</Button>
        </div>
      )}
    </>
  )
}

interface ConditionsProps {
  /** The worst first. */
  readonly conditions: ReadonlyArray<Condition>
  /** Those below are shown on demand: the rest of the page stays in sight. */
  readonly shownMax: number
}

const Item = ({
  title,
  advice,
  href,
  tone,
  since,
  isEffect = false,
  reasons = [],
  commands = [],
  runbook
}: Condition) => {
  const run = commands.length === 0 || isEffect ? null : <Commands commands={commands} />
  return (
    <li className={isEffect ? `${tone} effect` : tone}>
      <Badge tone={tone}>{isEffect ? "Consequence" : tone === "bad" ? "Critical" : "Warning"}</Badge>
      <div>
        <a href={href}>{title}</a>
        <p>
          {advice}
          {since === undefined ? null : (
            <>
              {" "}
              Since <Time at={since} />.
            </>
          )}
        </p>
        {reasons.length === 0 ? null : (
          <ul className="reasons" aria-label="What the processes say">
            {reasons.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        )}
        {tone === "bad" || runbook === undefined ? run : null}
        {runbook === undefined ? null : <Runbook {...runbook}>{tone === "bad" ? null : run}</Runbook>}
      </div>
    </li>
  )
}

const Commands = ({ commands }: { readonly commands: ReadonlyArray<string> }) => (
  <ul className="commands" aria-label="What to run">
    {commands.map((command) => (
      <li key={command}>
        <code>{command}</code>
        <CopyButton text={command} what={command} />
      </li>
    ))}
  </ul>
)
