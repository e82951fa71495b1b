/** A missing permission on the broker, in the words of the topology, and the users that have it. Pure. */
import { coreSubjects, type Forbidden, parties, permissionsOf, topology, userOf } from "#bus"

/** `the broker's user pipeline-api may not write the bucket tokens ($KV.tokens.x); console, operator may`. */
export const forbiddenText = (forbidden: Forbidden): string => {
  const { user, subject } = forbidden
  const act = actOf(forbidden)
  const who = user === undefined ? "whoever names no user to the broker" : `the broker's user ${user}`
  const others = mayDo(forbidden)
  const rest = others.length === 0 ? "no other user of the fleet may either" : `${others.join(", ")} may`
  return `${who} may not ${act}${act.includes(subject) ? "" : ` (${subject})`}; ${rest}`
}

/** The users that have the missing permission. */
export const mayDo = ({ operation, subject }: Forbidden): ReadonlyArray<string> =>
  parties
    .filter((party) => {
      const { publish, publishNever, subscribe } = permissionsOf(topology, coreSubjects, party)
      const matches = (pattern: string) => covers(pattern, subject)
      return operation === "publish" ? publish.some(matches) && !publishNever.some(matches) : subscribe.some(matches)
    })
    .map(userOf)

const read = /^\$JS\.API\.(?:STREAM\.MSG\.GET|DIRECT\.GET|CONSUMER\.(?:DURABLE\.)?[A-Z]+|CONSUMER\.MSG\.NEXT)\.([^.]+)/u
const keep = /^\$JS\.API\.(?:STREAM\.PURGE|STREAM\.MSG\.DELETE|CONSUMER\.PAUSE)\.([^.]+)/u
const make = /^\$JS\.API\.STREAM\.(?:CREATE|UPDATE|DELETE|RESTORE|SNAPSHOT)\.([^.]+)/u
const lookAt = /^\$JS\.API\.STREAM\.INFO\.([^.]+)/u

const acts: ReadonlyArray<readonly [RegExp, (name: string) => string]> = [
  [keep, (name) => `remove messages from ${stored(name)}`],
  [make, (name) => `make, change or copy ${stored(name)}`],
  [read, (name) => `read ${stored(name)}`],
  [lookAt, (name) => `look at ${stored(name)}`],
  [/^\$KV\.([^.]+)\./u, (name) => `write the bucket ${name}`],
  [/^\$O\.([^.]+)\./u, (name) => `write the object store ${name}`],
  [/^audit\.(.+)$/u, (name) => `write ${name} in AUDIT`],
  [/^events\.(.+)$/u, (name) => `publish the event ${name}`]
]

const actOf = ({ operation, subject }: Forbidden): string => {
  if (operation === "subscription") return `hear ${subject}`
  for (const [pattern, tell] of acts) {
    const name = pattern.exec(subject)?.[1]
    if (name !== undefined) return tell(name)
  }
  return `publish to ${subject}`
}

/** A stream, or the bucket or store that it carries. */
const stored = (stream: string) => {
  if (stream.startsWith("KV_")) return `the bucket ${stream.slice("KV_".length)}`
  return stream.startsWith("OBJ_") ? `the object store ${stream.slice("OBJ_".length)}` : `the stream ${stream}`
}

/** Whether a pattern covers a subject, by NATS' rules. */
const covers = (pattern: string, subject: string): boolean => {
  const [wanted, tokens] = [pattern.split("."), subject.split(".")]
  const rest = wanted.indexOf(">")
  if (rest >= 0 ? tokens.length <= rest : tokens.length !== wanted.length) return false
  return wanted.every((token, index) => token === ">" || token === "*" || token === tokens[index])
}
