import { Badge } from "../../design/Badge.tsx"
import { Time } from "../../design/Time.tsx"
import type { Condition } from "./conditions.ts"
import { Runbook } from "./Runbook.tsx"

/** What is wrong now: since when, whom it hurts, the way to where it is mended, what to run, and its runbook. */
export const Conditions = ({ conditions }: { readonly conditions: ReadonlyArray<Condition> }) =>
  conditions.length === 0 ? null : (
    <ul className="conditions" aria-label="What needs attention">
      {conditions.map((condition) => (
        <Item key={condition.title} {...condition} />
      ))}
    </ul>
  )

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
}: Condition) => (
  <li className={isEffect ? `${tone} effect` : tone}>
    <Badge tone={tone}>{isEffect ? "Follows" : tone === "bad" ? "Wrong" : "Waits"}</Badge>
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
      {commands.length === 0 || isEffect ? null : (
        <ul className="commands" aria-label="What to run">
          {commands.map((command) => (
            <li key={command}>
              <code>{command}</code>
            </li>
          ))}
        </ul>
      )}
      {runbook === undefined ? null : <Runbook {...runbook} />}
    </div>
  </li>
)
