/** Git, run as a person would: never prompts, signs nothing, commits as the runner. */
import { Effect, Schema } from "effect"
import { plainEnvironment, runProcess } from "../run-process.ts"

/** `isRemote`: the upstream repository was involved, so a retry may succeed. */
export class GitFailed extends Schema.TaggedError<GitFailed>()("GitFailed", {
  command: Schema.String,
  detail: Schema.String,
  isRemote: Schema.Boolean
}) {
  override get message() {
    return `git ${this.command}: ${this.detail}`
  }
}

const remoteCommands = new Set(["clone", "fetch", "push", "ls-remote"])
// A clone lives as long as its item: git need not even look whether it wants tidying, which is a process of its own.
const settings = ["gc.auto=0", "maintenance.auto=false", "commit.gpgsign=false", "advice.detachedHead=false"].flatMap(
  (setting) => ["-c", setting]
)

const identity = {
  GIT_AUTHOR_NAME: "Starling runner",
  GIT_AUTHOR_EMAIL: "runner@starling.invalid",
  GIT_COMMITTER_NAME: "Starling runner",
  GIT_COMMITTER_EMAIL: "runner@starling.invalid"
}

/** Returns with any exit code of git's. */
export const tryGit = (folder: string, ...parameters: ReadonlyArray<string>) =>
  runProcess({
    program: "git",
    parameters: [...settings, ...parameters],
    folder,
    environment: { ...plainEnvironment(), ...identity, LC_ALL: "C", GIT_TERMINAL_PROMPT: "0" }
  })

/** Returns git's output without the last line's end. */
export const git = Effect.fnUntraced(function* (folder: string, ...parameters: ReadonlyArray<string>) {
  const { code, output, complaint } = yield* tryGit(folder, ...parameters)
  if (code === 0) return output.trimEnd()
  const [command = ""] = parameters
  const detail = complaint === "" ? `ended with ${code ?? "a signal"}` : complaint
  return yield* new GitFailed({ command, detail, isRemote: remoteCommands.has(command) })
})

/** The commit that a name stands for; undefined when there is no such name. */
export const commitOf = Effect.fnUntraced(function* (folder: string, name: string) {
  const { code, output } = yield* tryGit(folder, "rev-parse", "--verify", "--quiet", `${name}^{commit}`)
  return code === 0 ? output.trim() : undefined
})
