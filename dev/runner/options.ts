/**
 * What a runner is told when it starts, and the command line it is told by. Commands are lines for `sh`; the same one
 * may serve all phases, for it is told which it is in.
 */
import { hostname } from "node:os"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { Schema } from "effect"
import { type WorkItemPhase, workItemPhases } from "#contracts"

export interface RunnerOptions {
  /** As items and operators see it; another of the same name may run. */
  readonly name: string
  /** The agent kinds it takes work for. */
  readonly agents: ReadonlyArray<string>
  readonly agentInstanceId: string | null
  readonly model: string | null
  readonly phases: ReadonlyArray<WorkItemPhase>
  /** Phases in hand at once, per agent kind. */
  readonly atOnce: number
  /** Its clones; emptied when it starts, for all that matters is upstream. */
  readonly folder: string
  /** For work, rework and delegation. */
  readonly work: string
  /** For each auditor of an audit. */
  readonly audit: string
  /** For files in conflict. */
  readonly resolve: string
  /** For what is about to be merged. */
  readonly verify: string
  /** Where pull requests are opened; undefined: the base branch is pushed to. */
  readonly forge: string | undefined
  /** How often the forge is asked for pull requests that cannot be merged any more; 0: never. */
  readonly watchForgeMs: number
  /** How long an ask for work may be kept waiting. */
  readonly waitMs: number
}

export const exampleAgent = `sh ${resolve(import.meta.dirname, "example-agent.sh")}`

const usage = `usage: ./starling runner [options]
  --agent KIND        an agent kind to take work for, again for more of them  (coder)
  --instance ID       which instance of it
  --model NAME        the model that is run
  --phase PHASE       take only this phase, again for more of them  (all)
  --at-once N         phases in hand at once, 1 to 256, per agent kind  (4)
  --name NAME         how it is called  (host and process)
  --folder F          where it works; what is in there goes  (.starling/runner)
  --work COMMAND      works, reworks, takes delegations  (the example agent)
  --audit COMMAND     is run for each auditor  (the example agent)
  --resolve COMMAND   resolves conflicts  (the example agent)
  --verify COMMAND    passes what is about to be merged  (the example agent)
  --forge URL         open pull requests there instead of pushing to the base branch
  --watch-forge MS    report pull requests that cannot be merged, looking so often  (0: do not look)
  --wait MS           how long to wait for work in one ask, up to 30000  (10000)
  --nats URL          the broker  (NATS_URL, else the fleet of this home)`

export class BadOptions extends Schema.TaggedError<BadOptions>()("BadOptions", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

const number = (given: string, name: string, minimum: number, maximum: number) => {
  const value = Number(given)
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value
  throw new BadOptions({ reason: `--${name} is a whole number from ${minimum} to ${maximum}` })
}

const isPhase = (name: string): name is WorkItemPhase => (workItemPhases as ReadonlyArray<string>).includes(name)

const phasesOf = (given: ReadonlyArray<string> | undefined): ReadonlyArray<WorkItemPhase> => {
  const unknown = given?.find((name) => !isPhase(name))
  if (unknown !== undefined) {
    throw new BadOptions({ reason: `--phase is one of ${workItemPhases.join(", ")}, not ${unknown}` })
  }
  return given?.filter(isPhase) ?? workItemPhases
}

/** Reads a command line. Throws `BadOptions` with a text for people. */
export const readOptions = (
  parameters: ReadonlyArray<string>,
  home: string
): { readonly options: RunnerOptions; readonly nats: string | undefined } => {
  const { values } = parse(parameters)
  const command = (given: string | undefined) => given ?? exampleAgent
  const options: RunnerOptions = {
    name: values.name ?? `${hostname()}-${process.pid}`,
    agents: values.agent ?? ["coder"],
    agentInstanceId: values.instance ?? null,
    model: values.model ?? null,
    phases: phasesOf(values.phase),
    atOnce: number(values["at-once"], "at-once", 1, 256),
    folder: resolve(values.folder ?? `${home}/runner`),
    work: command(values.work),
    audit: command(values.audit),
    resolve: command(values.resolve),
    verify: command(values.verify),
    forge: values.forge,
    watchForgeMs: number(values["watch-forge"], "watch-forge", 0, 3_600_000),
    waitMs: number(values.wait, "wait", 0, 30_000)
  }
  return { options, nats: values.nats }
}

const parse = (parameters: ReadonlyArray<string>) => {
  const text = { type: "string" } as const
  const texts = { type: "string", multiple: true } as const
  try {
    return parseArgs({
      args: [...parameters],
      options: {
        agent: texts,
        instance: text,
        model: text,
        phase: texts,
        "at-once": { type: "string", default: "4" },
        name: text,
        folder: text,
        work: text,
        audit: text,
        resolve: text,
        verify: text,
        forge: text,
        "watch-forge": { type: "string", default: "0" },
        wait: { type: "string", default: "10000" },
        nats: text
      }
    })
  } catch (error) {
    throw new BadOptions({ reason: `${error instanceof Error ? error.message : String(error)}\n\n${usage}` })
  }
}
