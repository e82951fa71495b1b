/**
 * Text from outside on the page. A character that changes the direction of text shows another name than the one that is
 * there, and a control character nothing; they are shown as JSON escapes them, as on a terminal. Pure.
 */
import { Children, cloneElement, Fragment, isValidElement, type ReactElement, type ReactNode } from "react"

const controls = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029"
const directions = "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"
const unprintable = new RegExp(`[${controls}${directions}\\p{Cs}]`, "gu")

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

export const printable = (text: string): string => text.replaceAll(unprintable, escaped)

type Holder = ReactElement<{ readonly children?: ReactNode }>

/** The same of every text in a node, down to components, which show their own. */
export const shown = (node: ReactNode): ReactNode => {
  if (typeof node === "string") return printable(node)
  if (Array.isArray(node)) return Children.map(node, shown)
  if (!isValidElement(node) || (typeof node.type !== "string" && node.type !== Fragment)) return node
  const { children } = (node as Holder).props
  return children === undefined ? node : cloneElement(node as Holder, {}, Children.map(children, shown))
}
