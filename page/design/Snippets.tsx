import { useState } from "react"
import { Button, CopyButton } from "./Button.tsx"
import type { Snippet } from "./snippet.ts"

/** The same call in several languages, to be copied. */
export const Snippets = ({
  label,
  snippets
}: {
  readonly label: string
  readonly snippets: ReadonlyArray<Snippet>
}) => {
  const [chosen, setChosen] = useState(snippets[0]?.title)
  const shown = snippets.find(({ title }) => title === chosen) ?? snippets[0]
  if (shown === undefined) return null
  return (
    <section className="snippets" aria-label={label}>
      <div className="snippets-head">
        <h2>{label}</h2>
        {snippets.map(({ title }) => (
          <Button key={title} kind="bare" aria-pressed={title === shown.title} onClick={() => setChosen(title)}>
            {title}
          </Button>
        ))}
        <CopyButton text={shown.code} what={`${label}, ${shown.title}`} />
      </div>
      <pre tabIndex={0}>
        <code>{shown.code}</code>
      </pre>
    </section>
  )
}
