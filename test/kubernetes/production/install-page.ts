/** docs/install-kubernetes.md: its charts and its commands, as it has them. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../cluster.ts"

const readPage = () => readFileSync(join(root, "docs/install-kubernetes.md"), "utf8")

const indent = "    "

/** The indented lines below a heading, whose number may be left out. Pure. */
export const commandsIn = (page: string, heading: string): string => {
  const lines = page.split("\n")
  const isHeading = (line: string) => /^#+ /u.test(line)
  const begins = lines.findIndex((line) => isHeading(line) && line.replace(/^#+ (?:\d+\. )?/u, "") === heading)
  if (begins === -1) throw new Error(`the page has no heading ${heading}`)
  const below = lines.slice(begins + 1)
  const ends = below.findIndex(isHeading)
  const commands = below
    .slice(0, ends === -1 ? below.length : ends)
    .filter((line) => line === "" || line.startsWith(indent))
    .map((line) => line.slice(indent.length))
    .join("\n")
    .trim()
  if (commands === "") throw new Error(`the page has no commands under ${heading}`)
  return `${commands}\n`
}

export interface Chart {
  /** The name by which helm installs it: `nats/nack`. */
  readonly name: string
  /** As `helm pull` calls it: `nack-0.34.0.tgz`. */
  readonly file: string
}

/** The charts that are installed by their version. Pure. */
export const chartsIn = (page: string): ReadonlyArray<Chart> => {
  const found = [...page.matchAll(/helm install \S+ (\S+) --version (\S+)/gu)].map(([, name = "", version = ""]) => ({
    name,
    file: `${name.slice(name.lastIndexOf("/") + 1)}-${version}.tgz`
  }))
  return found.filter(({ name }, at) => found.findIndex((other) => other.name === name) === at)
}

export const commandsOf = (heading: string) => commandsIn(readPage(), heading)
export const charts = () => chartsIn(readPage())
