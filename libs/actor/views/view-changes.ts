/** What a run of the log changes in the views: per entity only its last record counts. Pure. */
import { Result } from "effect"
import type { SourceMessage } from "#bus"
import { decodeToken } from "#contracts"
import { ownRecord } from "../own-records.ts"
import { storedRecordCodec } from "../record.ts"
import type { EntityViewer, Shown, ViewRow } from "./view-row.ts"

export interface ViewChange {
  readonly entity: string
  readonly id: string
  readonly sequence: number
  /** Nothing: it is gone, or not to be listed. */
  readonly row: ViewRow | undefined
}

export interface ViewChanges {
  readonly changes: ReadonlyArray<ViewChange>
  /** Records that could not be read; what they say of their entities is not shown. */
  readonly unreadable: ReadonlyArray<SourceMessage>
}

export const viewChanges = (
  run: ReadonlyArray<SourceMessage>,
  viewers: ReadonlyMap<string, EntityViewer>
): ViewChanges => {
  const last = new Map<string, SourceMessage>()
  for (const message of run) last.set(message.subject, message)
  const changes: Array<ViewChange> = []
  const unreadable: Array<SourceMessage> = []
  for (const message of last.values()) {
    const [, entity = "", token = ""] = message.subject.split(".")
    const viewer = viewers.get(entity)
    if (viewer === undefined) continue
    const change = changeOf(message, viewer, decodeToken(token))
    if (change === undefined) unreadable.push(message)
    else changes.push(change)
  }
  return { changes, unreadable }
}

const changeOf = (message: SourceMessage, viewer: EntityViewer, id: string): ViewChange | undefined => {
  const { entity } = viewer
  const { sequence } = message
  const shown = shownBy(message, viewer, id)
  if (Result.isFailure(shown)) return undefined
  const row = shown.success === undefined ? undefined : { entity, id, sequence, ...shown.success }
  return { entity, id, sequence, row }
}

/** Nothing for one that is gone or not to be listed. */
const shownBy = (
  message: SourceMessage,
  viewer: EntityViewer,
  id: string
): Result.Result<Shown | undefined, unknown> => {
  const own = ownRecord(message.data)
  if (own !== undefined) return Result.succeed(own.isRetired ? undefined : viewer.showOwn(own.state, id))
  return Result.flatMap(
    storedRecordCodec.decode(message),
    ({ isRetired, state }): Result.Result<Shown | undefined, unknown> =>
      isRetired ? Result.succeed(undefined) : viewer.show(state, id)
  )
}
