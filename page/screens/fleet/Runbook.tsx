/** What to do about a condition, beside it. */
import type { ReactNode } from "react"
import { partsOf } from "./runbook.ts"
import type { Condition } from "./conditions.ts"

type RunbookProps = NonNullable<Condition["runbook"]> & {
  /** What is to be run, before its words. */
  readonly children?: ReactNode
}

export const Runbook = ({ means, lookAt, act, children }: RunbookProps) => (
  <details className="runbook">
    <summary>Runbook</summary>
    {children}
    <dl className="runbook-steps">
      <Step label="Means" words={means} />
      <Step label="Look at" words={lookAt} />
      <Step label="Do" words={act} />
    </dl>
  </details>
)

const Step = ({ label, words }: { readonly label: string; readonly words: string }) => (
  <div>
    <dt>{label}</dt>
    <dd>{partsOf(words).map(({ text, isCode }, index) => (isCode ? <code key={index}>{text}</code> : text))}</dd>
  </div>
)
