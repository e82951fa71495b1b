import { Fragment, type ReactNode } from "react"
import { shown } from "./shown.ts"

interface FactsProps {
  /** Terms and what is true of them; one without a value is left out. */
  readonly facts: ReadonlyArray<readonly [term: string, value: ReactNode]>
}

export const Facts = ({ facts }: FactsProps) => (
  <dl>
    {facts.map(([term, value]) =>
      value === undefined || value === null ? null : (
        <Fragment key={term}>
          <dt>{term}</dt>
          <dd>{shown(value)}</dd>
        </Fragment>
      )
    )}
  </dl>
)
