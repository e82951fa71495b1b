/**
 * Whether anything can follow from a record, told from its bytes: most records concern nobody but their own entity, and
 * reading each of them whole would cost more than all that follows. Too often yes is harmless. Pure.
 */

const tag = (name: string) => Buffer.from(`"_tag":"${name}"`)

/** As they stand in a record that something follows from. */
const marks: Readonly<Record<string, ReadonlyArray<Buffer>>> = {
  workitem: [Buffer.from(`"releaseId":"`), tag("FollowUpAsked"), tag("AuthFailed")],
  release: [tag("RemediationDispatched")],
  agent: [tag("Resumed"), tag("SmokeRecovered"), tag("QuotaReset")]
}

/** `subject`: of the log, `log.<entity>.<id>`. Records are written without space between key and value. */
export const mayBeFollowed = (subject: string, data: Uint8Array): boolean => {
  const wanted = marks[subject.split(".")[1] ?? ""]
  if (wanted === undefined) return false
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return wanted.some((mark) => bytes.includes(mark))
}
