/**
 * Runs an agent: a command in the item's clone, which reads its task from its environment. An agent that prints nothing
 * for too long is stuck and is killed. Its exit code follows the system's own codes: 0 success, 75 a failure that may
 * pass, 77 access refused, any other a failure. Its spending is noted as it reports it.
 */
import { Clock, Effect } from "effect"
import type { PickupDispatch } from "#pipeline/contract"
import { type AgentLine, readAgentLine } from "./agent-lines.ts"
import type { Workspace } from "./git/workspace.ts"
import { plainEnvironment, runProcess } from "./run-process.ts"
import type { Spending } from "./spending.ts"

export type AgentEnd = { readonly lines: ReadonlyArray<AgentLine>; readonly complaint: string } & (
  | { readonly _tag: "Well" | "Badly" | "Passing" | "NotLetIn" }
  | { readonly _tag: "Stuck"; readonly seconds: number }
)

// More than any report may hold; further lines of an agent are dropped.
const linesMax = 1_000
const stuckPollsPerWait = 4

const ends: Readonly<Record<number, "Well" | "Passing" | "NotLetIn">> = { 0: "Well", 75: "Passing", 77: "NotLetIn" }

export const runAgent = Effect.fn("runAgent")(function* (
  command: string,
  { dispatch, spending }: { readonly dispatch: PickupDispatch; readonly spending: Spending },
  workspace: Workspace,
  more: Readonly<Record<string, string>> = {}
): Effect.fn.Return<AgentEnd> {
  const lines: Array<AgentLine> = []
  let lastOutputMs = yield* Clock.currentTimeMillis
  const clock = yield* Clock.Clock
  const onLine = (text: string) => {
    lastOutputMs = clock.currentTimeMillisUnsafe()
    const line = readAgentLine(text)
    if (line?.type === "usage") {
      const { type: _type, ...usage } = line
      return spending.add(usage)
    }
    if (line !== undefined && lines.length < linesMax) lines.push(line)
  }
  const running = runProcess({
    program: "sh",
    parameters: ["-c", command],
    folder: workspace.folder,
    environment: { ...plainEnvironment(), ...dispatchVariables(dispatch, workspace), ...more },
    onLine
  }).pipe(Effect.map(({ code, complaint }): AgentEnd => ({ _tag: ends[code ?? 1] ?? "Badly", lines, complaint })))
  const silence = Effect.gen(function* () {
    while (true) {
      yield* Effect.sleep(Math.ceil(dispatch.stuckAfterMs / stuckPollsPerWait))
      const silentMs = (yield* Clock.currentTimeMillis) - lastOutputMs
      const seconds = Math.ceil(silentMs / 1_000)
      if (silentMs >= dispatch.stuckAfterMs) return { _tag: "Stuck", seconds, lines, complaint: "" } satisfies AgentEnd
    }
  })
  return yield* Effect.raceFirst(running, silence)
})

const dispatchVariables = (dispatch: PickupDispatch, { notes, upstream, baseBranch, workBranch }: Workspace) => ({
  STARLING_PHASE: dispatch.phase,
  STARLING_ITERATION: String(dispatch.iteration),
  STARLING_KIND: dispatch.kind,
  STARLING_WORK_ITEM: dispatch.workItem.id,
  STARLING_TITLE: dispatch.workItem.title,
  STARLING_INSTRUCTIONS: dispatch.instructions ?? "",
  STARLING_AGENT: dispatch.agent,
  STARLING_UPSTREAM: upstream,
  STARLING_BASE_BRANCH: baseBranch,
  STARLING_WORK_BRANCH: workBranch,
  /** The answers to its questions, word for word. */
  STARLING_REPLIES: JSON.stringify(dispatch.replies),
  /** The findings of the audit before. */
  STARLING_FINDINGS: JSON.stringify(dispatch.findings),
  STARLING_NOTES: notes,
  STARLING_RUNNER_PID: String(process.pid)
})
