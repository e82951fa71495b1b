import { type ComponentPropsWithRef, useState } from "react"

interface ButtonProps extends ComponentPropsWithRef<"button"> {
  /** `main` for the one act that a form or card is for; `danger` for what cannot be taken back. */
  readonly kind?: "main" | "plain" | "danger" | "bare"
}

export const Button = ({ kind = "plain", type = "button", className = "", ...rest }: ButtonProps) => (
  <button type={type} className={`button ${kind} ${className}`} {...rest} />
)

interface CopyProps {
  readonly text: string
  /** What is copied, for who cannot see what stands beside it. */
  readonly what: string
  readonly label?: string
}

/** Puts a text on the clipboard and says so. */
export const CopyButton = ({ text, what, label = "Copy" }: CopyProps) => {
  const [said, setSaid] = useState(label)
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid("Copied"),
      () => setSaid("Not allowed")
    )
  return (
    <Button kind="bare" aria-label={`${said}: ${what}`} onClick={copy} onBlur={() => setSaid(label)}>
      {said}
    </Button>
  )
}
