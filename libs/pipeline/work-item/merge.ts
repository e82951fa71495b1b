/** The merge into the base branch: done, failed, or in conflict, which is a concern of its own. */
import { conflicted } from "./conflicts.ts"
import { type EventsByFact, decided, type Evolvers, type InHandDeciders, refused } from "./decisions.ts"
import { branches } from "./dispatch.ts"
import { itemEvent } from "./envelope.ts"
import { failing } from "./failures.ts"
import { readyFor } from "./phases.ts"

export const mergeDeciders = {
  "merge-ended": (item, { outcome, mergeSha, reason }, { phase }) => {
    if (phase !== "merge") return refused(item, `no merge is under way in the phase ${phase}`)
    switch (outcome) {
      case "merged":
        return decided({ _tag: "Merged", mergeSha })
      case "conflict":
        return conflicted(item, "merge", reason ?? "the branches are in conflict")
      case "failed":
        return decided(...failing(item, reason ?? "the merge failed", "merge"))
    }
  }
} satisfies Partial<InHandDeciders>

export const mergeEvolvers = {
  Merged: (_item, { mergeSha }) => ({ ...readyFor("upstream"), mergeSha })
} satisfies Partial<Evolvers>

export const mergeEvents = {
  Merged: (item, { mergeSha }, context) => [
    itemEvent(item, context, "merge.completed", { ...branches(item, context.id), mergeSha }),
    itemEvent(item, context, "work_item.merged")
  ]
} satisfies Partial<EventsByFact>
