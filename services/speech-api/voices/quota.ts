/**
 * How many voices a workspace has for somebody who has just taken a place among them. Of two who take the last one
 * at once, who came first has it: his place has the lower revision, and the other sees it. Pure.
 */
import type { KvEntry } from "#bus"
import type { VoiceRecord } from "./records.ts"

export const placesTaken = (
  entries: ReadonlyArray<KvEntry<VoiceRecord>>,
  own: { readonly key: string; readonly revision: number }
): number =>
  entries.filter(
    ({ key, value, revision }) =>
      key !== own.key && (value._tag === "Ready" || (value._tag === "Making" && revision < own.revision))
  ).length
