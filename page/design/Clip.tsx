import { cloneElement, isValidElement, type ReactElement, type ReactNode } from "react"
import { printable, shown } from "./shown.ts"

/** As long a text may be too wide for its place: the keyboard can then come to it. */
const shortMax = 28

/** A text on one line of bounded width. What is cut is shown by a pointer over it, by the focus, and by a tap. */
export const Clip = ({ text: given }: { readonly text: string }) => {
  const text = printable(given)
  return text.length <= shortMax ? (
    text
  ) : (
    <span className="clip" title={text} tabIndex={0}>
      {text}
    </span>
  )
}

/** The same of a text in a cell or a badge, code as well; everything else keeps its own shape. */
export const clipped = (node: ReactNode): ReactNode => {
  if (typeof node === "string") return <Clip text={node} />
  if (!isValidElement(node) || node.type !== "code") return shown(node)
  const element = node as ReactElement<{ readonly children?: ReactNode }>
  const { children } = element.props
  return typeof children === "string" ? cloneElement(element, {}, <Clip text={children} />) : shown(node)
}
