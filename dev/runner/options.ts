/** A runner's options at its start. Commands are lines for `sh`; the same one may serve all phases. Pure. */
import { hostname } from "node:os"
import { resolve } from "node:path"
import { type WorkItemPhase, workItemPhases } from "#pipeline/contract"

export interface RunnerOptions {
  /** Its name for items and operators; another runner may have the same. */
  readonly name: string
  /** The agent kinds it takes work for. */
  readonly agents: ReadonlyArray<string>
  readonly agentInstanceId: string | null
  readonly model: string | null
  readonly phases: ReadonlyArray<WorkItemPhase>
  /** Phases in hand at once, per agent kind. */
  readonly atOnce: number
  /** The folder of its clones; emptied when it starts, for everything that matters is upstream. */
  readonly folder: string
  /** For work, rework and delegation. */
  readonly work: string
  /** For each auditor of an audit. */
  readonly audit: string
  /** For files in conflict. */
  readonly resolve: string
  /** For a merge, or a resolved conflict, before it is pushed. */
  readonly verify: string
  /** The forge where pull requests are opened; undefined: the base branch is pushed to. */
  readonly forge: string | undefined
  /** How often the forge is asked for pull requests that can no longer be merged; 0: never. */
  readonly watchForgeMs: number
  /** How long a question for work may be kept waiting. */
  readonly waitMs: number
}

export const exampleAgent = `sh ${resolve(import.meta.dirname, "example-agent.sh")}`

/** The options as read from the command line. */
export interface RunnerFlags {
  readonly agent: ReadonlyArray<string>
  readonly instance: string | undefined
  readonly model: string | undefined
  readonly phase: ReadonlyArray<WorkItemPhase>
  readonly atOnce: number
  readonly name: string | undefined
  readonly folder: string | undefined
  readonly work: string | undefined
  readonly audit: string | undefined
  readonly resolve: string | undefined
  readonly verify: string | undefined
  readonly forge: string | undefined
  readonly watchForge: number
  readonly wait: number
  readonly nats: string | undefined
}

/** The options with their defaults filled in. */
export const runnerOptions = (given: RunnerFlags, home: string): RunnerOptions => ({
  name: given.name ?? `${hostname()}-${process.pid}`,
  agents: given.agent.length === 0 ? ["coder"] : given.agent,
  agentInstanceId: given.instance ?? null,
  model: given.model ?? null,
  phases: given.phase.length === 0 ? workItemPhases : given.phase,
  atOnce: given.atOnce,
  folder: resolve(given.folder ?? `${home}/runner`),
  work: given.work ?? exampleAgent,
  audit: given.audit ?? exampleAgent,
  resolve: given.resolve ?? exampleAgent,
  verify: given.verify ?? exampleAgent,
  forge: given.forge,
  watchForgeMs: given.watchForge,
  waitMs: given.wait
})
