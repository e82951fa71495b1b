/** What to do about a condition, beside it. The document is loaded when the first one is opened. */
import { lazy, Suspense, useState } from "react"
import { Loading } from "../../design/Said.tsx"

const Steps = lazy(() => import("./RunbookSteps.tsx"))

export const Runbook = ({ heading }: { readonly heading: string }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="runbook" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Runbook</summary>
      {isOpen ? (
        <Suspense fallback={<Loading what="the runbook" />}>
          <Steps heading={heading} />
        </Suspense>
      ) : null}
    </details>
  )
}
