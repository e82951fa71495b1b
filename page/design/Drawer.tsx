import { type ReactNode, useLayoutEffect, useRef } from "react"
import { Button } from "./Button.tsx"

interface DrawerProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** `drawer` beside the list that it belongs to, `wide` for two columns; `dialog` in the middle, for a question. */
  readonly kind?: "drawer" | "drawer wide" | "dialog"
}

/** A part of the page before the rest, which waits: the browser's own dialog keeps the focus in it, and Escape ends it. */
export const Drawer = ({ title, onClose, children, kind = "drawer" }: DrawerProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const isGone = useRef(false)
  // Closed while it still stands in the page, it gives the focus back to where it came from.
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    isGone.current = false
    return () => {
      isGone.current = true
      element?.close()
    }
  }, [])
  // A drawer that is left for another screen is told of its end too late: that screen stays.
  const close = () => {
    if (!isGone.current) onClose()
  }
  return (
    <dialog
      ref={dialog}
      className={kind}
      aria-label={title}
      onClose={close}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
    >
      <header className="drawer-head">
        <h2>{title}</h2>
        <Button kind="bare" onClick={onClose}>
          Close
        </Button>
      </header>
      <div className="drawer-body">{children}</div>
    </dialog>
  )
}
