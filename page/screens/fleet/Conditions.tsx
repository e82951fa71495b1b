import { Badge } from "../../design/Badge.tsx"
import type { Condition } from "./conditions.ts"

/** What is wrong now, each with the way to where it is mended. */
export const Conditions = ({ conditions }: { readonly conditions: ReadonlyArray<Condition> }) =>
  conditions.length === 0 ? null : (
    <ul className="conditions" aria-label="What needs a hand">
      {conditions.map(({ title, advice, href, tone }) => (
        <li key={title} className={tone}>
          <Badge tone={tone}>{tone === "bad" ? "Wrong" : "Waits"}</Badge>
          <div>
            <a href={href}>{title}</a>
            <p>{advice}</p>
          </div>
        </li>
      ))}
    </ul>
  )
