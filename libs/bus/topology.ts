/**
 * The bus as data: every stream, bucket and object store of the fleet. The one place to change it; docs/topology.md, the
 * broker's permissions and the Kubernetes resources are all made from it.
 */
import type { Topology } from "./declarations.ts"
import { buckets } from "./topology-buckets.ts"
import { objectStores } from "./topology-object-stores.ts"
import { streams } from "./topology-streams.ts"

export { envelopeBytesMax, eventsKeptDays, recordBytesMax, reportBytesMax } from "./topology-streams.ts"

export const topology: Topology = { streams, buckets, objectStores }
