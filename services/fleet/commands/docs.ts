/** `docs`: writes the generated documents; `topology` prints the bus. A test fails when a document is stale. */
import { mkdir, readdir, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect } from "effect"
import { topology, topologyDocument } from "#bus"
import { generatedDocuments } from "../documents.ts"
import { print, runCommand } from "./connect.ts"

export const docs = () =>
  runCommand(
    Effect.gen(function* () {
      const documents = generatedDocuments()
      const wanted = new Set(documents.map(({ path }) => path))
      const present = yield* Effect.promise(() => readdir("docs/events").catch(() => []))
      const stale = present.map((name) => `docs/events/${name}`).filter((path) => !wanted.has(path))
      yield* Effect.forEach(stale, (path) => Effect.promise(() => rm(path)))
      yield* Effect.forEach(documents, ({ path, content }) =>
        Effect.promise(async () => {
          await mkdir(dirname(path), { recursive: true })
          await writeFile(path, content)
        })
      )
      yield* print(`wrote ${documents.length} documents`)
    })
  )

export const printTopology = () => runCommand(print(topologyDocument(topology)))
