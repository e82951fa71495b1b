/** Possible next commands of a release: mostly fitting its state, at times not. */
import type { ReleaseCommand, ReleaseState } from "#pipeline/contract"
import type { Dice } from "../../../support/random-ssml.ts"
import {
  abandon,
  add,
  begin,
  close,
  conflict,
  create,
  end,
  iterated,
  publish,
  remediation,
  reopen,
  returned
} from "./release-at-work.ts"

const onward: Record<string, ReadonlyArray<ReleaseCommand>> = {
  open: [add(1), add(2), add(3), close, close],
  closed: [begin],
  in_review: [publish],
  failed: [reopen],
  published: [],
  abandoned: []
}

export const randomCommand = (dice: Dice, held: ReleaseState | null): ReleaseCommand => {
  const { below, of } = dice
  if (held === null) return create
  const audit = iterated((held.deepAudit?.iteration ?? 0) + below(3), below(3), {
    auditId: of(["a1", "a2", null]),
    remediation: of([null, remediation(20 + below(20))])
  })
  const fitting = onward[held.state] ?? []
  if (fitting.length > 0 && below(4) === 0) return of(fitting)
  if (held.state === "in_review" && below(2) === 0 && audit.iteration > 0) return audit
  const number = 1 + below(30)
  return of<ReleaseCommand>([
    add(number),
    add(number),
    end(number, of(["done", "failed", "cancelled"])),
    end(1 + below(3), of(["done", "failed", "cancelled"])),
    returned(number),
    close,
    { ...begin, auditId: of(["a1", "a2"]) },
    audit.iteration > 0 ? audit : reopen,
    publish,
    reopen,
    below(10) === 0 ? abandon : conflict(`b${below(12)}`)
  ])
}
