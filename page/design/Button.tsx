import { type ComponentPropsWithRef, useId, useState } from "react"

interface ButtonProps extends ComponentPropsWithRef<"button"> {
  /** `main` for the one act that a form or card is for; `danger` for what cannot be taken back. */
  readonly kind?: "main" | "plain" | "danger" | "bare"
  /** Why it does nothing now. It still takes the focus, which shows the reason, as a pointer over it does. */
  readonly notNow?: string | undefined
}

export const Button = ({ kind = "plain", type = "button", className = "", notNow, ...rest }: ButtonProps) => {
  const classes = `button ${kind} ${className}`
  return notNow === undefined ? (
    <button type={type} className={classes} {...rest} />
  ) : (
    <Waiting notNow={notNow} type={type} className={classes} {...rest} />
  )
}

const Waiting = ({ notNow, ...rest }: ButtonProps) => {
  const id = useId()
  const anchor = `--${id}`
  return (
    <>
      <button
        {...rest}
        disabled={false}
        aria-disabled
        aria-describedby={id}
        style={{ anchorName: anchor }}
        // It submits no form either.
        onClick={(event) => event.preventDefault()}
      />
      <span id={id} role="tooltip" className="why" style={{ positionAnchor: anchor }}>
        {notNow}
      </span>
    </>
  )
}

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
