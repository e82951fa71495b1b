/** The elements of HTML: which end lines, which end others, and which are not read. */

export interface Attribute {
  readonly name: string
  readonly nameEnd: number
  value: string
  /** Of the value. */
  end: number
}

const namesIn = (names: string): ReadonlySet<string> => new Set(names.split(" "))

/** They have no content. */
export const empty = namesIn("area base br col embed hr img input link meta param source track wbr")

/** They begin and end lines. */
export const blocks = namesIn(
  "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure " +
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section " +
    "summary table tbody td tfoot th thead tr ul"
)

export const headings = ["h1", "h2", "h3", "h4", "h5", "h6"]
export const cells = ["td", "th"]
export const items = ["li", "dt", "dd"]

/** Elements that end without tags of their own: which ones begin, which end then, and beyond which none does. */
export const impliedEnds = [
  { begun: namesIn("li"), ended: namesIn("li"), barred: namesIn("ul ol menu") },
  { begun: namesIn("dt dd"), ended: namesIn("dt dd"), barred: namesIn("dl") },
  { begun: namesIn("td th"), ended: namesIn("td th"), barred: namesIn("table") },
  { begun: namesIn("tr"), ended: namesIn("tr"), barred: namesIn("table") },
  { begun: blocks, ended: namesIn("p head"), barred: blocks }
] as const

const unread = namesIn(
  "head title script style template noscript svg math audio video object iframe select textarea rt rp noembed noframes"
)
const unreadTypes = /(?:^|\s)(?:noteref|pagebreak|footnotes?|endnotes?|rearnotes?)(?:\s|$)/u
const unreadRoles = /(?:^|\s)doc-(?:noteref|pagebreak|footnote|endnotes?|toc)(?:\s|$)/u
const contents = /(?:^|\s)toc(?:\s|$)/u

/** What is hidden, what is no text of the book, and notes, which would stand in its middle. */
export const isUnread = (name: string, attributes: ReadonlyArray<Attribute>): boolean => {
  if (unread.has(name) || attributes.length === 0) return unread.has(name)
  const of = new Map(attributes.map((attribute) => [attribute.name, attribute.value]))
  const type = of.get("epub:type") ?? ""
  const isHidden = of.has("hidden") || of.get("aria-hidden") === "true"
  const isNote = unreadTypes.test(type) || unreadRoles.test(of.get("role") ?? "")
  return isHidden || isNote || (name === "nav" && contents.test(type))
}
