import { Badge } from "../../design/Badge.tsx"
import type { Condition } from "./conditions.ts"
import { Runbook } from "./Runbook.tsx"

/** What is wrong now, each with the way to where it is mended, and its runbook. */
export const Conditions = ({ conditions }: { readonly conditions: ReadonlyArray<Condition> }) =>
  conditions.length === 0 ? null : (
    <ul className="conditions" aria-label="What needs attention">
      {conditions.map(({ title, advice, href, tone, runbook }) => (
        <li key={title} className={tone}>
          <Badge tone={tone}>{tone === "bad" ? "Wrong" : "Waits"}</Badge>
          <div>
            <a href={href}>{title}</a>
            <p>{advice}</p>
            {runbook === undefined ? null : <Runbook heading={runbook} />}
          </div>
        </li>
      ))}
    </ul>
  )
