/** A bare repository with one commit on `main`, as an upstream for runners; and a view of their results. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { storesFolder } from "../../dev/fixtures/stores.ts"

const author = ["-c", "user.name=test", "-c", "user.email=test@starling.invalid", "-c", "commit.gpgsign=false"]

const run = (folder: string, ...parameters: ReadonlyArray<string>) =>
  execFileSync("git", [...author, ...parameters], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

export interface TestRepositories {
  /** Holds `<name>.git` for each. */
  readonly folder: string
  readonly make: (name: string) => TestRepository
  readonly remove: () => void
}

export interface TestRepository {
  readonly url: string
  readonly git: (...parameters: ReadonlyArray<string>) => string
  /** Undefined: the branch has no such file. */
  readonly file: (branch: string, path: string) => string | undefined
  /** A third party commits a file to a branch. */
  readonly commit: (branch: string, path: string, text: string) => void
}

export const makeRepositories = (): TestRepositories => {
  const folder = mkdtempSync(join(storesFolder(), "starling-repositories-"))
  return { folder, make: (name) => makeRepository(folder, name), remove: () => rmSync(folder, { recursive: true }) }
}

const pushesMax = 20

/** Runners push to the same branch meanwhile: their commits come first. */
const pushAfterOthers = (clone: string, branch: string, pushes = 1): void => {
  try {
    run(clone, "push", "--quiet", "origin", branch)
  } catch (error) {
    if (pushes >= pushesMax) throw error
    run(clone, "pull", "--quiet", "--rebase", "origin", branch)
    pushAfterOthers(clone, branch, pushes + 1)
  }
}

const makeRepository = (folder: string, name: string): TestRepository => {
  const bare = join(folder, `${name}.git`)
  mkdirSync(bare)
  run(bare, "init", "--quiet", "--bare", "--initial-branch=main")
  // Nobody tidies it up, so each of the hundreds of pushes need not look whether it is time to.
  run(bare, "config", "receive.autogc", "false")
  const git = (...parameters: ReadonlyArray<string>) => run(bare, ...parameters).trim()
  const commit = (branch: string, path: string, text: string) => {
    const clone = mkdtempSync(join(folder, "clone-"))
    run(folder, "clone", "--quiet", bare, clone)
    if (git("branch", "--list", branch) !== "") run(clone, "checkout", "--quiet", branch)
    else run(clone, "checkout", "--quiet", "-B", branch)
    mkdirSync(join(clone, path, ".."), { recursive: true })
    writeFileSync(join(clone, path), text)
    run(clone, "add", "--all")
    run(clone, "commit", "--quiet", "-m", `Write ${path}`)
    pushAfterOthers(clone, branch)
    rmSync(clone, { recursive: true })
  }
  commit("main", "README.md", "What it is.\n")
  const file = (branch: string, path: string) => {
    try {
      return run(bare, "show", `${branch}:${path}`)
    } catch {
      return undefined
    }
  }
  return { url: `file://${bare}`, git, file, commit }
}
