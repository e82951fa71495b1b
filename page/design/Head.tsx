import type { ReactNode } from "react"
import { printable } from "./shown.ts"

interface HeadProps {
  readonly title: string
  /** What stands beside the title: states, and what can be done. */
  readonly children?: ReactNode
}

export const Head = ({ title, children }: HeadProps) => (
  <div className="room-head">
    <h1>{printable(title)}</h1>
    {children}
  </div>
)

interface TabsProps {
  readonly label: string
  readonly tabs: ReadonlyArray<{ readonly title: string; readonly href: string; readonly isHere: boolean }>
}

/** The sub-addresses of a screen. */
export const Tabs = ({ label, tabs }: TabsProps) => (
  <nav className="tabs" aria-label={label}>
    {tabs.map(({ title, href, isHere }) => (
      <a key={href} href={href} aria-current={isHere ? "page" : undefined}>
        {title}
      </a>
    ))}
  </nav>
)
