import { runbookIn } from "./runbook.ts"
import { runbooksText } from "./runbooks.ts"

const RunbookSteps = ({ heading }: { readonly heading: string }) => (
  <dl className="runbook-steps">
    {runbookIn(runbooksText, heading).map(({ label, parts }) => (
      <div key={label}>
        <dt>{label}</dt>
        <dd>{parts.map(({ text, isCode }, index) => (isCode ? <code key={index}>{text}</code> : text))}</dd>
      </div>
    ))}
  </dl>
)

export default RunbookSteps
