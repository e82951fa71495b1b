/** The lines of the tree that a diff of git adds or changes. */
import { execFileSync } from "node:child_process"

export type ChangedLines = ReadonlyMap<string, ReadonlySet<number>>

/** From what `git diff --unified=0` prints. Pure. */
export const linesIn = (diff: string): ChangedLines => {
  const found = new Map<string, Set<number>>()
  let file: string | undefined
  for (const line of diff.split("\n")) {
    if (line.startsWith("+++ ")) file = line.startsWith("+++ b/") ? line.slice("+++ b/".length) : undefined
    const [, start, count = "1"] = /^@@ [^+]*\+(\d+)(?:,(\d+))? @@/u.exec(line) ?? []
    if (file === undefined || start === undefined) continue
    const lines = found.get(file) ?? new Set<number>()
    for (let at = 0; at < Number(count); at += 1) lines.add(Number(start) + at)
    found.set(file, lines)
  }
  return found
}

const git = (...words: ReadonlyArray<string>) => execFileSync("git", words, { encoding: "utf8", maxBuffer: 1e8 })

/** What is mutated where no room is named. */
const tops = ["libs", "services"]

/** Since the work left `since`, what is not committed too; whole files that git does not know yet. */
export const changedLines = (since: string): ChangedLines => {
  const base = git("merge-base", since, "HEAD").trim()
  const known = linesIn(git("diff", "--unified=0", "--no-color", "--no-ext-diff", base, "--", ...tops))
  const added = git("ls-files", "--others", "--exclude-standard", "--", ...tops).split("\n")
  const everyLine = new Set(Array.from({ length: 10_000 }, (_, at) => at + 1))
  return new Map([...known, ...added.filter((file) => file !== "").map((file) => [file, everyLine] as const)])
}

/** The first of them that git knows. */
export const firstKnown = (references: ReadonlyArray<string>) =>
  references.find((reference) => {
    try {
      return git("rev-parse", "--verify", "--quiet", `${reference}^{commit}`) !== ""
    } catch {
      return false
    }
  })
