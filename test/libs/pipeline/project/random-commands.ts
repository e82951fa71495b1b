/** Any command of a project, except its creation. */
import type { ProjectCommand } from "#pipeline/contract"
import type { Dice } from "../../../support/random-ssml.ts"
import { pause, resume, spent, stale, update } from "./project-at-work.ts"

export const randomCommand = ({ below, of }: Dice): ProjectCommand =>
  of<ProjectCommand>([
    spent(below(140), of(["sweeper-1", "sweeper-1", "sweeper-2"])),
    spent(70 + below(40)),
    spent(70 + below(40)),
    pause,
    resume,
    update({ budgetMicroUsd: of([null, 50_000_000, 100_000_000, 100_000_000, 130_000_000]) }),
    stale(below(3), of(["aaa", "bbb"]), { epoch: of(["sweeper-1", "sweeper-2"]) })
  ])
