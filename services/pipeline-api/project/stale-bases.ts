/**
 * Pull requests that their base has left behind: told once for each head in each run of the process that looks.
 * What was told is remembered up to a bound; beyond it the oldest may be told again, which receivers must bear anyway.
 */
import { type ProjectFactOf, staleBasesMax } from "#contracts"
import { type Deciders, decided, type Evolvers, nothing } from "./decisions.ts"

type Found = Pick<ProjectFactOf<"StaleBaseFound">, "pullRequestNumber" | "headSha">

const keyOf = ({ pullRequestNumber, headSha }: Found) => `${pullRequestNumber}:${headSha}`

export const staleBaseDeciders = {
  ReportStaleBase: ({ staleBases }, command) =>
    staleBases.epoch === command.epoch && staleBases.told.includes(keyOf(command))
      ? nothing
      : decided({ ...command, _tag: "StaleBaseFound" })
} satisfies Partial<Deciders>

export const staleBaseEvolvers = {
  StaleBaseFound: ({ staleBases }, fact) => ({
    staleBases: {
      epoch: fact.epoch,
      told: [...(staleBases.epoch === fact.epoch ? staleBases.told : []), keyOf(fact)].slice(-staleBasesMax)
    }
  })
} satisfies Partial<Evolvers>
