/** The part of the topology that one party has to do with: what it may verify, and what its permissions are made of. */
import { type CoreDeclaration, type Party, parties, type Topology } from "./declarations.ts"
import { coreSubjects } from "./topology-core.ts"

interface Owned {
  readonly publishers?: ReadonlyArray<Party>
  readonly writers?: ReadonlyArray<Party>
  readonly readers: ReadonlyArray<Party>
}

/** Streams, buckets and stores that `party` writes or reads. Everything for a name that is no party's. */
export const partOf = (topology: Topology, party: string): Topology => {
  if (!isParty(party)) return topology
  const touches = ({ publishers = [], writers = [], readers }: Owned) =>
    [...publishers, ...writers, ...readers].includes(party)
  return {
    streams: topology.streams.filter(touches),
    buckets: topology.buckets.filter(touches),
    objectStores: topology.objectStores.filter(touches)
  }
}

/** Whether messages may come to `party` directly. True for a name that is no party's. */
export const hasMailbox = (party: string) =>
  !isParty(party) || coreSubjects.some(({ kind, receivers }) => kind === "mailbox" && receivers.includes(party))

/** The job whose messages come to `party`, and go out from it: the first token of their subjects. */
export const mailboxJob = (party: string) => {
  const has = ({ senders, receivers }: CoreDeclaration) => isParty(party) && [...senders, ...receivers].includes(party)
  const subject = coreSubjects.find((core) => core.kind === "mailbox" && has(core))?.subjects[0] ?? "speech"
  return subject.split(".")[0] ?? subject
}

export const isParty = (name: string): name is Party => (parties as ReadonlyArray<string>).includes(name)
