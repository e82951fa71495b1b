import { useId } from "react"
import { CopyButton } from "./Button.tsx"
import { errorCodeOf } from "./error-code.ts"
import { printable } from "./shown.ts"

/** An error as a short code; a click shows all of its text. */
export const Code = ({ text, code = errorCodeOf(text) }: { readonly text: string; readonly code?: string }) => {
  const id = useId()
  const words = printable(text)
  if (words === code) return <code>{code}</code>
  return (
    <>
      <button type="button" className="code" popoverTarget={id} title={words} aria-label={`${code}: show the error`}>
        {code}
      </button>
      <span id={id} popover="auto" className="code-text" role="dialog" aria-label={`Error ${code}`}>
        <span className="as-code">{words}</span>
        <CopyButton text={text} what="the error" />
      </span>
    </>
  )
}
