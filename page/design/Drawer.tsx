import { type ReactNode, useLayoutEffect, useRef } from "react"
import { Button } from "./Button.tsx"

interface DrawerProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** `drawer` beside the list that it belongs to, `wide` for two columns; `dialog` in the middle, for a question. */
  readonly kind?: "drawer" | "drawer wide" | "dialog"
}

/** What somebody fills in or chooses from. */
const fields = "input:enabled, select:enabled, textarea:enabled"

/** The first field that can be seen, where there is a form to fill in; one within closed details has no place. */
const firstField = (dialog: Element) =>
  [...dialog.querySelectorAll("form")].some((form) => form.checkVisibility())
    ? [...dialog.querySelectorAll<HTMLElement>(fields)].find((field) => field.checkVisibility())
    : undefined

/**
 * A form is opened to be filled in: its first field gets the focus, once it is there. Anything else is opened to be read,
 * from its title on. Who has moved on meanwhile is left where they are.
 */
const placeFocus = (dialog: HTMLDialogElement) => {
  const title = dialog.querySelector<HTMLElement>("h2")
  title?.focus()
  const place = () => {
    const field = firstField(dialog)
    field?.focus()
    if (field !== undefined || document.activeElement !== title) waits.disconnect()
  }
  const waits = new MutationObserver(place)
  waits.observe(dialog, { childList: true, subtree: true })
  place()
  return waits
}

/** A part of the page before the rest, which waits: the browser's own dialog keeps the focus in it, and Escape ends it. */
export const Drawer = ({ title, onClose, children, kind = "drawer" }: DrawerProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const isGone = useRef(false)
  // Closed while it still stands in the page, it gives the focus back to where it came from.
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    const waits = element === null ? undefined : placeFocus(element)
    isGone.current = false
    return () => {
      isGone.current = true
      waits?.disconnect()
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
      onClose={({ target, currentTarget }) => {
        // The end of a question before the drawer is none of the drawer: React passes it on to here.
        if (target === currentTarget) close()
      }}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        close()
      }}
    >
      <header className="drawer-head">
        <h2 tabIndex={-1}>{title}</h2>
        <Button kind="bare" onClick={onClose}>
          Close
        </Button>
      </header>
      <div className="drawer-body">{children}</div>
    </dialog>
  )
}
